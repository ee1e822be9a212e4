package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// TestCopiedHomeLeavesTheOriginal: a home is copied, store and all, and the
// original still exists. A rollback in the copy stays in the copy, however
// often, until the other folder is named.
func TestCopiedHomeLeavesTheOriginal(t *testing.T) {
	r := newRoaming(t)
	r.install(r.v1)
	r.holds("claude", r.v1)
	original := r.path("claude")
	r.home = t.TempDir()
	t.Setenv("HOME", r.home)
	r.write("claude", r.v1)
	for range 2 {
		_ = rollbackLive(t.Context(), r.a, "tagger") // the copy may know of nothing before
		text, err := os.ReadFile(original)
		if err != nil || skill.HashText(text) != skill.HashText(r.v1) {
			t.Fatalf("the original holds %q (%v), want what it held", text, err)
		}
	}
	if err := rollbackSkill(t.Context(), r.a, "tagger", rollbackFlags{to: []string{filepath.Dir(filepath.Dir(original))}}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(original); err != nil || skill.HashText(text) != skill.HashText(r.v0) {
		t.Errorf("named, the original holds %q (%v), want v0", text, err)
	}
}
