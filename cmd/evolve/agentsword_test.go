package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/owner"
)

// What is not the owner's alone an agent may type: a flag that was not given decides
// nothing.
func TestAgentsMayType(t *testing.T) {
	typist := owner.Find(func(k string) string { return map[string]string{"CLAUDECODE": "1"}[k] }, nil)
	if typist == nil {
		t.Fatal("no session is found")
	}
	for _, line := range []string{"harvest", "harvest --ended", "harvest --since 3d", "corrections", "status", "cases list", "sleep run --dry-run --agent simulated"} {
		home := t.TempDir()
		t.Setenv("HOME", home)
		t.Setenv("EVOLVE_HOME", filepath.Join(home, "data"))
		var out, errs bytes.Buffer
		if code := run(t.Context(), machine{typist: typist}, strings.Fields(line), strings.NewReader(""), &out, &errs); code == exitRefused || strings.Contains(errs.String(), "typed in a session") {
			t.Errorf("evolve %s: exit %d, %s", line, code, &errs)
		}
	}
}
