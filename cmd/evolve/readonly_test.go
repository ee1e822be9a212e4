package main

import (
	"os"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// TestReadOnlySkill: a SKILL.md that its owner has made read-only is not
// replaced, by a promotion or a rollback, and the message explains how to
// allow it. In another target it keeps nothing else back.
func TestReadOnlySkill(t *testing.T) {
	r := newRoaming(t)
	r.proved(r.v1, r.v0)
	mode := func(target string, m os.FileMode) {
		if err := os.Chmod(r.path(target), m); err != nil {
			t.Fatal(err)
		}
	}
	mode("claude", 0o444)
	err := r.promote("")
	if code, hint := codeOf(err); code != exitRefused || !strings.Contains(err.Error(), "is read-only") || !strings.Contains(hint, "chmod u+w "+r.path("claude")) {
		t.Errorf("promote: exit code %d, %v (%s)", code, err, hint)
	}
	r.holds("claude", r.v0)
	if n := r.versions(); n != 1 {
		t.Errorf("%d versions", n)
	}
	mode("claude", 0o644)
	if err := r.promote(""); err != nil {
		t.Fatal(err)
	}
	mode("claude", 0o444)
	if code, _ := codeOf(rollbackLive(t.Context(), r.a, "tagger")); code != exitRefused {
		t.Errorf("rollback: exit code %d", code)
	}
	r.holds("claude", r.v1)
	mode("claude", 0o644)
	r.write("codex", r.v0)
	mode("codex", 0o400)
	err = promoteSkill(t.Context(), r.a, "tagger@v0", promoteFlags{to: []string{"claude", "codex"}, force: true})
	if err != nil && !strings.Contains(err.Error(), "1 of 2 targets refused") {
		t.Errorf("two targets: %v", err)
	}
	r.holds("claude", r.v0)
	if v, err := r.db.VersionBySHA(t.Context(), "tagger", skill.HashText(r.v1)); err != nil || v.Operator != "reflect" {
		t.Errorf("%+v, %v", v, err)
	}
}
