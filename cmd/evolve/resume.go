package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/lock"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// prepareResume reads a run back as it began.
func (a *app) prepareResume(ctx context.Context, now *runFlags) (*prepared, error) {
	db, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	run, err := db.Run(ctx, now.resume)
	if errors.Is(err, store.ErrNotFound) {
		return nil, problem.Inputf("`evolve status` names the runs that can be resumed", "no run is named %q", now.resume)
	} else if err != nil {
		return nil, err
	}
	if strings.HasPrefix(run.ID, candidate.CarryingPrefix) {
		return nil, problem.Inputf(fmt.Sprintf("`evolve --skill %s` tries what came of it", run.Skill), "%s re-based a challenger: nothing was run", run.ID)
	}
	if sleep.LeaseOf(ctx) != nil { // a night waits for the lock, or takes it over
	} else if busy, err := a.running(run.ID); err != nil {
		return nil, err
	} else if busy {
		return nil, lock.RunBusy(run.ID)
	}
	f := &runFlags{}
	if err := json.Unmarshal(run.Config, &f.runConfig); err != nil {
		return nil, fmt.Errorf("read run %s: %w", run.ID, err)
	}
	if now.Skill != "" && now.Skill != f.Skill {
		return nil, problem.Inputf(fmt.Sprintf("`evolve --resume %s` without --skill", run.ID), "run %s is about %s, not %s", run.ID, f.Skill, now.Skill)
	}
	f.atMost = now.atMost
	f.resume, f.promote, f.to, f.yes = now.resume, now.promote, now.to, now.yes
	f.who.NoWait = now.who.NoWait
	if err := a.refusePinned(ctx, f.Skill); err != nil {
		return nil, err
	}
	if run.Status == tournament.Finished {
		a.Say("run %s has ended already; walking it again from its records", run.ID)
	}
	live, err := a.skill(f.Skill)
	if err != nil {
		return nil, err
	}
	if got := live.Doc.Render(); string(got) != string(f.Incumbent) {
		// The decisions were about the text that the run began with. It goes on
		// with that; installing is refused later by compare-and-swap.
		doc, err := skill.Parse(f.Incumbent, skill.Options{})
		if err != nil {
			return nil, fmt.Errorf("read the incumbent of run %s: %w", run.ID, err)
		}
		live.Doc = doc
		a.Say("the live file has changed since run %s began; it goes on with the text it began with", run.ID)
	}
	if f.Evolve == "" {
		f.Evolve = skill.Harness // of an older evolve
	}
	if err := live.Evolve(f.Evolve); err != nil {
		return nil, err
	}
	back, err := f.open(ctx, a)
	if err != nil {
		return nil, err
	}
	if err := back.Ping(ctx); err != nil {
		return nil, err
	}
	if rest, err := skill.RestHash(live.Dir); err != nil {
		return nil, fmt.Errorf("read skill %s: %w", f.Skill, err)
	} else if rest != f.Rest {
		return nil, problem.Inputf(fmt.Sprintf("start a new run with `evolve --skill %s`", f.Skill),
			"the files beside SKILL.md changed since run %s began: nothing it measured would count", run.ID)
	}
	f.owned = now.owned
	p := &prepared{f: f, live: live, back: back, db: db, run: run}
	if err := a.own(ctx, p); err != nil {
		return p, err
	}
	stored, err := db.Cases(ctx, f.Skill)
	if err != nil {
		return p, err
	}
	for _, c := range stored {
		want, ok := f.Cases[c.ID]
		if !ok {
			continue
		}
		c.Split = eval.Split(f.Splits[c.ID])
		if caseHash(c) != want {
			return p, problem.Inputf(fmt.Sprintf("start a new run with `evolve --skill %s`", f.Skill), "case %s was edited since run %s began", c.ID, run.ID)
		}
		p.cases = append(p.cases, c)
	}
	if len(p.cases) != len(f.Cases) {
		return p, problem.Inputf(fmt.Sprintf("start a new run with `evolve --skill %s`", f.Skill),
			"%d cases were dropped since run %s began", len(f.Cases)-len(p.cases), run.ID)
	}
	budget := f.budget(a.Now)
	if err := a.begin(ctx, p, budget); err != nil {
		return p, err
	}
	if err := p.forgetMissing(ctx); err != nil {
		return p, err
	}
	p.heads = append(p.heads, fmt.Sprintf("resuming run %s", run.ID))
	return p, a.build(ctx, p, budget)
}

// forgetMissing has the rollouts that the infrastructure failed tried again; what they
// took stays on the bill.
func (p *prepared) forgetMissing(ctx context.Context) error {
	rollouts, err := p.db.Rollouts(ctx, store.RolloutFilter{Run: p.run.ID})
	if err != nil {
		return err
	}
	kept := map[string]*eval.Completion{}
	for i := range rollouts {
		if r := &rollouts[i]; r.Status == eval.Missing {
			name, c, err := eval.LostRecord(ctx, p.journal(), r)
			if err != nil {
				return err
			}
			if c != nil {
				kept[name] = c
			}
		}
	}
	_, err = p.db.ForgetMissing(ctx, p.run.ID, kept)
	return err
}

// perCall is what the miner's calls took, in equal shares: they are known
// together, and each counts.
func perCall(s eval.Spent) []eval.Cost {
	n := s.MinerCalls
	out := make([]eval.Cost, n)
	for k := range out {
		share := func(all int64) int64 {
			i := int64(k)
			return all*(i+1)/n - all*i/n
		}
		out[k].Usage = &eval.Usage{Input: share(s.TokensIn), Output: share(s.TokensOut)}
		if s.CostKnown {
			usd := s.CostUSD / float64(n)
			out[k].USD = &usd
		}
	}
	return out
}

// caseHash notices an edit of a case between a run and its resumption.
func caseHash(c eval.Case) string {
	var b strings.Builder
	if err := eval.WriteCases(&b, []eval.Case{c}); err != nil {
		return "" // an invalid case was refused before it was stored
	}
	return sha256Hex([]byte(b.String()))
}
