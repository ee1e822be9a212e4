package release

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/install"
	"github.com/skill-evolve/evolve/store"
)

// TestOwnersWordWhileAnInstallationWaits: what its owner forbids while a command waits
// for another one's installation holds for that command too, and it leaves no version
// behind.
func TestOwnersWordWhileAnInstallationWaits(t *testing.T) {
	pin := func(r *site) error { return r.in.Store.PinSkill(r.t.Context(), "tagger", skill.HashText(r.v0)) }
	reject := func(r *site) error {
		_, err := r.in.Store.Decide(r.t.Context(), store.Decision{Skill: "tagger", SHA: skill.HashText(r.v1), Word: store.Rejected, By: "me"})
		return err
	}
	edit := func(r *site) error {
		r.write("claude", append(r.v0[:len(r.v0):len(r.v0)], "Mine.\n"...))
		return nil
	}
	for name, c := range map[string]struct {
		word    func(*site) error
		refusal string
	}{"pin": {pin, "is pinned"}, "reject": {reject, "was rejected"}, "edit": {edit, "changed"}} {
		t.Run(name, func(t *testing.T) {
			r := newSite(t)
			r.proved(r.v1, r.v0)
			in := r.in
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
			var drift *install.DriftError
			if kind, _ := problem.Of(err); !errors.As(err, &drift) && (kind != problem.Refused || !strings.Contains(err.Error(), c.refusal)) {
				t.Errorf("it says %v, want %q", err, c.refusal)
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
	r := newSite(t)
	r.install()
	in := r.in
	plan, err := in.PlanRollback(t.Context(), r.live(), Request{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.in.Store.PinSkill(t.Context(), "tagger", skill.HashText(r.v1)); err != nil {
		t.Fatal(err)
	}
	_, err = in.Apply(t.Context(), plan)
	if kind, _ := problem.Of(err); kind != problem.Refused {
		t.Errorf("it says %v, want a refusal", err)
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

// TestPlaceSwappedMeanwhile: a symlink that is put in the place of a target
// between the plan and the copy is not followed, and nothing is recorded there.
func TestPlaceSwappedMeanwhile(t *testing.T) {
	r := newSite(t)
	folder, victim := filepath.Join(r.home, "skills"), filepath.Join(r.home, "victim")
	if err := errors.Join(os.Mkdir(folder, 0o700), os.Mkdir(victim, 0o700)); err != nil {
		t.Fatal(err)
	}
	live := r.live()
	in := r.in
	places, err := in.places(t.Context(), live, []skill.Target{{Name: folder, Dir: folder}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(folder, folder+"-aside"), os.Symlink(victim, folder)); err != nil {
		t.Fatal(err)
	}
	plan := &Plan{Op: store.OpPromote, Live: live, Version: &r.offer, Places: []Placement{{Place: places[0], To: &r.offer}}}
	out, err := in.put(t.Context(), plan)
	if err != nil || out[0].Outcome != Refused || !strings.Contains(out[0].Reason, "leads to "+victim) {
		t.Errorf("put: %+v, %v", out, err)
	}
	// And with the same text there, which is not what the target holds.
	at := filepath.Join(victim, "tagger")
	if err := errors.Join(os.Mkdir(at, 0o700), os.WriteFile(filepath.Join(at, skill.FileName), r.v1, 0o600)); err != nil {
		t.Fatal(err)
	}
	out, err = in.put(t.Context(), plan)
	if err != nil || out[0].Outcome != Refused {
		t.Errorf("put: %+v, %v", out, err)
	}
	if got, err := r.in.Store.Installs(t.Context(), "tagger"); err != nil || len(got) > 0 {
		t.Errorf("recorded: %+v, %v", got, err)
	}
}
