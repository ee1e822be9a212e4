package main

import (
	"context"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// provableCases counts the held-out cases that a trial can go on with. unproven are
// those that prove nothing: judge alone decides them, by its grader's identity, which
// is not shown to agree with the owner, and could not be shown to by asking it about
// the labels there are; nil: nobody knows who that is, and all count as fresh. No model
// is asked.
func provableCases(ctx context.Context, db *store.Store, t *tournament.TrialRecord, cases, test []eval.Case, judge *string) (fresh, unproven int, err error) {
	spent, err := db.Journal("").SpentCases(ctx, t.Skill, t.Incumbent)
	if err != nil {
		return 0, 0, err
	}
	test = independent(test, cases)
	if fresh, err = t.Fresh(test, spent); err != nil || fresh == 0 || judge == nil || tournament.RestsOnJudge(test) == 0 {
		return fresh, 0, err
	}
	known, err := onRecord(ctx, db, t.Skill, cases, *judge)
	if err != nil || undecidedYet(known) {
		return fresh, 0, err // the run asks the judge first
	}
	return t.Provable(test, spent, known)
}

// undecidedYet reports whether a judge that is not trusted may turn out to be, once it
// is asked about the labels that it was not asked about.
func undecidedYet(k tournament.Calibration) bool {
	return !k.Trusted() && k.Missing > 0 && k.Labels.N()+k.Missing >= tournament.TrustedLabels
}

// unlabelled counts the cases that a trial waits for its owner's labels with: all
// that it could go on with rest on a judge's word, and that judge is not trusted.
func unlabelled(ctx context.Context, db *store.Store, t *tournament.TrialRecord) (int, error) {
	c, err := db.Candidate(ctx, t.Challenger)
	if err != nil || candidate.PartOf(c.Operator) == skill.Description {
		return 0, nil // trigger cases ask no judge; what is gone goes on with nothing
	}
	cases, err := db.Cases(ctx, t.Skill)
	if err != nil {
		return 0, err
	}
	judge, err := db.LastJudge(ctx, t.Skill)
	if err != nil {
		return 0, err
	}
	fresh, unproven, err := provableCases(ctx, db, t, cases, heldOut(cases), &judge)
	if err != nil || fresh > 0 {
		return 0, err
	}
	return unproven, nil
}

// independent is test without what somebody may have learned from, by all cases.
func independent(test, cases []eval.Case) (out []eval.Case) {
	kept, _ := tournament.Independent(cases)
	ids := map[string]bool{}
	for i := range kept {
		ids[kept[i].ID] = true
	}
	for _, c := range test {
		if ids[c.ID] {
			out = append(out, c)
		}
	}
	return out
}

// heldOut are the ordinary cases of the test split.
func heldOut(cases []eval.Case) (test []eval.Case) {
	ordinary, _ := eval.SeparateTriggers(cases)
	for _, c := range ordinary {
		if c.Split == eval.Test {
			test = append(test, c)
		}
	}
	return test
}

// uncertified is the last night's certification of the live version where that waits
// for its owner's labels, nil where none does, or what the owner has labelled since
// lets the next night ask the judge again.
func uncertified(ctx context.Context, db *store.Store, last *sleep.Night, st *sleep.State, s *skillStatus) (*sleep.Step, error) {
	if last == nil {
		return nil, nil
	}
	for i := range last.Steps {
		k := &last.Steps[i]
		if k.Kind != sleep.Certify || k.Skill != s.Skill || k.Outcome != sleep.Open || k.Drift == nil || k.Drift.Version != s.Live.SHA {
			continue
		}
		if !asksForLabels(k) && k.Drift.Judge == "" {
			continue // it waits for nothing but a night
		}
		judge := k.Drift.Judge
		if st != nil {
			c := st.Certificate(s.Live.SHA, k.Drift.Previous, k.Drift.To)
			if c.Closed() {
				continue
			}
			if judge == "" && c.Calibration != nil {
				judge = c.Calibration.Judge
			}
		}
		cases, err := db.Cases(ctx, s.Skill)
		if err != nil {
			return nil, err
		}
		known, err := onRecord(ctx, db, s.Skill, cases, judge)
		if err != nil {
			return nil, err
		}
		if !known.Trusted() && !undecidedYet(known) {
			return k, nil
		}
	}
	return nil, nil
}

// waitsForLabels adds what its owner's labels would bring on: a trial, or the
// certificate of the live version on another model.
func waitsForLabels(ctx context.Context, db *store.Store, s *skillStatus, known *overview, add func(kind waitKind, command, format string, args ...any)) error {
	review := "evolve review " + s.Skill
	if c := s.Challenger; c != nil && c.Unlabelled > 0 {
		add(waitReview, review, "%s", c.unlabelled())
	}
	k, err := uncertified(ctx, db, known.last, known.nights[s.Skill], s)
	if err != nil || k == nil || s.Pinned {
		return err
	}
	add(waitReview, review, "on %v nothing trusted decides its cases", k.Drift.To)
	return nil
}
