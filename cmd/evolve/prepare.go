package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/lock"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/judge"
)

// A prepared run is one that may begin.
type prepared struct {
	f     *runFlags
	live  *skill.Live
	back  *agent.Backends
	db    *store.Store
	run   *tournament.Run
	plan  tournament.Plan
	cases []eval.Case
	// heads tells what the harvest found, in words.
	heads []string
	// foreseen is the forecast that was told, nil before it.
	foreseen *forecast
	// What begin took.
	budget *eval.Budget
	noted  func()         // ends the notes of calls under way
	unlock func()         // nil where the run was not locked
	owned  *lock.Skill    // nil while the skill is not locked
	clock  *timekeeper    // nil where nothing is spent
	miner  *limitedReader // nil before it is asked
	// notes qualify what the run came to.
	notes []string
}

// prepare reads the skill, harvests, and fixes everything that the run's
// decisions are a function of.
func (a *app) prepare(ctx context.Context, f *runFlags) (*prepared, error) {
	if f.resume != "" {
		return a.prepareResume(ctx, f)
	}
	live, err := a.skill(f.Skill)
	if err != nil {
		return nil, err
	}
	if err := a.refusePinned(ctx, f.Skill); err != nil {
		return nil, err
	}
	if err := a.refuseManaged(ctx, live, f); err != nil {
		return nil, err
	}
	for _, w := range skill.Validate(live.Doc, f.Profile, live.Name) {
		if w.Severity == skill.Reject {
			return nil, problem.Inputf("agents would not load it as it is; mend it first", "skill %s: line %d: %s", live.Name, w.Line, w.Message)
		}
	}
	if err := live.Evolve(f.Evolve); err != nil {
		return nil, err
	}
	back, err := f.open(ctx, a)
	if err != nil {
		return nil, err
	}
	if err := f.settle(back); err != nil {
		return nil, err
	}
	if !f.dryRun {
		if err := back.Ping(ctx); err != nil {
			return nil, err
		}
	}
	db, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	p := &prepared{f: f, live: live, back: back, db: db}
	if err := a.recordLive(ctx, db, live); err != nil {
		return p, err
	}
	if err := a.own(ctx, p); err != nil {
		return p, err
	}
	runs, err := db.Runs(ctx, f.Skill)
	if err != nil {
		return p, err
	}
	if f.Seed < 0 {
		f.Seed = int64(len(runs))
	}
	if f.id, err = a.runID(ctx, db, f); err != nil {
		return p, err
	}
	p.run = &tournament.Run{ID: f.id, Skill: f.Skill, Seed: f.Seed}
	budget := f.budget(a.Now)
	if err := a.begin(ctx, p, budget); err != nil {
		return p, err
	}
	if err := a.gather(ctx, p, budget); err != nil {
		return p, p.over(ctx, err)
	}
	return p, p.over(ctx, a.fix(ctx, p, budget))
}

// gather harvests and mines, unless told not to, and reads the cases.
func (a *app) gather(ctx context.Context, p *prepared, budget *eval.Budget) error {
	f := p.f
	trial, err := a.openTrial(ctx, p.db, p.live, f.Evolve)
	if err != nil {
		return err
	}
	if f.reads() {
		if err := a.gatherSessions(ctx, p, budget, trial != nil); err != nil {
			return err
		}
	}
	if p.cases, err = p.db.Cases(ctx, f.Skill); err != nil {
		return err
	}
	// Before anything else is left out: what cannot be tried today may have taught.
	var copies int
	if p.cases, copies = tournament.Independent(p.cases); copies > 0 {
		p.heads = append(p.heads, tournament.Repeated(copies))
	}
	kept, notes, err := p.back.Usable(ctx, &f.Spec, ofPart(p.cases, f.Evolve))
	if err != nil {
		return err
	}
	p.cases, p.heads = kept, append(p.heads, notes...)
	f.Mined = budget.Spent()
	if trial == nil {
		return nil
	}
	return p.carry(ctx, trial)
}

