package campaign

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/expect"
	"github.com/skill-evolve/evolve/tournament/gate"
	"github.com/skill-evolve/evolve/tournament/record"
)

// proof is what the run's trial is likely to take: of one that is continued under its own
// rule and with its own replays.
func (r *Runner) proof(ctx context.Context, db *store.Store, f *Config, live *skill.Live, runs []record.Run, cases []eval.Case) (*expect.Proof, error) {
	uses, err := expect.Uses(ctx, db, f.Skill, cases)
	if err != nil {
		return nil, err
	}
	p := &expect.Proof{Replays: gate.Replays, Failures: record.FailuresOf(uses), Rule: f.gate()}
	if f.Evolve != skill.Description { // its cases are not of uses
		p.Pace = expect.PaceOf(uses, cases)
	}
	if p.Noise, err = noiseOf(ctx, db, f, runs); err != nil {
		return nil, err
	}
	if f.Carried != "" {
		trial, err := db.Journal("").Trial(ctx, f.Skill, cmp.Or(f.Base, live.Doc.Hash()), f.Carried)
		if err == nil && trial != nil {
			err = p.GoOn(trial)
		}
		if err != nil {
			return nil, err
		}
	}
	p.Simulate()
	return p, nil
}

// StillTakes describes what the trial of a run that ends still takes, "" if it is not
// promising.
func (c *Campaign) StillTakes(ctx context.Context, d pareto.Decision, share *record.Share) (string, error) {
	uses, err := expect.Uses(ctx, c.db, c.Config.Skill, c.cases)
	if err != nil {
		return "", err
	}
	p := expect.Proof{Pace: expect.PaceOf(uses, c.cases), Share: share}
	if p.Have(d); p.More == nil {
		return "", nil
	}
	return p.Words(0), nil
}

// noiseOf is the noise of costs and durations in the newest run on the same agent and model,
// from cases that one text was tried on several times; 0 if too few were.
func noiseOf(ctx context.Context, db *store.Store, f *Config, runs []record.Run) (float64, error) {
	for _, run := range runs {
		var old Config
		if run.Spent.Rollouts < 10 || json.Unmarshal(run.Config, &old) != nil || old.Agent != f.Agent || old.Model != f.Model {
			continue
		}
		rollouts, err := db.Rollouts(ctx, store.RolloutFilter{Run: run.ID})
		if err != nil {
			return 0, err
		}
		return expect.NoiseOf(rollouts), nil
	}
	return 0, nil
}
