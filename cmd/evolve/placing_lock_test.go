package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
)

// TestOwnersWordWhileAnInstallationWaits: what its owner forbids while a command waits
// for another one's installation holds for that command too, and it leaves no version
// behind.
func TestOwnersWordWhileAnInstallationWaits(t *testing.T) {
	pin := func(r *roaming) error { return r.db.PinSkill(r.t.Context(), "tagger", skill.HashText(r.v0)) }
	reject := func(r *roaming) error {
		_, err := r.db.Decide(r.t.Context(), store.Decision{Skill: "tagger", SHA: skill.HashText(r.v1), Word: store.Rejected, By: "me"})
		return err
	}
	edit := func(r *roaming) error {
		r.write("claude", append(r.v0[:len(r.v0):len(r.v0)], "Mine.\n"...))
		return nil
	}
	for name, c := range map[string]struct {
		word    func(*roaming) error
		refusal string
	}{"pin": {pin, "is pinned"}, "reject": {reject, "was rejected"}, "edit": {edit, "changed"}} {
		t.Run(name, func(t *testing.T) {
			r := newRoaming(t)
			r.proved(r.v1, r.v0)
			unlock, err := r.a.lockInstalls(t.Context(), time.Second)
			if err != nil {
				t.Fatal(err)
			}
			said := make(chan error)
			go func() { said <- r.promote("") }()
			for r.versions() == 1 { // it has planned all, and waits
				time.Sleep(time.Millisecond)
				select {
				case err := <-said:
					t.Fatalf("it did not wait: %v", err)
				default:
				}
			}
			if err := c.word(r); err != nil {
				t.Fatal(err)
			}
			want := r.live().Doc.Render()
			unlock()
			err = <-said
			var drift *skill.DriftError
			if code, _ := codeOf(err); code != exitRefused || !strings.Contains(err.Error(), c.refusal) && !errors.As(err, &drift) {
				t.Errorf("exit code %d, %v", code, err)
			}
			r.holds("claude", want)
			if n := r.versions(); n != 1 {
				t.Errorf("%d versions of which one was never in place", n)
			}
		})
	}
}

// TestPinWhileARollbackWaits: and for a rollback.
func TestPinWhileARollbackWaits(t *testing.T) {
	r := newRoaming(t)
	if _, err := r.a.installNew(t.Context(), r.db, r.live(), skill.HashText(r.v0), r.offer); err != nil {
		t.Fatal(err)
	}
	plan, _, err := r.a.planRollback(t.Context(), r.db, r.live(), "", nil, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.db.PinSkill(t.Context(), "tagger", skill.HashText(r.v1)); err != nil {
		t.Fatal(err)
	}
	_, err = r.a.put(t.Context(), r.db, r.live(), store.OpRollback, "rollback", false, plan)
	if code, _ := codeOf(err); code != exitRefused {
		t.Errorf("exit code %d, %v", code, err)
	}
	r.holds("claude", r.v1)
	if _, err = r.a.put(t.Context(), r.db, r.live(), store.OpRollback, "rollback", true, plan); err != nil {
		t.Errorf("with --force: %v", err)
	}
	r.holds("claude", r.v0)
}
