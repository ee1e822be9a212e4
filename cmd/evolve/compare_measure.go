package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/report"
	"golang.org/x/time/rate"
)

// measure runs both arms. A *eval.BudgetError comes with what was measured.
func (a *app) measure(ctx context.Context, c *comparison) error {
	back, err := c.open(ctx, a)
	if err != nil {
		return err
	}
	defer back.Close() // folders for temporary files; what stays behind does no harm
	if err := c.settle(back); err != nil {
		return err
	}
	kept, notes, err := back.Usable(ctx, &c.Spec, ofPart(c.cases, c.Evolve))
	if err != nil {
		return err
	}
	c.cases, c.out.Warnings = kept, append(c.out.Warnings, notes...)
	if len(c.cases) == 0 {
		return problem.Inputf("`evolve cases list` shows them", "none of the cases can be tried: %s", strings.Join(notes, "; "))
	}
	var others []eval.Offer
	if c.Evolve == skill.Description {
		if others, err = a.others(c.texts.Live.Name); err != nil {
			return err
		}
	}
	if c.nameJudge(back); c.cut() {
		c.out.Warnings = append(c.out.Warnings, fmt.Sprintf("--max-rollouts %d affords %d of the cases, drawn by --seed", c.MaxRollouts, len(c.cases)))
	}
	fc := c.forecast()
	a.Say("%s", fc)
	if c.dryRun {
		if a.JSON {
			return a.PrintJSON(fc)
		}
		return nil
	}
	if fc.CostUSD != nil && *fc.CostUSD > a.confirmOver(c.confirmOver) && !c.yes && term.IsTerminal(a.Stdin) {
		ok, err := a.Confirm(fmt.Sprintf("Spend up to about %s?", eval.FormatUSD(*fc.CostUSD)))
		if err != nil {
			return err
		}
		if !ok {
			return &problem.Error{Kind: problem.Stopped, Err: errors.New("nothing was spent"), Hint: "lower --max-rollouts, or say --yes"}
		}
	}
	base, err := variantOf(c.texts.Live)
	if err != nil {
		return err
	}
	variant := func(t *candidate.Text) eval.Variant {
		if t.Doc == nil {
			return eval.Variant{Name: base.Name}
		}
		v := base
		v.Doc = t.Doc
		return v
	}
	arm := "compare:" + first16(c.a.SHA()) + ":" + first16(c.b.SHA())
	from, err := c.firstTrial(ctx, arm)
	if err != nil {
		return err
	}
	var jobs []eval.Job
	for trial := from; trial < from+c.trials; trial++ {
		for i := range c.cases {
			jobs = append(jobs, tournament.Adjacent(variant(c.a), variant(c.b), &c.cases[i], arm, trial, c.Seed)...)
		}
	}
	began := a.Now()
	budget := c.budget(a.Now)
	det := a.redactor()
	bar := a.Watch(term.Task{Phase: "compare", Unit: "rollouts", Total: int64(len(jobs)), Budget: budget, Caps: c.caps()})
	ev := &eval.Evaluator{Agent: back.Agent, Grader: back.Grader(&c.Spec, c.cases), Budget: budget,
		Recorder: c.texts.Store.Journal("compare-" + newRunID(a.Now())), Redactor: det, Concurrency: c.Concurrency, Workspaces: back.Workspaces(), Others: others,
		WallClock: c.WallClock, MaxRetries: c.MaxRetries, Now: a.Now, OnRollout: bar.Rollout}
	if c.PerSecond > 0 {
		ev.Limiter = rate.NewLimiter(rate.Limit(c.PerSecond), 1)
	}
	rollouts, err := ev.Run(ctx, jobs)
	bar.Done()
	var limit *eval.BudgetError
	if err != nil && !errors.As(err, &limit) {
		return c.interrupted(ctx, a, err)
	}
	reused := 0
	var sides [2][]*eval.Rollout
	for _, r := range rollouts {
		if r == nil {
			continue
		}
		if r.Started.Before(began) {
			reused++
		}
		side := 1
		if r.Candidate == c.a.SHA() {
			side = 0
		}
		sides[side] = append(sides[side], r)
	}
	if reused > 0 {
		a.Say("%d of %d rollouts are from an earlier comparison of the same two; --again measures anew", reused, len(jobs))
	}
	c.out.Warnings = append(c.out.Warnings, budget.Warnings()...)
	pairs, dropped := report.Pair(c.cases, sides[0], sides[1])
	c.out.Compare(pairs, dropped)
	took := budget.Spent()
	c.out.Spent = &took
	a.Say("spent: %s", spent(took))
	return err
}