// gatherSessions harvests, and mines cases for a harness. A dry run spends
// nothing: it forecasts on what is known.
func (a *app) gatherSessions(ctx context.Context, p *prepared, budget *eval.Budget, onTrial bool) error {
	f, h := p.f, &ingest.Report{}
	if !f.harvested {
		var err error
		if h, err = a.harvest(ctx, p.db, f.harvest); err != nil {
			return err
		}
	}
	asked := &pendingWatch{}
	var miner eval.Model
	if !f.dryRun {
		if err := a.announceMining(ctx, p); err != nil {
			return err
		}
		if s := budget.Spent(); s.MinerCalls > 0 {
			a.Say("goes on with run %s, which was interrupted: the %s that read corrections count, with %s tokens",
				p.run.ID, plain.Counted(int(s.MinerCalls), "call"), plain.Thousands(s.TokensIn+s.TokensOut))
		}
		reader := p.reader()
		limit := &failureLimit{Model: &eval.Metered{Model: reader, By: eval.ByMiner, Budget: budget, Redactor: a.redactor(),
			Recorder: p.journal(), Scope: p.run.ID, WallClock: f.WallClock}}
		asked.Model = limit
		miner = asked
		defer func() { p.notes = append(append(p.notes, reader.words()...), limit.words()...) }()
	}
	bar := a.Watch(term.Task{Phase: "mining", Unit: "calls", Count: func() int64 { return budget.Spent().MinerCalls }, Budget: budget, Caps: f.caps()})
	_, stats, err := a.mine(ctx, p.db, f.Skill, miner, f.harvest.headless, onTrial)
	bar.Done()
	if err == nil {
		err = asked.err() // their cases were made without a model meanwhile, and are made again
	}
	if err != nil {
		return fmt.Errorf("mine cases: %w", err)
	}
	uses, err := a.usesOf(ctx, p.db, f.Skill)
	if err != nil {
		return err
	}
	p.heads = append(p.heads, fmt.Sprintf("harvest: %d new sessions, %d uses of %s (%d corrected, %d accepted), %d new cases",
		h.Sessions, uses.Uses, f.Skill, uses.Corrected, uses.Accepted, stats.Cases))
	if n := len(h.Problems); n > 0 {
		p.heads = append(p.heads, fmt.Sprintf("harvest: %d places could not be read; `evolve harvest` lists them", n))
	}
	return nil
}

// carry lets the run go on with an undecided challenger, or says that it waits.
func (p *prepared) carry(ctx context.Context, trial *tournament.TrialRecord) error {
	f := p.f
	switch {
	case f.NoGate:
		return nil
	case f.anew:
		f.Standing = trial.Challenger
		p.heads = append(p.heads, fmt.Sprintf("challenger %.12s is undecided: its trial continues unless this run finds a better text", trial.Challenger))
		return nil
	}
	spent, err := p.db.Journal(p.run.ID).SpentCases(ctx, f.Skill, p.live.Doc.Hash())
	if err != nil {
		return err
	}
	held := slices.DeleteFunc(slices.Clone(p.cases), func(c eval.Case) bool { return c.Split != eval.Test })
	fresh, err := trial.Fresh(held, spent)
	if err != nil {
		return err
	}
	if fresh == 0 {
		copies, err := trial.Copies(held, spent)
		if err != nil {
			return err
		}
		if copies > 0 { // else the gate says so
			p.heads = append(p.heads, tournament.Repeated(copies))
		}
		return &waiting{*trial}
	}
	if d, err := trial.Evidence(); err != nil {
		return err
	} else if d.Cases > 0 && p.back.Agent.Identity().Simulated && !trial.Simulated {
		return problem.Inputf(fmt.Sprintf("choose a real agent with --agent, or `evolve --skill %s --anew` to search again", f.Skill),
			"challenger %.12s is on trial with a real model: a simulated agent cannot go on with that", trial.Challenger)
	}
	f.Carried, f.HeldOut = trial.Challenger, fresh
	p.heads = append(p.heads, fmt.Sprintf("challenger %.12s is still undecided: there are %s for its trial", trial.Challenger, plain.Counted(fresh, "fresh case")))
	return nil
}

// fix freezes what the run starts from, and builds its plan.
func (a *app) fix(ctx context.Context, p *prepared, budget *eval.Budget) error {
	f := p.f
	f.Incumbent = p.live.Doc.Render()
	f.Cases, f.Splits = map[string]string{}, map[string]string{}
	n := map[eval.Split]int{}
	for _, c := range p.cases {
		f.Cases[c.ID], f.Splits[c.ID] = caseHash(c), string(c.Split)
		n[c.Split]++
	}
	if f.Carried == "" && n[eval.Train] == 0 {
		return a.tooFew(ctx, p)
	}
	if f.Carried == "" {
		var notes []string
		var err error
		if f.Approved, f.Barred, notes, err = candidate.Seeds(ctx, p.db, p.live, f.Evolve); err != nil {
			return err
		}
		p.heads = append(p.heads, notes...)
	}
	if f.Carried == "" { // else carry has counted what its trial may still hear
		spent, err := p.db.Journal(p.run.ID).SpentCases(ctx, f.Skill, p.live.Doc.Hash())
		if err != nil {
			return err
		}
		f.HeldOut, f.Clusters = spent.Unspent(p.cases)
	}
	var err error
	if f.Rest, err = skill.RestHash(p.live.Dir); err != nil {
		return fmt.Errorf("read skill %s: %w", f.Skill, err)
	}
	raw, err := json.Marshal(f.runConfig)
	if err != nil {
		return fmt.Errorf("encode run: %w", err)
	}
	p.run.Config = raw
	return a.build(ctx, p, budget)
}

