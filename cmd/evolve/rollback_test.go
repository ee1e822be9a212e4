package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/advice"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
)

// rollbackLive takes the live version back wherever it is installed.
func rollbackLive(ctx context.Context, a *global, arg string) error {
	return rollbackSkill(ctx, a, arg, rollbackFlags{})
}

func (r *roaming) reject(text []byte) {
	r.t.Helper()
	if _, err := r.db.Decide(r.t.Context(), store.Decision{Skill: "tagger", SHA: skill.HashText(text), Word: store.Rejected, By: "you"}); err != nil {
		r.t.Fatal(err)
	}
}

// TestRollbackPassesRejectedBy: what its owner has rejected comes back by its name
// and with force alone, and that is said.
func TestRollbackPassesRejectedBy(t *testing.T) {
	r := newRoaming(t)
	v2 := append(bytes.Clone(r.v1), "\nSort them.\n"...)
	r.install(r.v1)
	r.install(v2)
	r.reject(r.v1)
	if err := rollbackLive(t.Context(), r.a, "tagger"); err != nil {
		t.Fatal(err)
	}
	r.holds("claude", r.v0)
	r.says("tagger: v1 was rejected on ")
	err := rollbackLive(t.Context(), r.a, "tagger@v1")
	if code := r.a.fail(err); code != exitRefused || !strings.Contains(err.Error(), "v1 was rejected on ") {
		t.Errorf("by its name: exit %d, %v", code, err)
	}
	r.holds("claude", r.v0)
	r.says("hint: --force puts it back all the same")
	if err := rollbackSkill(t.Context(), r.a, "tagger@v1", rollbackFlags{force: true}); err != nil {
		t.Fatal(err)
	}
	r.holds("claude", r.v1)
	r.says("by you, and is put back")
}

// TestForcedRollbackBringsBackNothingRejected: not even over an edit in
// another target. Before it is forced, the refusal names the version that
// would come.
func TestForcedRollbackBringsBackNothingRejected(t *testing.T) {
	r := newRoaming(t)
	r.write("codex", r.v0)
	r.install(r.v1, "codex")
	mine := append(bytes.Clone(r.v1), "Mine.\n"...)
	r.write("codex", mine)
	if err := rollbackLive(t.Context(), r.a, "tagger"); err == nil {
		t.Fatal("the edit was taken back")
	}
	r.holds("claude", r.v0)
	r.holds("codex", mine)
	to := rollbackFlags{to: []string{"codex"}}
	hint := func() string {
		err := rollbackSkill(t.Context(), r.a, "tagger", to)
		_, hint := advice.Of(err)
		return hint
	}
	if got := hint(); !strings.Contains(got, "--force puts v1 in its place, which was rolled back on ") {
		t.Errorf("hint %q, want it to say what comes", got)
	}
	r.reject(r.v1)
	if got := hint(); !strings.HasSuffix(got, "--force puts v0 in its place") {
		t.Errorf("hint %q, want it to say what comes", got)
	}
	to.force = true
	if err := rollbackSkill(t.Context(), r.a, "tagger", to); err != nil {
		t.Fatal(err)
	}
	r.holds("codex", r.v0)
	r.says("v1 was rejected on ")
}

// TestRolledBackEverywhere: without a named target, force over an edit does
// not bring back the version that was rolled back everywhere else.
func TestRolledBackEverywhere(t *testing.T) {
	r := newRoaming(t)
	r.write("codex", r.v0)
	r.install(r.v1, "codex")
	mine := append(bytes.Clone(r.v1), "Mine.\n"...)
	r.write("codex", mine)
	if err := rollbackLive(t.Context(), r.a, "tagger"); err == nil {
		t.Fatal("the edit was taken back")
	}
	if err := rollbackSkill(t.Context(), r.a, "tagger", rollbackFlags{force: true}); err != nil {
		t.Fatal(err)
	}
	r.holds("claude", r.v0)
	r.holds("codex", r.v0)
}

// TestNothingLeftToRollBackTo: if all earlier versions are rejected, nothing
// is changed, and the message names the way out.
func TestNothingLeftToRollBackTo(t *testing.T) {
	r := newRoaming(t)
	r.install(r.v1)
	r.reject(r.v0)
	err := rollbackLive(t.Context(), r.a, "tagger")
	if code := r.a.fail(err); code != exitRefused {
		t.Errorf("exit %d, %v", code, err)
	}
	r.says("`evolve rollback tagger@vN --force`")
	r.holds("claude", r.v1)
}
