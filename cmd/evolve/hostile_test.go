package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHostileFilesBesideGoodOnes: every good session is harvested, every bad
// file is named with its reason, and the harvest is no failure.
func TestHostileFilesBesideGoodOnes(t *testing.T) {
	claude, home := person(t), t.TempDir()
	dir := filepath.Join(claude, "projects", "-home-dev-project")
	good, err := os.ReadFile(filepath.Join(dir, "956e2661-152c-4e51-b4d4-963028c3c369.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	const old = "956e2661-152c-4e51-b4d4-963028c3c369"
	write := func(name string, text []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 95 {
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
		write(id+".jsonl", bytes.ReplaceAll(good, []byte(old), []byte(id)))
	}
	line := bytes.IndexByte(good, '\n') + 1
	hostile := map[string][]byte{
		"bad-utf8.jsonl":     []byte("{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"\xff\xfe broken\"}}\n"),
		"bad-nul.jsonl":      []byte("{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"a\x00b\"}}\n"),
		"bad-list.jsonl":     []byte("[1,2,3]\n\"text\"\n42\n"),
		"bad-document.jsonl": []byte("{\n  \"sessionId\": \"x\",\n  \"messages\": []\n}\n"),
		"bad-json.jsonl":     []byte("{\"type\":\"user\",\"message\":{\"role\":\"user\"\n"),
		"bad-deep.jsonl":     append(bytes.Repeat([]byte("["), 1<<20), '\n'),
		"bad-long.jsonl":     append(append([]byte(`{"type":"user","message":{"role":"user","content":"`), bytes.Repeat([]byte("x"), 50<<20)...), "\"}}\n"...),
	}
	for name, text := range hostile {
		write(name, text)
	}
	// What is bad in the middle of a good file costs the line, not the file.
	mixed := append(append(bytes.Clone(good[:line]), "{broken\n"...), good[line:]...)
	write("11111111-0000-4000-8000-000000000001.jsonl", bytes.ReplaceAll(mixed, []byte(old), []byte("11111111-0000-4000-8000-000000000001")))
	// A last line that is still being written is no fault.
	cut := bytes.ReplaceAll(good, []byte(old), []byte("11111111-0000-4000-8000-000000000002"))
	write("11111111-0000-4000-8000-000000000002.jsonl", append(cut, `{"type":"user","message":{"ro`...))
	if err := os.Mkdir(filepath.Join(dir, "folder.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}

	code, out, errs := runHere(t, home, "harvest", "--claude-home", claude, "--json")
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var r struct {
		Sessions    int
		Invocations int
		Problems    []struct{ Path, Reason string }
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	// 5 recorded ones, 95 copies, the one with a bad line and the cut one.
	if want := 102; r.Sessions != want || r.Invocations != want {
		t.Errorf("%d sessions and %d uses, want %d of each", r.Sessions, r.Invocations, want)
	}
	named := map[string]string{}
	for _, p := range r.Problems {
		named[filepath.Base(p.Path)] = p.Reason
	}
	for name := range hostile {
		if strings.TrimSpace(named[name]) == "" {
			t.Errorf("%s is not named with a reason: %v", name, named)
		}
	}
	if named["11111111-0000-4000-8000-000000000001.jsonl"] == "" {
		t.Error("the bad line in a good file is not named")
	}
	if reason := named["11111111-0000-4000-8000-000000000002.jsonl"]; reason != "" {
		t.Errorf("a line that is still being written is called a fault: %s", reason)
	}
}
