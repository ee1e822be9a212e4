package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/eval/problem"
)

// A shim in the home folder starts what the sandbox hides: the hint names the command that
// prints the real program.
func TestShimIsNamed(t *testing.T) {
	if err := process.Available(); err != nil {
		t.Skip(err)
	}
	dir := filepath.Join(t.TempDir(), ".pyenv", "shims")
	path := filepath.Join(dir, "python3")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexec no-such-pyenv exec python3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := New(t.Context(), Config{Config: replay.Config{Path: path, Sandbox: true}})
	if _, hint := problem.Of(err); !strings.HasSuffix(hint, "write what `pyenv which python3` prints instead of python3") {
		t.Errorf("%v; hint %q", err, hint)
	}
	if hint := notFound("/usr/bin/tool"); strings.Contains(hint, "which") {
		t.Errorf("a program of the system: %q", hint)
	}
}
