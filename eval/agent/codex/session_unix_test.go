//go:build unix

package codex

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// The agent's commands can write into the folder of the program's records.
func TestRecordsThatAreNone(t *testing.T) {
	s := &replay.Stage{Config: t.TempDir()}
	dir := filepath.Join(s.Config, "sessions")
	record := `{"type":"session_meta","payload":{"source":"exec"}}
{"type":"turn_context","payload":{"model":"one"}}
`
	foreign := filepath.Join(t.TempDir(), "foreign")
	if err := errors.Join(os.Mkdir(dir, 0o700),
		os.WriteFile(filepath.Join(dir, "a.jsonl"), []byte(record), 0o600),
		syscall.Mkfifo(filepath.Join(dir, "b.jsonl"), 0o600),
		os.Symlink("/dev/zero", filepath.Join(dir, "c.jsonl")),
		os.WriteFile(foreign, []byte(`{"type":"session_meta","payload":{"source":"exec"}}`+"\n"+`{"type":"turn_context","payload":{"model":"foreign"}}`+"\n"), 0o600),
		os.Symlink(foreign, filepath.Join(dir, "d.jsonl")),
	); err != nil {
		t.Fatal(err)
	}
	got, err := readSessions(s, "", replay.Secrets{})
	if err != nil || got == nil || got.model != "one" || got.broken != 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	f, err := os.Create(filepath.Join(dir, "e.jsonl"))
	if err == nil {
		err = errors.Join(f.Truncate(15<<40), f.Close())
	}
	if err != nil {
		t.Skip(err) // the file system has no such files
	}
	if got, err = readSessions(s, "", replay.Secrets{}); err != nil || got == nil || got.model != "one" || got.broken != 1 {
		t.Errorf("with a record of 15 TiB: %+v, %v", got, err)
	}
}
