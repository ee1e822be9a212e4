package release

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/trying"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
)

// undecided is a site with a challenger whose trial is open.
func undecided(t *testing.T) *site {
	r := newSite(t)
	r.proved(r.v1, r.v0)
	r.judge(pareto.Undecided)
	return r
}

// judge sets the decision of the only trial.
func (s *site) judge(v pareto.Verdict) {
	s.t.Helper()
	all, err := s.in.Store.Trials(s.t.Context(), "tagger")
	if err != nil {
		s.t.Fatal(err)
	}
	all[0].Decision = v
	if err := s.in.Store.Journal("run-1").SaveTrial(s.t.Context(), &all[0]); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) next(op string, r Request) error {
	s.t.Helper()
	return s.apply(s.in.Next(s.t.Context(), s.live(), op, r))
}

func (s *site) try() {
	s.t.Helper()
	if err := s.next(store.OpTry, Request{}); err != nil {
		s.t.Fatal(err)
	}
	s.holds("claude", s.v1)
}

// had is the text by which the change had its chance, "" if it still may have it.
func (s *site) had() string {
	s.t.Helper()
	trials, err := candidate.Trials(s.t.Context(), s.in.Store, s.live())
	if err != nil || len(trials) != 1 {
		s.t.Fatalf("%+v, %v", trials, err)
	}
	sha, err := HadItsChance(s.t.Context(), s.in.Store, s.live(), &trials[0])
	if err != nil {
		s.t.Fatal(err)
	}
	return sha
}

// TestGround: while a text is in place on trial, everything but the file is as it was.
func TestGround(t *testing.T) {
	r := undecided(t)
	ctx, db := t.Context(), r.in.Store
	before, err := candidate.Trials(ctx, db, r.live())
	if err != nil {
		t.Fatal(err)
	}
	steps, err := candidate.Steps(ctx, db, r.live())
	if err != nil {
		t.Fatal(err)
	}
	r.try()
	ground, err := trying.Ground(ctx, db, r.live())
	if err != nil || !bytes.Equal(ground.Doc.Render(), r.v0) || ground.Path != r.live().Path {
		t.Fatalf("%v, %v", ground, err)
	}
	if again, err := trying.Ground(ctx, db, ground); err != nil || again != ground {
		t.Errorf("the ground of the ground: %v, %v", again, err)
	}
	if after, err := candidate.Trials(ctx, db, r.live()); err != nil || !reflect.DeepEqual(after, before) {
		t.Errorf("trials:\n%+v\n%+v, %v", after, before, err)
	}
	if after, err := candidate.Steps(ctx, db, ground); err != nil || !reflect.DeepEqual(after, steps) {
		t.Errorf("steps: %+v, %+v, %v", after, steps, err)
	}
	if waits, back, err := r.in.WaitingTrial(ctx, r.live()); err != nil || waits == nil || back != nil {
		t.Errorf("waits: %+v, %+v, %v", waits, back, err)
	}
}

// TestHadItsChanceOnTrial: what was in place on trial may still be proved and installed,
// unless its owner took it back.
func TestHadItsChanceOnTrial(t *testing.T) {
	r := undecided(t)
	r.try()
	if sha := r.had(); sha != "" {
		t.Errorf("on trial: %.12s", sha)
	}
	r.in.Now = func() time.Time { return time.Now().AddDate(0, 0, 57) }
	live := r.live()
	if s, err := r.in.SettleTry(t.Context(), live); err != nil || s.Words == "" || s.Kept {
		t.Fatalf("%+v, %v", s, err)
	}
	if r.holds("claude", r.v0); live.Doc.Hash() != skill.HashText(r.v0) {
		t.Error("the caller has another text than the file")
	}
	if sha := r.had(); sha != "" {
		t.Errorf("taken back by rule: %.12s", sha)
	}
	r.judge(pareto.Promote)
	if err := r.next(store.OpPromote, Request{}); err != nil {
		t.Fatal(err)
	}
	r.holds("claude", r.v1)
	if err := r.next(store.OpRollback, Request{}); err != nil {
		t.Fatal(err)
	}
	r.holds("claude", r.v0)
	r.judge(pareto.Undecided)
	if err := r.next(store.OpTry, Request{At: "v1"}); err != nil {
		t.Fatal(err)
	}
	if err := r.next(store.OpRollback, Request{}); err != nil {
		t.Fatal(err)
	}
	r.holds("claude", r.v0)
	if sha := r.had(); sha != skill.HashText(r.v1) {
		t.Errorf("rolled back by its owner: %.12s", sha)
	}
}

// TestTryRefused: what promote refuses for any other reason than a missing proof, try
// refuses too.
func TestTryRefused(t *testing.T) {
	for name, c := range map[string]func(r *site) error{
		"pinned": func(r *site) error { return r.in.Store.PinSkill(t.Context(), "tagger", skill.HashText(r.v0)) },
		"rejected by its owner": func(r *site) error {
			_, err := r.in.Store.Decide(t.Context(), store.Decision{Skill: "tagger", SHA: skill.HashText(r.v1), Word: store.Rejected, By: "me"})
			return err
		},
		"rejected by the gate": func(r *site) error { r.judge(pareto.Reject); return nil },
		"simulated": func(r *site) error {
			all, err := r.in.Store.Trials(t.Context(), "tagger")
			if err != nil {
				return err
			}
			k := all[0]
			k.Simulated, k.Challenger, k.Revision = true, skill.HashText(append(r.v1, "More.\n"...)), 0
			c := &record.Candidate{SHA: k.Challenger, Run: "run-1", Seq: 2, Operator: "reflect", State: record.Pooled, Text: append(r.v1, "More.\n"...)}
			if err := r.in.Store.Journal("run-1").SaveCandidate(t.Context(), c); err != nil {
				return err
			}
			return r.in.Store.Journal("run-1").SaveTrial(t.Context(), &k)
		},
		"proved": func(r *site) error { r.judge(pareto.Promote); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			r := undecided(t)
			if err := c(r); err != nil {
				t.Fatal(err)
			}
			at := skill.HashText(r.v1)[:12]
			if name == "simulated" {
				at = skill.HashText(append(r.v1, "More.\n"...))[:12]
			}
			if _, err := r.in.Next(t.Context(), r.live(), store.OpTry, Request{At: at}); err == nil {
				t.Error("nothing was refused")
			}
			r.holds("claude", r.v0)
		})
	}
}

