package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/install"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// onTrial is a home with an undecided challenger, which is in place if at is.
func onTrial(t *testing.T, at bool) *roaming {
	r := newRoaming(t)
	r.proved(r.v1, r.v0, func(k *record.TrialRecord) { k.Decision = pareto.Undecided })
	if at {
		if err := trySkill(t.Context(), r.a, "tagger", true); err != nil {
			t.Fatal(err)
		}
		r.holds("claude", r.v1)
	}
	return r
}

// decide ends the trial of the challenger.
func (r *roaming) decide(v pareto.Verdict) {
	r.t.Helper()
	all, err := r.db.Trials(r.t.Context(), "tagger")
	if err != nil {
		r.t.Fatal(err)
	}
	all[0].Decision = v
	if err := r.db.Journal(all[0].Run).SaveTrial(r.t.Context(), &all[0]); err != nil {
		r.t.Fatal(err)
	}
}

// cut does an install in the skill's home up to a point: 0 before anything is written
// down, 1 after the intention is, 2 with the file, 3 with its record.
func (r *roaming) cut(op string, from, to []byte, v *record.Version, point int) {
	r.t.Helper()
	if point == 0 {
		return
	}
	in := store.Intent{Install: store.Install{Skill: "tagger", Path: r.path("claude"), From: skill.HashText(from), To: skill.HashText(to), Op: op}}
	var ids []int64
	var err error
	if v != nil {
		_, ids, err = r.db.BeginVersion(r.t.Context(), *v, []store.Intent{in})
	} else {
		ids, err = r.db.BeginInstalls(r.t.Context(), []store.Intent{in})
	}
	if err == nil && point >= 2 && !bytes.Equal(from, to) {
		err = install.Install(in.Path, in.From, to)
	}
	if err == nil && point >= 3 {
		err = r.db.FinishInstall(r.t.Context(), ids[0])
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// look is what a night, or a run, does first.
func (r *roaming) look() {
	r.t.Helper()
	if _, err := nightWork(r.t, r.a, r.db).Parts().Settle(r.t.Context(), sleep.Task{Skill: "tagger"}); err != nil {
		r.t.Fatal(err)
	}
	if err := installerOf(r.a, r.db).Record(r.t.Context(), r.live()); err != nil {
		r.t.Fatal(err)
	}
}

func (r *roaming) trying() *release.Trying {
	r.t.Helper()
	on, err := release.TryingOf(r.t.Context(), r.db, r.live())
	if err != nil {
		r.t.Fatal(err)
	}
	return on
}

// TestTryCrashPoints: wherever a process dies that puts a text in place on trial, keeps it,
// takes it back or carries an edit on, what comes next ends in the same state.
func TestTryCrashPoints(t *testing.T) {
	unproven := func(r *roaming) *record.Version {
		v := r.offer
		v.Proven = false
		return &v
	}
	for point := range 4 {
		t.Run(fmt.Sprintf("begin/%d/try", point), func(t *testing.T) {
			r := onTrial(t, false)
			r.cut(store.OpTry, r.v0, r.v1, unproven(r), point)
			if point == 3 { // it was done
				r.look()
			} else if err := trySkill(t.Context(), r.a, "tagger", true); err != nil && point < 2 {
				t.Fatal(err)
			}
			r.settled(map[string][]byte{"claude": r.v1})
			if on := r.trying(); on == nil || on.ByNight || on.Ground.Doc.Hash() != skill.HashText(r.v0) {
				t.Errorf("%+v", on)
			}
			if n := r.versions(); n != 2 {
				t.Errorf("%d versions of two texts", n)
			}
		})
		t.Run(fmt.Sprintf("begin/%d/rollback", point), func(t *testing.T) {
			r := onTrial(t, false)
			r.cut(store.OpTry, r.v0, r.v1, unproven(r), point)
			if err := rollbackLive(t.Context(), r.a, "tagger"); err != nil && point > 0 {
				t.Fatal(err)
			}
			r.settled(map[string][]byte{"claude": r.v0})
		})
		t.Run(fmt.Sprintf("take back/%d/night", point), func(t *testing.T) {
			r := onTrial(t, true)
			r.decide(pareto.Reject)
			r.cut(store.OpTakeBack, r.v1, r.v0, nil, point)
			r.look()
			r.settled(map[string][]byte{"claude": r.v0})
		})
		t.Run(fmt.Sprintf("take back/%d/rollback", point), func(t *testing.T) {
			r := onTrial(t, true)
			r.cut(store.OpTakeBack, r.v1, r.v0, nil, point)
			if err := rollbackLive(t.Context(), r.a, "tagger"); err != nil && point < 2 {
				t.Fatal(err)
			}
			r.settled(map[string][]byte{"claude": r.v0})
		})
		t.Run(fmt.Sprintf("keep/%d", point), func(t *testing.T) {
			r := onTrial(t, true)
			if err := approveNoProbes(filepath.Join(r.home, "data"), r.live()); err != nil {
				t.Fatal(err)
			}
			r.wins(0.01)
			r.cut(store.OpPromote, r.v1, r.v1, &r.offer, point)
			r.look()
			r.settled(map[string][]byte{"claude": r.v1})
			if on := r.trying(); on != nil {
				t.Errorf("still on trial: %+v", on)
			}
			if v, err := r.db.VersionBySHA(t.Context(), "tagger", r.offer.SHA); err != nil || !v.Proven {
				t.Errorf("%+v, %v", v, err)
			}
			if n := r.versions(); n != 2 {
				t.Errorf("%d versions of two texts", n)
			}
			if err := rollbackLive(t.Context(), r.a, "tagger"); err != nil {
				t.Fatal(err)
			}
			r.holds("claude", r.v0)
		})
		t.Run(fmt.Sprintf("carry/%d", point), func(t *testing.T) {
			r := onTrial(t, true)
			edit := bytes.Replace(r.v1, []byte("Never guess."), []byte("Never guess. Ask."), 1)
			carried := bytes.Replace(r.v0, []byte("Never guess."), []byte("Never guess. Ask."), 1)
			r.write("claude", edit)
			if err := installerOf(r.a, r.db).RecordEdit(t.Context(), r.live()); err != nil {
				t.Fatal(err)
			}
			r.cut(store.OpTakeBack, edit, carried, &record.Version{Skill: "tagger", SHA: skill.HashText(carried), Parent: skill.HashText(r.v0),
				Author: "you", Operator: "edit", Text: carried}, point)
			r.look()
			r.settled(map[string][]byte{"claude": carried})
			if n := r.versions(); n != 4 {
				t.Errorf("%d versions of four texts", n)
			}
			all, err := r.db.Trials(t.Context(), "tagger")
			if err != nil || len(all) != 1 || !all[0].Decision.IsOpen() {
				t.Errorf("%+v, %v", all, err)
			}
		})
	}
}

// TestRejectGroundOfATrialInstall: the text that a trial install goes back to cannot be
// rejected; if it was, by a process of its own, it comes back all the same.
func TestRejectGroundOfATrialInstall(t *testing.T) {
	r := newRoaming(t)
	r.proved(r.v1, r.v0)
	if err := r.promote(""); err != nil {
		t.Fatal(err)
	}
	v2 := append(bytes.Clone(r.v1), "\nSort them.\n"...)
	r.proved(v2, r.v1, func(k *record.TrialRecord) { k.Decision, k.Updated = pareto.Undecided, day1.Add(time.Hour) })
	if err := trySkill(t.Context(), r.a, "tagger", true); err != nil {
		t.Fatal(err)
	}
	r.holds("claude", v2)
	err := runDecision(t.Context(), r.a, "tagger@"+skill.HashText(r.v1)[:12], store.Rejected, true)
	if code := r.a.fail(err); code != exitUsage || !strings.Contains(err.Error(), "goes back to") {
		t.Errorf("exit %d, %v", code, err)
	}
	r.reject(r.v1)
	r.decide(pareto.Reject)
	r.look()
	r.holds("claude", r.v1)
}
