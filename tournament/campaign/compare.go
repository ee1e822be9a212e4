package campaign

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/caps"
	"github.com/skill-evolve/evolve/tournament/gate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/report"
)

// CompareOptions select what a comparison measures.
type CompareOptions struct {
	Split  string // of the cases: test, val, train or all
	Trials int    // rollouts of each case with each text
	Again  bool   // measure anew instead of using an earlier comparison of the same two

	// For a night: the cases, nil for those of Split; the part of the
	// measurement's name besides the texts; and the budget and the journal.
	Cases    []eval.Case
	Key      string
	Budget   *eval.Budget
	Recorder eval.Recorder
}

// A Comparison is a prepared comparison of two texts of a skill.
type Comparison struct {
	Report *report.Comparison

	runner  *Runner
	config  Config
	options CompareOptions
	texts   *candidate.Texts
	a, b    *candidate.Text
	cases   []eval.Case
	back    *agent.Backends // nil before Plan
	held    caps.Held       // caps that its owner has not chosen
	others  []eval.Offer
}

// Compare finds two texts of a skill by their names, see candidate.Texts, and the cases
// to compare them on. Without names these are the live text and the challenger.
func (r *Runner) Compare(ctx context.Context, s *candidate.Texts, names []string, f Config, o CompareOptions) (*Comparison, error) {
	name := s.Skill
	if s.Live == nil {
		return nil, problem.Inputf("install it first: agents are offered its other files too", "%s is not installed any more", name)
	}
	if len(names) == 0 {
		if t, err := s.Challenger(ctx); err != nil {
			return nil, err
		} else if t == nil {
			names = []string{eval.NoSkill}
		}
	}
	old, new, err := s.Pair(ctx, names)
	if err != nil {
		return nil, err
	}
	if new.Doc == nil {
		old, new = new, old
	}
	if old.SHA() == new.SHA() {
		return nil, problem.Inputf("`evolve log "+name+"` lists what there is", "%s and %s are the same text", old.Label, new.Label)
	}
	c := &Comparison{runner: r, config: f, options: o, texts: s, a: old, b: new}
	c.cases = o.Cases
	var all []eval.Case
	if o.Cases == nil {
		if all, err = s.Store.Cases(ctx, name); err != nil {
			return nil, err
		}
	}
	for _, k := range all {
		if (o.Split == "all" || string(k.Split) == o.Split) && k.IsTrigger() == (f.Evolve == skill.Description) {
			c.cases = append(c.cases, k)
		}
	}
	if len(c.cases) == 0 {
		return nil, problem.Inputf(fmt.Sprintf("`evolve harvest --skill %s` brings cases, or --split all", name), "%s has no %s cases", name, o.Split)
	}
	c.Report = &report.Comparison{Skill: name, Split: o.Split, MaxRetries: f.MaxRetries,
		A: report.Arm{Label: strings.TrimPrefix(old.Label, name+" "), SHA: old.SHA(), Tokens: old.Doc.Tokens()},
		B: report.Arm{Label: strings.TrimPrefix(new.Label, name+" "), SHA: new.SHA(), Tokens: new.Doc.Tokens()}}
	if old.Doc != nil && new.Doc != nil {
		if c.Report.Diff, err = report.Between(c.Report.A.Label, c.Report.B.Label, old.Doc, new.Doc); err != nil {
			return nil, err
		}
	}
	unproven := func(t *candidate.Text) bool { return t.Doc != nil && t.Version == nil }
	if o.Split != "train" && o.Split != "val" && (unproven(old) || unproven(new)) {
		c.Report.Warnings = append(c.Report.Warnings, "no search has seen these requests: choose no candidate by them, or a trial on them is worth less")
	}
	return c, nil
}