// TestTryWithoutTrial: a text that was never on trial gets an empty trial, which has no
// number before a run begins it.
func TestTryWithoutTrial(t *testing.T) {
	r := newSite(t)
	r.install()
	if err := r.next(store.OpTry, Request{At: "v0"}); err != nil {
		t.Fatal(err)
	}
	r.holds("claude", r.v0)
	on, err := TryingOf(t.Context(), r.in.Store, r.live())
	if err != nil || on == nil || on.Trial == nil || !on.Trial.IsOpen() || on.Ground.Doc.Hash() != skill.HashText(r.v1) {
		t.Fatalf("%+v, %v", on, err)
	}
	if n, err := r.in.Store.TrialNumbers(t.Context(), "tagger"); err != nil || len(n) > 0 {
		t.Errorf("numbers: %+v, %v", n, err)
	}
	if why, err := on.Ends(time.Now()); err != nil || why != pareto.Stays {
		t.Errorf("%q, %v", why, err)
	}
}

// TestTryOfAnOlderText: the change of a candidate that was made from another text is tried
// in the live one, by a trial of its own, which hears nothing that the candidate has heard.
func TestTryOfAnOlderText(t *testing.T) {
	r := newSite(t)
	ctx, db := t.Context(), r.in.Store
	older := bytes.Replace(r.v0, []byte("Tags notes."), []byte("Tags."), 1)
	theirs := append(bytes.Clone(older), "\nAt most four tags.\n"...)
	r.proved(theirs, older)
	r.judge(pareto.Undecided)
	if _, err := db.SaveVersion(ctx, record.Version{Skill: "tagger", SHA: skill.HashText(older), Author: "evolve", Operator: "reflect", Text: older}); err != nil {
		t.Fatal(err)
	}
	if err := db.Journal("run-1").SpendCase(ctx, "tagger", skill.HashText(older), skill.HashText(theirs), "heard", "print"); err != nil {
		t.Fatal(err)
	}
	if err := r.next(store.OpTry, Request{At: skill.HashText(theirs)[:12]}); err != nil {
		t.Fatal(err)
	}
	r.holds("claude", append(bytes.Clone(r.v0), "\nAt most four tags.\n"...))
	on, err := TryingOf(ctx, db, r.live())
	if err != nil || on == nil || on.Trial == nil || on.Trial.Incumbent != skill.HashText(r.v0) {
		t.Fatalf("%+v, %v", on, err)
	}
	if why, err := on.Ends(time.Now()); err != nil || why != pareto.Stays {
		t.Errorf("%q, %v", why, err)
	}
}

// TestTryHearsNothingTwice: of a text that was on trial before, the empty trial leaves out
// what was spent on it.
func TestTryHearsNothingTwice(t *testing.T) {
	r := newSite(t)
	r.install()
	ctx, db, v0 := t.Context(), r.in.Store, skill.HashText(r.v0)
	if err := db.Journal("run-1").SpendCase(ctx, "tagger", "another text", v0, "heard", "print"); err != nil {
		t.Fatal(err)
	}
	if err := r.next(store.OpTry, Request{At: "v0"}); err != nil {
		t.Fatal(err)
	}
	on, err := TryingOf(ctx, db, r.live())
	if err != nil || on == nil || on.Trial == nil {
		t.Fatalf("%+v, %v", on, err)
	}
	var st record.State
	if err := json.Unmarshal(on.Trial.State, &st); err != nil || !slices.Contains(st.Excluded, "print") {
		t.Errorf("excluded: %v, %v", st.Excluded, err)
	}
}

// TestKeepOlder: a text that was proved against another one is kept as an unproven version.
func TestKeepOlder(t *testing.T) {
	r := newSite(t)
	r.proved(r.v1, r.v0)
	if err := r.next(store.OpPromote, Request{}); err != nil {
		t.Fatal(err)
	}
	own := append(bytes.Clone(r.v0), "\nMine.\n"...)
	r.write("claude", own)
	if err := r.next(store.OpTry, Request{At: "v1"}); err != nil {
		t.Fatal(err)
	}
	p, err := r.in.Next(t.Context(), r.live(), store.OpPromote, Request{})
	if err != nil || !p.Unproven() {
		t.Fatalf("%+v, %v", p, err)
	}
	if err := r.apply(p, nil); err != nil {
		t.Fatal(err)
	}
	r.holds("claude", r.v1)
	for n, proven := range map[int]bool{1: true, 3: false} {
		if v, err := r.in.Store.Version(t.Context(), "tagger", n); err != nil || v.SHA != skill.HashText(r.v1) || v.Proven != proven {
			t.Errorf("v%d: %+v, %v", n, v, err)
		}
	}
}
