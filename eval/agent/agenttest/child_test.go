package agenttest

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A troupe records and plays a program through this test binary.
type troupe struct {
	t    *testing.T
	part part
	self string
}

func newTroupe(t *testing.T, program string) *troupe {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	real := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(real, []byte("#!/bin/sh\n"+program), 0o700); err != nil {
		t.Fatal(err)
	}
	return &troupe{t, part{Real: real, Dir: t.TempDir(), Keeps: []string{"log/*.jsonl"}, Names: map[string]string{"{mark}": "a-mark"}}, self}
}

// run starts a child in a new workspace.
func (tr *troupe) run(stdin string, args ...string) (out, workspace string, code int) {
	tr.t.Helper()
	workspace, err := os.MkdirTemp(tr.t.TempDir(), "evolve-case-")
	if err != nil {
		tr.t.Fatal(err)
	}
	writeFile(tr.t, filepath.Join(workspace, "old.txt"), "old")
	private := filepath.Join(filepath.Dir(workspace), "evolve-replay-1")
	if err := os.MkdirAll(filepath.Join(private, "log"), 0o700); err != nil {
		tr.t.Fatal(err)
	}
	path := filepath.Join(tr.t.TempDir(), "part.json")
	writeFile(tr.t, path, compact(tr.part))
	cmd := exec.CommandContext(tr.t.Context(), tr.self, args...)
	cmd.Dir, cmd.Stdin = workspace, strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), stageDoor+"="+path, "PRIVATE="+private, "GORACE=atexit_sleep_ms=0")
	var b, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		tr.t.Fatal(err)
	}
	if stderr.Len() > 0 {
		tr.t.Logf("stderr: %s", stderr.String())
	}
	return b.String(), workspace, cmd.ProcessState.ExitCode()
}

// cut ends the recording; what runs from now on is played.
func (tr *troupe) cut() []take {
	tr.t.Helper()
	all, err := takes(tr.part.Dir, tr.part.RPC)
	if err != nil {
		tr.t.Fatal(err)
	}
	tr.part.scrub(all)
	tr.part.Recording, tr.part.Real, tr.part.Dir = filepath.Join(tr.t.TempDir(), "r.json"), "", tr.t.TempDir()
	writeFile(tr.t, tr.part.Recording, string(pretty(all)))
	return all
}

// A played program prints, writes and exits as it did when it was recorded, in
// another workspace.
func TestRecordAndPlay(t *testing.T) {
	tr := newTroupe(t, `case "$1" in --version) echo 1.2.3; exit 0;; esac
read line; echo "$1 $line in $PWD"; echo '{"role":"system","text":"a secret of the vendor"}'
d=$(dirname "$PWD")/evolve-replay-1/log; [ -d "$d" ] && echo "kept in $PWD" >"$d/s.jsonl"; echo new >new.txt; rm old.txt; echo problem >&2; printf unfinished; exit 3`)
	said, was, code := tr.run("a-mark\n", "-x")
	if !strings.Contains(said, "-x a-mark in "+was) || code != 3 {
		t.Fatalf("recorded %q, exit code %d", said, code)
	}
	version, _, _ := tr.run("", "--version")
	all := tr.cut()
	text := compact(all)
	for _, no := range []string{was, "secret of the vendor", "a-mark"} {
		if strings.Contains(text, no) {
			t.Errorf("the recording holds %q: %s", no, text)
		}
	}
	tr.part.Names["{mark}"] = "b-mark"
	for range 2 { // the last child is repeated
		got, now, code := tr.run("b-mark\n", "-x")
		want := strings.NewReplacer(was, now, "a-mark", "b-mark", "a secret of the vendor", elided).Replace(said)
		if got != want || code != 3 {
			t.Errorf("played %q, exit code %d; want %q", got, code, want)
		}
		if b, err := os.ReadFile(filepath.Join(now, "new.txt")); err != nil || string(b) != "new\n" {
			t.Errorf("new.txt holds %q, %v", b, err)
		}
		kept := filepath.Join(filepath.Dir(now), "evolve-replay-1", "log", "s.jsonl")
		if b, err := os.ReadFile(kept); err != nil || string(b) != "kept in "+now+"\n" {
			t.Errorf("%s holds %q, %v", kept, b, err)
		}
		if _, err := os.Stat(filepath.Join(now, "old.txt")); !os.IsNotExist(err) {
			t.Errorf("old.txt: %v, want it removed", err)
		}
	}
	if got, _, code := tr.run("", "--version"); got != version || code != 0 {
		t.Errorf("version %q, exit code %d", got, code)
	}
	if notes, _ := filepath.Glob(filepath.Join(tr.part.Dir, "*", "differs.txt")); len(notes) != 0 {
		t.Errorf("the calls are said to differ: %q", notes)
	}
	tr.run("other\n", "-y")
	if notes, _ := filepath.Glob(filepath.Join(tr.part.Dir, "*", "differs.txt")); len(notes) != 1 {
		t.Errorf("another call: %q, want one note", notes)
	}
}

