//go:build unix

package copilot_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe beside the events is nothing to wait for.
func TestWorkspaceFileThatIsAPipe(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "session-state", "one")
	if err := errors.Join(os.MkdirAll(dir, 0o700), syscall.Mkfifo(filepath.Join(dir, "workspace.yaml"), 0o600),
		os.WriteFile(filepath.Join(dir, "events.jsonl"), []byte(`{"type":"user.message","data":{"content":"hello"},"id":"1","timestamp":"2026-01-02T03:04:05Z"}`+"\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	all, _ := sessions(t, home, nil)
	if len(all) != 1 || all[0].CWD != "" {
		t.Errorf("%d sessions: %+v", len(all), all)
	}
}
