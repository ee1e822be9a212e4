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
			in := r.a.installer(r.db)
			plan, err := in.PlanPromotion(t.Context(), r.live(), Request{})
			if err != nil {
				t.Fatal(err)
			}
			unlock, err := in.lockInstalls(t.Context(), time.Second)
			if err != nil {
				t.Fatal(err)
			}
			said := make(chan error)
			go func() { // it has planned all, and waits
				done, err := in.Apply(t.Context(), plan)
				if err == nil {
					err = done.Refusal()
				}
				said <- err
			}()
			if err := c.word(r); err != nil {
				t.Fatal(err)
			}
			want := r.live().Doc.Render()
			select {
			case err := <-said:
				t.Fatalf("it did not wait: %v", err)
			default:
			}
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
	if _, err := r.place(r.offer); err != nil {
		t.Fatal(err)
	}
	in := r.a.installer(r.db)
	plan, err := in.PlanRollback(t.Context(), r.live(), Request{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.db.PinSkill(t.Context(), "tagger", skill.HashText(r.v1)); err != nil {
		t.Fatal(err)
	}
	_, err = in.Apply(t.Context(), plan)
	if code, _ := codeOf(err); code != exitRefused {
		t.Errorf("exit code %d, %v", code, err)
	}
	r.holds("claude", r.v1)
	if plan, err = in.PlanRollback(t.Context(), r.live(), Request{Force: true}); err == nil {
		_, err = in.Apply(t.Context(), plan)
	}
	if err != nil {
		t.Errorf("with --force: %v", err)
	}
	r.holds("claude", r.v0)
}