// tooFew ends a run that has too few cases to learn from: that is no failure,
// but it has to be said.
func (a *app) tooFew(ctx context.Context, p *prepared) error {
	for _, line := range p.heads {
		a.Say("%s", line)
	}
	a.Say("nothing to learn from yet: %d cases of %s, none of them for training; %s", len(p.cases), p.f.Skill, p.read())
	a.Say("next: use the skill and correct it where it is wrong, or bring cases with `evolve cases import FILE`")
	if a.JSON {
		res, err := a.unrun(ctx, p, "not enough cases", nil)
		if err == nil {
			err = a.PrintJSON(res)
		}
		if err != nil {
			return err
		}
	}
	return &quietExit{exitDone}
}

// build makes the plan of a run whose flags are complete.
func (a *app) build(ctx context.Context, p *prepared, budget *eval.Budget) error {
	f := p.f
	incumbent, err := variantOf(p.live)
	if err != nil {
		return err
	}
	det := a.redactor()
	p.plan = tournament.Plan{
		Run: p.run, Incumbent: incumbent, Cases: p.cases,
		Agent: p.back.Agent, Grader: p.back.Grader(&f.Spec, p.cases), Mutator: p.back.Mutator,
		Journal: p.journal(), Redact: det,
		Budget: budget, Caps: f.caps(), NoGate: f.NoGate, Gate: f.gate(), MaxRetries: f.MaxRetries, HeldOut: f.HeldOut, Objectives: f.Objectives,
		Concurrency: f.Concurrency, Workspaces: p.back.Workspaces(), PerSecond: f.PerSecond, WallClock: f.WallClock, Now: a.Now,
		Options: tournament.Options{Minibatch: f.Minibatch, Proposals: f.Proposals, Patience: f.Patience, Profile: f.Profile,
			Selector: tournament.Selectors[f.Select], Accept: tournament.Acceptances[f.Accept],
			Batch: tournament.Batches[f.Batch], Barred: f.Barred},
	}
	for _, sha := range f.Approved {
		c, err := candidate.MadeBy(ctx, p.db, f.Skill, sha)
		if err != nil {
			return err
		}
		p.plan.Options.Seeds = append(p.plan.Options.Seeds, *c)
	}
	if f.Standing != "" {
		c, err := candidate.MadeBy(ctx, p.db, f.Skill, f.Standing)
		if err != nil {
			return err
		}
		if len(c.Text) > 0 { // else purged: nothing is left to be better than
			p.plan.Options.Standing = c
		}
	}
	if f.Stop != "" {
		patience := f.Patience
		if patience == 0 {
			patience = tournament.DefaultPatience
		}
		p.plan.Options.Stop = tournament.Stops[f.Stop](patience)
	}
	if f.ByHand() {
		p.plan.Options.RaceChunk = len(p.cases) // one pass asks for all
	}
	if f.Evolve == skill.Shorten {
		p.plan.Options.Operators, p.plan.Options.Shorten = tournament.DeletionOnly, true
	}
	if f.Evolve == skill.Description {
		p.plan.Options.Operators = tournament.DescriptionOnly
		if p.plan.Others, err = a.others(f.Skill); err != nil {
			return err
		}
	}
	p.plan.Calibrate = func(ctx context.Context) (tournament.Calibration, error) {
		k := judge.New(p.db, p.run.ID, p.back.Judge, p.back.Redactor, budget, f.WallClock, f.Concurrency)
		return k.Calibrate(ctx, f.Skill, p.cases)
	}
	if f.Carried == "" {
		return nil
	}
	c, err := p.db.Candidate(ctx, f.Carried)
	if err != nil {
		return fmt.Errorf("read challenger %.12s: %w", f.Carried, err)
	}
	doc, err := skill.Parse(c.Text, p.live.Doc.Options())
	if err != nil {
		return fmt.Errorf("read challenger %.12s: %w", f.Carried, err)
	}
	v := incumbent
	v.Doc = doc
	p.plan.Carried = &v
	p.plan.CarriedOn, err = provedOn(ctx, p.db, f.Carried)
	return err
}
