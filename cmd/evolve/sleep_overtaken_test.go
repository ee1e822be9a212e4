package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// TestWhatItsOwnerOvertakes: an installation of a night that its owner's act
// has overtaken is skipped with the reason, and nothing is changed; without
// such an act it is a failure.
func TestWhatItsOwnerOvertakes(t *testing.T) {
	for name, c := range map[string]struct {
		act  func(*roaming) error
		want string // "" if it stays a failure
	}{
		"pin": {func(r *roaming) error { return r.db.PinSkill(r.t.Context(), "tagger", skill.HashText(r.v0)) }, "you pinned it"},
		"reject": {func(r *roaming) error {
			_, err := r.db.Decide(r.t.Context(), store.Decision{Skill: "tagger", SHA: skill.HashText(r.v1), Word: store.Rejected, By: "me"})
			return err
		}, "you rejected the candidate"},
		"kernel": {func(r *roaming) error {
			r.write("claude", []byte(strings.Replace(string(r.v0), "Never guess", "Never ever guess", 1)))
			return nil
		}, "you edited the live text"},
		"delete": {func(r *roaming) error { return os.RemoveAll(filepath.Dir(r.path("claude"))) }, "tagger"},
		"edit": {func(r *roaming) error { // it does not concern what fails
			r.write("claude", append(bytes.Clone(r.v0), "\n## Mine\n\nBe brief.\n"...))
			return nil
		}, ""},
		"nothing": {func(r *roaming) error { return r.db.ForgetPlace(r.t.Context(), "tagger", r.path("claude")) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoaming(t)
			r.proved(r.v1, r.v0)
			if err := approveNoProbes(filepath.Join(r.home, "data"), r.live()); err != nil {
				t.Fatal(err)
			}
			if c.want != "" { // else its locked lines were never confirmed
				if err := r.db.ConfirmKernel(t.Context(), "tagger", r.live().Doc.KernelHash(), day1); err != nil {
					t.Fatal(err)
				}
			}
			s := nightWork(t, r.a, r.db)
			defer s.Close()
			task := sleep.Task{Kind: sleep.Install, Skill: "tagger", Run: "run-" + skill.HashText(r.v1)[:6]}
			if err := c.act(r); err != nil {
				t.Fatal(err)
			}
			there, _ := os.ReadFile(r.path("claude"))
			_, err := s.Parts().Install(t.Context(), task, sleep.Result{Incumbent: skill.HashText(r.v0), Challenger: skill.HashText(r.v1), Decision: "promote"})
			var overtaken *sleep.Overtaken
			if got := errors.As(err, &overtaken); err == nil || got != (c.want != "") || got && !strings.Contains(overtaken.Why, c.want) {
				t.Errorf("%v; want it overtaken because %q", err, c.want)
			}
			if after, _ := os.ReadFile(r.path("claude")); string(after) != string(there) {
				t.Errorf("it holds %q", after)
			}
		})
	}
}