// Plan opens the agents, leaves out the cases that cannot be tried or that
// the cap on rollouts does not cover, and forecasts the cost. The Comparison
// must be closed.
func (c *Comparison) Plan(ctx context.Context) (fc *CompareForecast, err error) {
	if c.back, err = c.runner.Backends(ctx, &c.config.Spec); err != nil {
		return nil, err
	}
	if err := c.config.Settle(c.back); err != nil {
		return nil, err
	}
	if err = c.hold(ctx); err != nil {
		return nil, err
	}
	kept, notes, err := c.back.Usable(ctx, &c.config.Spec, casesOf(c.cases, c.config.Evolve))
	if err != nil {
		return nil, err
	}
	if len(kept) == 0 {
		return nil, problem.Inputf("`evolve cases list` shows them", "none of the cases can be tried: %s", strings.Join(notes, "; "))
	}
	kinds := []string{agent.Replay}
	if _, judged := sizes(kept); judged > 0 {
		kinds = append(kinds, agent.Judge)
	}
	var left outgoing.Left
	if c.cases, left, err = c.runner.Control.Clear(ctx, c.texts.Store, c.back, kinds, kept); err != nil {
		return nil, err
	}
	for _, t := range []*candidate.Text{c.a, c.b} {
		held, err := c.runner.Learned(ctx, c.texts.Store, c.back, kinds, c.texts.Skill, t.SHA())
		if err != nil {
			return nil, err
		}
		if len(held) > 0 {
			return nil, held.Taught(t.Label, "compare another text")
		}
	}
	c.Report.Warnings = append(append(append(c.Report.Warnings, notes...), left.Lines()...), c.back.Lacks(c.cases)...)
	if c.others, err = c.back.Others(c.runner.Layout, c.texts.Live.Name, c.config.Evolve == skill.Description); err != nil {
		return nil, err
	}
	if c.nameJudge(); c.options.Budget == nil && c.cut() {
		c.Report.Warnings = append(c.Report.Warnings, fmt.Sprintf("--max-rollouts %d affords %d of the cases, drawn by --seed", c.config.MaxRollouts, len(c.cases)))
	}
	if fc, err = c.plan(ctx); err != nil {
		return nil, err
	}
	larger := (max(c.Report.A.Tokens, c.Report.B.Tokens) + c.config.OwnerTokens) * bytesAToken
	fc.Sends, err = c.runner.Control.Forecast(ctx, c.texts.Store, c.back, c.cases, requestBytes(larger, c.cases, fc.AtMost, c.config.Agent))
	return fc, err
}

// Close releases what Plan opened.
func (c *Comparison) Close() { _ = c.back.Close() } // what stays behind does no harm

