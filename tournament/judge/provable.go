package judge

import (
	"context"
	"math/rand/v2"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/expect"
	"github.com/skill-evolve/evolve/tournament/record"
)

// ProvableCases counts the held-out cases that a trial can continue with.
// unproven are those that prove nothing yet, because a judge has a say that is
// not shown to agree with the owner, and could not be by asking it about the
// existing labels (record.TrialRecord.Provable). judge is its Identity; if nil, it is unknown, and
// all cases count as fresh. No model is asked.
func ProvableCases(ctx context.Context, db *store.Store, t *record.TrialRecord, cases, test []eval.Case, judge *string) (fresh, unproven int, err error) {
	spent, err := db.Journal("").SpentCases(ctx, t.Skill)
	if err != nil {
		return 0, 0, err
	}
	uses, err := expect.Uses(ctx, db, t.Skill, cases)
	if err != nil {
		return 0, 0, err
	}
	test = independent(test, cases)
	if fresh, err = t.Fresh(test, spent, uses); err != nil || fresh == 0 || judge == nil || record.RestsOnJudge(test) == 0 {
		return fresh, 0, err
	}
	known, err := OnRecord(ctx, db, t.Skill, cases, *judge)
	if err != nil || known.Undecided() {
		return fresh, 0, err // the run asks the judge first
	}
	return t.Provable(test, spent, uses, known)
}

// Known is what is on record of the judge that a run of the skill last asked.
func Known(ctx context.Context, db *store.Store, name string) (record.Calibration, error) {
	cases, err := db.Cases(ctx, name)
	if err != nil {
		return record.Calibration{}, err
	}
	judge, err := db.LastJudge(ctx, name)
	if err != nil {
		return record.Calibration{}, err
	}
	return OnRecord(ctx, db, name, cases, judge)
}

// Unlabelled counts the cases for which a trial waits for its owner's labels:
// all that it could continue with rest on a judge alone, and that judge is
// not trusted. reviews are missing until the judge is looked at again.
func Unlabelled(ctx context.Context, db *store.Store, t *record.TrialRecord) (n, reviews int, err error) {
	c, err := db.Candidate(ctx, t.Challenger)
	if err != nil || candidate.PartOf(c.Operator) == skill.Description {
		return 0, 0, nil // trigger cases ask no judge; no trial continues with what is gone
	}
	cases, err := db.Cases(ctx, t.Skill)
	if err != nil {
		return 0, 0, err
	}
	judge, err := db.LastJudge(ctx, t.Skill)
	if err != nil {
		return 0, 0, err
	}
	fresh, unproven, err := ProvableCases(ctx, db, t, cases, heldOut(cases), &judge)
	if err != nil || fresh > 0 || unproven == 0 {
		return 0, 0, err
	}
	pairs, err := OpenPairs(ctx, db, t.Skill, rand.New(rand.NewPCG(0, 0)))
	if err != nil || len(pairs) == 0 {
		return 0, 0, err // its owner can label nothing: the answers are the same
	}
	known, err := OnRecord(ctx, db, t.Skill, cases, judge)
	return unproven, known.Reviews(), err
}

// Left counts the held-out cases that a trial can continue with.
func Left(ctx context.Context, db *store.Store, t *record.TrialRecord) (int, error) {
	c, err := db.Candidate(ctx, t.Challenger)
	if err != nil {
		return 0, nil // no trial continues with what is gone
	}
	cases, err := db.Cases(ctx, t.Skill)
	if err != nil {
		return 0, err
	}
	ordinary, triggers := eval.SeparateTriggers(cases)
	if candidate.PartOf(c.Operator) == skill.Description {
		ordinary = triggers
	}
	judge, err := db.LastJudge(ctx, t.Skill)
	if err != nil {
		return 0, err
	}
	fresh, _, err := ProvableCases(ctx, db, t, cases, held(ordinary), &judge)
	return fresh, err
}

// independent is test without the cases that somebody may have learned from,
// judged by all cases.
func independent(test, cases []eval.Case) (out []eval.Case) {
	kept, _ := record.Independent(cases)
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
func heldOut(cases []eval.Case) []eval.Case {
	ordinary, _ := eval.SeparateTriggers(cases)
	return held(ordinary)
}

func held(cases []eval.Case) (test []eval.Case) {
	for _, c := range cases {
		if c.Split == eval.Test {
			test = append(test, c)
		}
	}
	return test
}
