package campaign

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/campaign/readlimit"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/expect"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/report"
)

// gather harvests and mines, unless the options forbid it, and reads the cases.
func (c *Campaign) gather(ctx context.Context) error {
	f := &c.Config
	trial, err := c.trial(ctx)
	if err != nil {
		return err
	}
	onTrial := trial != nil || f.Given != nil
	if c.mines() {
		if err := c.gatherSessions(ctx, onTrial); err != nil {
			return err
		}
	}
	if err := c.runner.Ingester(c.db, c.back).Split(ctx, f.Skill, onTrial); err != nil {
		return err
	}
	if c.cases, err = c.db.Cases(ctx, f.Skill); err != nil {
		return err
	}
	// Before other cases are left out: a case that cannot be tried today may
	// have taught.
	var copies int
	if c.cases, copies = record.Independent(c.cases); copies > 0 {
		c.found = append(c.found, record.Repeated(copies))
	}
	kept, notes, err := c.back.Usable(ctx, &f.Spec, casesOf(c.cases, f.Evolve))
	if err != nil {
		return err
	}
	var left outgoing.Left
	if c.cases, left, err = c.runner.Control.Clear(ctx, c.db, c.back, agent.Requests, kept); err != nil {
		return err
	}
	c.found = append(append(c.found, notes...), left.Lines()...)
	f.Mined = c.budget.Spent()
	switch {
	case trial != nil:
		return c.continueTrial(ctx, trial)
	case f.Given != nil:
		return c.beginGiven(ctx)
	}
	return nil
}

// gatherSessions harvests, and mines cases for a harness. A dry run spends
// nothing: it forecasts from what is stored.
func (c *Campaign) gatherSessions(ctx context.Context, onTrial bool) error {
	f, h := &c.Config, &ingest.Report{}
	if !c.options.Night {
		var err error
		if h, err = c.runner.Harvest(ctx, c.db); err != nil {
			return err
		}
	}
	may, err := c.runner.Control.Sessions(ctx, c.db, c.back, agent.Requests, f.Skill)
	if err != nil {
		return err
	}
	limit := &readlimit.Failures{}
	var miner eval.Model
	if !c.options.DryRun {
		if err := c.approveMining(ctx, may); err != nil {
			return err
		}
		if s := c.budget.Spent(); s.MinerCalls > 0 {
			c.runner.Say("continues run %s, which was interrupted: the %s that read corrections count, with %s tokens",
				c.run.ID, plain.Counted(int(s.MinerCalls), "call"), plain.Thousands(s.TokensIn+s.TokensOut))
		}
		reader := c.reader()
		limit.Model = &eval.Metered{Model: reader, By: eval.ByMiner, Budget: c.budget, Redactor: c.back.Redactor,
			Recorder: c.journal(), Scope: c.run.ID, WallClock: f.WallClock}
		miner = limit
		defer func() { c.Notes = append(append(c.Notes, reader.Warnings()...), limit.Warnings()...) }()
	}
	view := c.runner.Watch(report.Task{Phase: "mining", Unit: "calls", Count: func() int64 { return c.budget.Spent().MinerCalls }, Budget: c.budget, Caps: f.Caps()})
	_, stats, err := c.runner.Ingester(c.db, c.back).Mine(ctx, f.Skill, ingest.Mining{Model: miner, May: may, Headless: c.runner.Headless, OnTrial: onTrial})
	view.Done()
	if err == nil {
		err = limit.Unanswered() // their cases were made without a model meanwhile, and are made again
	}
	if err != nil {
		return fmt.Errorf("mine cases: %w", err)
	}
	uses, err := c.runner.Ingester(c.db, c.back).Uses(ctx, f.Skill)
	if err != nil {
		return err
	}
	c.found = append(c.found, fmt.Sprintf("harvest: %d new sessions, %d uses of %s (%d corrected, %d accepted), %d new cases",
		h.Sessions, uses.Uses, f.Skill, uses.Corrected, uses.Accepted, stats.Cases))
	if refused := stats.Refused(); refused != "" {
		c.found = append(c.found, "harvest: "+refused)
	}
	if uses.Unread > 0 {
		c.found = append(c.found, "harvest: "+ingest.UnreadUses(uses.Unread))
	}
	if n := len(h.Problems); n > 0 {
		c.found = append(c.found, fmt.Sprintf("harvest: %d places could not be read; `evolve harvest` lists them", n))
	}
	return nil
}

// Ingester makes and stores cases.
func (r *Runner) Ingester(db *store.Store, back *agent.Backends) *ingest.Ingester {
	return &ingest.Ingester{Store: db, Layout: r.Layout, Dir: r.Dir, Access: r.Access, Now: r.Now, Redactor: back.Redactor, Find: back.Find}
}

// continueTrial has the run continue the trial of an undecided challenger; a *WaitingError if there
// is no fresh case for it.
func (c *Campaign) continueTrial(ctx context.Context, trial *candidate.OnTrial) error {
	f := &c.Config
	if f.NoGate {
		return nil
	}
	if err := c.mayShow(ctx, "challenger", trial.Challenger, ""); err != nil {
		return err
	}
	if trial.Incumbent != c.Live.Doc.Hash() {
		f.Base = trial.Incumbent
	}
	if c.options.Anew {
		f.Standing = trial.Challenger
		c.found = append(c.found, fmt.Sprintf("new text %.12s is undecided: its trial continues unless this run finds a better one", trial.Challenger))
		return nil
	}
	spent, err := c.db.Journal(c.run.ID).SpentCases(ctx, f.Skill)
	if err != nil {
		return err
	}
	held := slices.DeleteFunc(slices.Clone(c.cases), func(k eval.Case) bool { return k.Split != eval.Test })
	uses, err := expect.Uses(ctx, c.db, f.Skill, c.cases)
	if err != nil {
		return err
	}
	fresh, err := trial.Fresh(held, spent, uses)
	if err != nil {
		return err
	}
	same, err := trial.Counts(f.Objectives)
	if err != nil {
		return err
	}
	if fresh == 0 && same {
		copies, err := trial.Copies(held, spent)
		if err != nil {
			return err
		}
		if copies > 0 { // else the gate reports it
			c.found = append(c.found, record.Repeated(copies))
		}
		return &WaitingError{*trial}
	}
	if d, err := trial.Evidence(); err != nil {
		return err
	} else if d.Cases > 0 && c.back.Agent.Identity().Simulated && !trial.Simulated {
		return problem.Inputf(fmt.Sprintf("choose a real agent with --agent, or `evolve --skill %s --anew` to search again", f.Skill),
			"new text %.12s is on trial with a real model: a simulated agent cannot continue it", trial.Challenger)
	}
	f.Carried, f.HeldOut = trial.Challenger, fresh
	if !same {
		c.found = append(c.found, fmt.Sprintf("new text %.12s is judged again, by other objectives: %s", trial.Challenger, strings.Join(f.Objectives, ", ")))
	}
	c.found = append(c.found, fmt.Sprintf("new text %.12s is still undecided: there are %s for its trial", trial.Challenger, plain.Counted(fresh, "fresh case")))
	return nil
}