// Measure runs both arms. Errors: *eval.BudgetError, with which the Report holds what was
// measured; *StoppedError.
func (c *Comparison) Measure(ctx context.Context) error {
	base, err := VariantOf(c.texts.Live)
	if err != nil {
		return err
	}
	variant := func(t *candidate.Text) eval.Variant { return base.With(t.Doc) }
	arm := gate.Arm("compare", c.a.SHA(), c.b.SHA()) + c.options.Key
	from, err := c.firstTrial(ctx, arm)
	if err != nil {
		return err
	}
	var jobs []eval.Job
	for trial := from; trial < from+c.options.Trials; trial++ {
		for i := range c.cases {
			jobs = append(jobs, gate.Adjacent(variant(c.a), variant(c.b), &c.cases[i], arm, trial, c.config.Seed)...)
		}
	}
	now := c.runner.Now
	began, id := now(), "compare-"+record.NewID(now())
	budget := c.options.Budget
	if budget == nil {
		budget = c.config.Budget(now)
	}
	ev := c.config.Evaluator(c.back, c.cases, budget, now)
	ev.Recorder, ev.Others = c.options.Recorder, c.others
	done := func() {}
	if ev.Recorder == nil {
		ev.Recorder = c.texts.Store.Journal(id)
		view := c.runner.Watch(report.Task{Phase: "compare", Unit: "rollouts", Total: int64(len(jobs)), Budget: budget, Caps: c.config.Caps()})
		ev.OnRollout, done = view.Rollout, view.Done
	}
	rollouts, err := ev.Run(ctx, jobs)
	done()
	var limit *eval.BudgetError
	if err != nil && !errors.As(err, &limit) {
		return &StoppedError{id, err}
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
	if reused > 0 && c.options.Recorder == nil {
		c.runner.Say("%d of %d rollouts are from an earlier comparison of the same two; --again measures anew", reused, len(jobs))
	}
	c.Report.Warnings = append(c.Report.Warnings, budget.Warnings()...)
	pairs, dropped := report.Pair(c.cases, sides[0], sides[1])
	c.Report.Compare(pairs, dropped)
	took := budget.Spent()
	c.Report.Spent = &took
	return err
}

// FromRecords pairs stored rollouts: both arms measured by one agent, for one
// purpose, on one case. The agent with the most pairs counts; mixing two would
// compare agents.
func (c *Comparison) FromRecords(ctx context.Context) error {
	type group struct {
		agent eval.Identity
		arm   string
	}
	sides := map[group]*[2][]*eval.Rollout{}
	var order []group
	for side, t := range []*candidate.Text{c.a, c.b} {
		rs, err := c.texts.Store.Rollouts(ctx, store.RolloutFilter{Candidate: t.SHA()})
		if err != nil {
			return err
		}
		for i := range rs {
			g := group{rs[i].Agent, rs[i].Arm}
			if sides[g] == nil {
				sides[g] = &[2][]*eval.Rollout{}
				order = append(order, g)
			}
			sides[g][side] = append(sides[g][side], &rs[i])
		}
	}
	sort.Slice(order, func(i, j int) bool { return order[i].arm < order[j].arm })
	merged := map[eval.Identity]*[2][]*eval.Rollout{}
	count := map[eval.Identity]int{}
	var best eval.Identity
	for n, g := range order {
		if merged[g.agent] == nil {
			merged[g.agent] = &[2][]*eval.Rollout{}
		}
		for side, rs := range sides[g] {
			for _, r := range rs {
				again := *r // another purpose is another trial
				again.Trial = n<<16 | r.Trial&0xffff
				merged[g.agent][side] = append(merged[g.agent][side], &again)
			}
		}
		pairs, _ := report.Pair(c.cases, sides[g][0], sides[g][1])
		if count[g.agent] += len(pairs); count[g.agent] > count[best] {
			best = g.agent
		}
	}
	if count[best] == 0 {
		return problem.Inputf("drop --recorded to run both texts", "no stored rollouts have %s and %s on the same %s cases", c.a.Label, c.b.Label, c.options.Split)
	}
	if len(count) > 1 {
		c.Report.Warnings = append(c.Report.Warnings, "several agents have measured these; the one with the most pairs is shown")
	}
	pairs, _ := report.Pair(c.cases, merged[best][0], merged[best][1])
	c.Report.Compare(pairs, 0) // a case that only one arm was tried on is not missing
	return nil
}

// nameJudge names the judge in the report if a check asks for one.
func (c *Comparison) nameJudge() {
	if _, judged := sizes(c.cases); judged > 0 {
		id := c.back.Judge.Identity()
		c.Report.Judge = id.Backend + "/" + id.Model
	}
}

// cut drops cases until both arms, with every retry, fit the cap; it reports
// whether it did. The seed determines which cases stay.
func (c *Comparison) cut() bool {
	each := int64(2 * c.options.Trials * (1 + c.config.MaxRetries))
	limit := c.config.Caps().Rollouts
	if limit == 0 || int64(len(c.cases))*each <= limit {
		return false
	}
	n := max(1, int(limit/each))
	var kept []eval.Case
	for _, i := range rand.New(rand.NewPCG(uint64(c.config.Seed), 0x636f6d70)).Perm(len(c.cases))[:n] {
		kept = append(kept, c.cases[i])
	}
	sort.Slice(kept, func(i, j int) bool { return kept[i].ID < kept[j].ID })
	c.cases = kept
	return true
}

// firstTrial is the number of the first trial: 0, or with --again the next
// unused one.
func (c *Comparison) firstTrial(ctx context.Context, arm string) (int, error) {
	if !c.options.Again {
		return 0, nil
	}
	rs, err := c.texts.Store.Rollouts(ctx, store.RolloutFilter{Arm: &arm})
	if err != nil {
		return 0, err
	}
	next := 0
	for i := range rs {
		next = max(next, rs[i].Trial+1)
	}
	return next, nil
}
