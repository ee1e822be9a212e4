package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What a killed run left behind is removed a day later; nothing else is.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	old := time.Now().Add(-25 * time.Hour)
	for name, age := range map[string]time.Time{"evolve-replay-1": old, "evolve-case-22": old, "evolve-case-3": time.Now(), "evolve-replay-mine": old, "other-1": old} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Join(path, "home"), 0o500); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, age, age); err != nil {
			t.Fatal(err)
		}
	}
	newApp(nil, nil, nil).sweep()
	for name, want := range map[string]bool{"evolve-replay-1": false, "evolve-case-22": false, "evolve-case-3": true, "evolve-replay-mine": true, "other-1": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, err == nil, want)
		}
	}
}
