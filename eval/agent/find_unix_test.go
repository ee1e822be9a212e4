//go:build unix

package agent

import (
	"os"
	"path/filepath"
	"testing"
)

// What a sandbox hides cannot grade, unless there is none.
func TestFindBySandbox(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "mine"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	for sandbox, found := range map[string]bool{"": false, SandboxOn: false, SandboxNone: true} {
		if err := Find(sandbox)(t.TempDir(), "mine"); (err == nil) != found {
			t.Errorf("sandbox %q: %v", sandbox, err)
		}
		if Find(sandbox)(t.TempDir(), "nothing-of-this-name") == nil {
			t.Errorf("sandbox %q finds what is not there", sandbox)
		}
	}
}
