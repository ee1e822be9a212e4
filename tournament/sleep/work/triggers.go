package work

import (
	"context"
	"errors"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/check"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// triggers sums up the evidence on the live description from trigger cases:
// they come from the skill's owner, and their results from runs and
// comparisons. No session shows that a skill should have been loaded and was
// not. nil if there are no such cases, or the description is not written so
// that it could be replaced.
func (s *Worker) triggers(ctx context.Context, live *skill.Live, cases []eval.Case) (*sleep.Triggers, error) {
	_, all := eval.SeparateTriggers(cases)
	if len(all) == 0 {
		return nil, nil
	}
	again := *live
	var f *problem.Error
	if err := again.Evolve(skill.Description); errors.As(err, &f) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	t := &sleep.Triggers{Description: skill.HashText([]byte(live.Doc.Description()))}
	var test []eval.Case
	known := map[string]bool{}
	for _, c := range all {
		known[c.ID] = true
		switch c.Split {
		case eval.Train:
			t.Train++
		case eval.Test:
			test = append(test, c)
		}
	}
	last := map[string]*eval.Rollout{}
	texts, err := s.sameDescription(ctx, live)
	if err != nil {
		return nil, err
	}
	for _, sha := range texts {
		rs, err := s.Store.Rollouts(ctx, store.RolloutFilter{Candidate: sha})
		if err != nil {
			return nil, err
		}
		for i := range rs {
			r := &rs[i]
			if before := last[r.CaseID]; known[r.CaseID] && r.Status == eval.Done && (before == nil || !r.Started.Before(before.Started)) {
				last[r.CaseID] = r
			}
		}
	}
	for _, r := range last {
		t.Tried++
		if r.Quality < check.PassMark {
			t.Misfired++
		}
	}
	trial, err := candidate.OpenTrial(ctx, s.Store, live, skill.Description)
	if err != nil {
		return nil, err
	}
	if trial == nil {
		t.Needs, err = s.needs(ctx, live, all, skill.Description)
		return t, err
	}
	t.Base, t.Challenger = trial.Incumbent, trial.Challenger
	if t.Round, err = trial.Rounds(); err != nil {
		return nil, err
	}
	t.Fresh, _, t.Rollouts, err = s.fresh(ctx, &trial.TrialRecord, cases, test)
	return t, err
}

// sameDescription are the SHA-256 of the skill's versions with the live
// description: whether a skill is loaded does not depend on the rest.
func (s *Worker) sameDescription(ctx context.Context, live *skill.Live) ([]string, error) {
	versions, err := s.Store.Versions(ctx, live.Name)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, v := range versions {
		if doc, err := skill.Stored(live.Name, v.Text); err == nil && doc.Description() == live.Doc.Description() {
			out = append(out, v.SHA)
		}
	}
	return out, nil
}