func framed(bodies ...string) string {
	var b strings.Builder
	for _, body := range bodies {
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	return b.String()
}

// A conversation is played with the ids and names that the client chooses now.
func TestConverse(t *testing.T) {
	// The program answers two calls, asks something itself, and tells the end.
	tr := newTroupe(t, "cat <<'EOF'\n"+"EOF\n")
	tr.part.RPC = true
	all := []take{{Frames: []frame{
		{In: true, Body: `{"jsonrpc":"2.0","id":"a1","method":"create","params":{"session":"session-old-1"}}`},
		{Body: `{"jsonrpc":"2.0","id":"a1","result":{"session":"session-old-1"}}`},
		{In: true, Body: `{"jsonrpc":"2.0","id":"a2","method":"send","params":{"text":"hi"}}`},
		{Body: `{"jsonrpc":"2.0","id":9,"method":"allow","params":{"path":"{workspace}/x"}}`},
		{In: true, Body: `{"jsonrpc":"2.0","id":9,"result":true}`},
		{Body: `{"jsonrpc":"2.0","id":"a2","result":"done"}`},
	}}}
	tr.part.Real, tr.part.Recording = "", filepath.Join(t.TempDir(), "r.json")
	writeFile(t, tr.part.Recording, string(pretty(all)))
	got, workspace, code := tr.run(framed(
		`{"jsonrpc":"2.0","id":7,"method":"create","params":{"session":"session-new-2"}}`,
		`{"jsonrpc":"2.0","id":9,"result":true}`, // may come before it is looked for
		`{"jsonrpc":"2.0","id":8,"method":"send","params":{"text":"hi"}}`,
		`{"jsonrpc":"2.0","id":10,"method":"destroy"}`))
	var bodies []string
	for r := bufio.NewReader(strings.NewReader(got)); ; {
		body, err := readFrame(r)
		if err != nil {
			break
		}
		bodies = append(bodies, string(body))
	}
	want := []string{`{"id":7,"jsonrpc":"2.0","result":{"session":"session-new-2"}}`,
		`{"id":9,"jsonrpc":"2.0","method":"allow","params":{"path":"` + workspace + `/x"}}`,
		`{"id":8,"jsonrpc":"2.0","result":"done"}`, `{"id":10,"jsonrpc":"2.0","result":{}}`}
	if strings.Join(bodies, "\n") != strings.Join(want, "\n") || code != 0 {
		t.Errorf("said\n%s\nexit code %d, want\n%s", strings.Join(bodies, "\n"), code, strings.Join(want, "\n"))
	}
}

// Messages are cut out of chunks wherever those break.
func TestFrames(t *testing.T) {
	in, out := framed(`{"id":1}`, `{"id":2}`), framed(`{"result":1}`)
	for i := range in {
		got := frames([]chunk{{"in", []byte(in[:i])}, {"err", []byte("noise")}, {"out", []byte(out)}, {"in", []byte(in[i:])}})
		var order []string
		for _, f := range got {
			order = append(order, f.Body)
		}
		if len(got) != 3 {
			t.Fatalf("broken at %d: %q", i, order)
		}
	}
}

func FuzzReadFrame(f *testing.F) {
	f.Add(framed("{}", "[]"))
	f.Add("Content-Length: -1\r\n\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		r := bufio.NewReader(strings.NewReader(text))
		for {
			body, err := readFrame(r)
			if err != nil {
				return
			}
			if len(body) > len(text) {
				t.Errorf("%d bytes out of %d", len(body), len(text))
			}
		}
	})
}
