package work

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// drift reports which model the evidence of the installed version is about,
// which one answers now, and, if that is another one, on how many cases it
// could be compared. A text that no gate has proved has no evidence that
// could be out of date.
func (s *Worker) drift(ctx context.Context, live *skill.Live, cases []eval.Case) (*sleep.Drift, error) {
	v, err := s.Store.VersionBySHA(ctx, live.Name, live.Doc.Hash())
	if errors.Is(err, store.ErrNotFound) || err == nil && v.Author != "evolve" {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	change, err := candidate.ChangeOf(ctx, s.Store, v)
	if err != nil {
		return nil, err
	}
	from, err := s.provedOn(ctx, live.Name, change)
	if err != nil {
		return nil, err
	}
	to := s.model(ctx)
	if to.Simulated && !s.Demo || !to.DriftedFrom(from) {
		return nil, nil
	}
	d := &sleep.Drift{Version: v.SHA, From: from, To: to, Tries: 1 + s.Config.MaxRetries}
	before, err := s.replaced(ctx, live)
	if err != nil {
		return nil, err
	}
	if len(before) > 0 && before[0] != v.SHA {
		switch old, err := s.Store.VersionBySHA(ctx, live.Name, before[0]); {
		case err == nil && len(old.Text) > 0:
			d.Previous = before[0]
		case err != nil && !errors.Is(err, store.ErrNotFound):
			return nil, err
		}
	}
	held, err := s.unused(ctx, live.Name, d, cases)
	d.Cases = len(held)
	return d, err
}

// unused are the held-out cases of real requests that the version's own gate
// has not used under any name: used ones may flatter it.
func (s *Worker) unused(ctx context.Context, name string, d *sleep.Drift, cases []eval.Case) ([]eval.Case, error) {
	ordinary, _ := eval.SeparateTriggers(cases)
	held, _ := record.HeldOut(ordinary)
	spent, err := s.Store.Journal("").SpentCases(ctx, name)
	if err != nil {
		return nil, err
	}
	change := d.Version
	if v, err := s.Store.VersionBySHA(ctx, name, d.Version); err == nil {
		change, err = candidate.ChangeOf(ctx, s.Store, v)
		if err != nil {
			return nil, err
		}
	} else if !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	held, _ = spent.Unused(held, nil)
	held = slices.DeleteFunc(held, func(c eval.Case) bool { return c.Generated() || spent.On(&c) == change || spent.HasRead(change, &c) })
	if held, _, err = s.now.back.Usable(ctx, &s.now.f.Spec, held); err != nil {
		return nil, err
	}
	held, _, err = s.Runner.Control.Filter(ctx, s.Store, s.now.back, []string{agent.Replay, agent.Judge}, held)
	return held, err
}

// compare measures an installed version as `evolve compare` does, as the run
// that the task names.
func (s *Worker) compare(ctx context.Context, t sleep.Task, d sleep.Drift) (found []sleep.Compared, r sleep.Result, err error) {
	texts, err := candidate.Open(ctx, s.Store, s.Runner.Layout, t.Skill)
	if err != nil {
		return nil, r, aboutSkill(err)
	}
	if texts.Live == nil || texts.Live.Doc.Hash() != d.Version {
		return nil, r, &sleep.Overtaken{Why: "the live text is another one by now"}
	}
	if now := s.model(ctx); now.Agent == "" || now.DriftedFrom(d.To) || now.Simulated != d.To.Simulated {
		// The next command that continues a killed night may request another
		// agent.
		return nil, r, &sleep.Hopeless{Err: fmt.Errorf("the night began on %v, and the agent is %v now", d.To, now)}
	}
	cases, err := s.Store.Cases(ctx, t.Skill)
	if err != nil {
		return nil, r, err
	}
	if cases, err = s.unused(ctx, t.Skill, &d, cases); err != nil {
		return nil, r, err
	}
	if err := s.now.back.Ping(ctx); err != nil {
		return nil, r, aboutSkill(err)
	}
	unlock, err := s.Locks.Run(ctx, t.Run, t.Lease)
	if err != nil {
		return nil, r, aboutSkill(err)
	}
	defer unlock()
	f := s.Config
	f.Skill, f.Evolve = t.Skill, skill.Harness
	f.MaxRollouts, f.MaxCostUSD, f.MaxTokens, f.MaxDuration = t.Caps.Rollouts, t.Caps.CostUSD, t.Caps.Tokens, t.Caps.Duration
	b := f.Budget(s.Runner.Now)
	record, err := campaign.NewRecord(ctx, s.Store, t.Run, b, 0, t.Lease)
	if err != nil {
		return nil, r, err
	}
	defer record.Close()
	o := campaign.CompareOptions{Split: string(eval.Test), Trials: 1, Cases: cases, Budget: b, Recorder: record.Journal()}
	if d.From.Agent == d.To.Agent && d.From.Asked == d.To.Asked {
		o.Key = ":" + d.To.Release + ":" + d.To.Reported // another model under the same name
	}
	for _, text := range d.Against() {
		var k *sleep.Compared
		if k, err = s.against(ctx, texts, text, f, o, &d); k != nil {
			found = append(found, *k)
		}
		if err != nil {
			break
		}
	}
	r.Spent, r.Assumed, r.Warnings = b.Spent(), b.Assumed(), b.Warnings()
	var limit *eval.BudgetError
	if errors.As(err, &limit) {
		r.Reason, err = limit.Error()+", a later night continues", nil
	}
	return found, r, aboutSkill(err)
}

// against compares the version with one text; nil if no case has a score with both.
func (s *Worker) against(ctx context.Context, texts *candidate.Texts, text string, f campaign.Config, o campaign.CompareOptions, d *sleep.Drift) (*sleep.Compared, error) {
	c, err := s.Runner.Compare(ctx, texts, []string{text, d.Version}, f, o)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if _, err := c.Plan(ctx); err != nil {
		return nil, err
	}
	err = c.Measure(ctx)
	k := &sleep.Compared{Version: d.Version, Against: text, Model: d.To, Tried: len(o.Cases)}
	if err != nil {
		k.Tried = c.Report.Cases
	}
	for _, q := range c.Report.Objectives {
		if q.Objective == pareto.Quality.String() && q.Delta != nil {
			k.Quality, k.Low, k.High, k.Cases = *q.Delta, *q.Low, *q.High, q.N
			return k, err
		}
	}
	return nil, err
}
