package campaign

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/casefile"
	"github.com/skill-evolve/evolve/eval/splits"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/install"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store/replies"
	"github.com/skill-evolve/evolve/tournament/applies"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/expect"
	"github.com/skill-evolve/evolve/tournament/judge"
	"github.com/skill-evolve/evolve/tournament/neighbours"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/search"
)

// freeze fixes the state from which the run starts, and builds its plan.
func (c *Campaign) freeze(ctx context.Context) error {
	f := &c.Config
	f.Incumbent = c.Live.Doc.Render()
	f.Cases, f.Splits = map[string]string{}, map[string]string{}
	n := map[eval.Split]int{}
	for _, k := range c.cases {
		f.Cases[k.ID], f.Splits[k.ID] = caseHash(k), string(k.Split)
		n[k.Split]++
	}
	if f.Carried == "" { // else continueTrial has counted the cases
		if n[eval.Train] == 0 {
			return &TooFewCasesError{}
		}
		var notes []string
		var err error
		if f.Approved, f.Barred, notes, err = candidate.Seeds(ctx, c.db, c.Live, f.Evolve); err != nil {
			return err
		}
		c.found = append(c.found, notes...)
		for _, sha := range slices.Clone(f.Approved) {
			left, err := c.runner.Learned(ctx, c.db, c.back, agent.Requests, f.Skill, sha)
			if err != nil {
				return err
			}
			if len(left) > 0 {
				f.Approved = slices.DeleteFunc(f.Approved, func(a string) bool { return a == sha })
				c.found = append(c.found, fmt.Sprintf("approved candidate %.12s is left out, because it learned from some: %s", sha, left.Lines()[0]))
			}
		}
		spent, err := c.db.Journal(c.run.ID).SpentCases(ctx, f.Skill)
		if err != nil {
			return err
		}
		uses, err := expect.Uses(ctx, c.db, f.Skill, c.cases)
		if err != nil {
			return err
		}
		f.HeldOut, f.Clusters = spent.Unspent(c.cases, uses)
		if f.Evolve == skill.Harness {
			st, err := ingest.SplitState(ctx, c.db, c.runner.Layout, f.Skill)
			if err != nil {
				return err
			}
			if l := st.Lack(c.cases); l != (splits.Lack{}) {
				found := fmt.Sprintf("few cases: a night would wait for %v; this search begins at your word, and may find nothing better", l)
				if f.HeldOut == 0 && !f.NoGate {
					found += ". No unseen request is left: its trial begins with your next sessions"
				}
				c.found = append(c.found, found)
			}
		}
	}
	err := c.findNeighbours(ctx)
	if err != nil {
		return err
	}
	if f.Beside = min(neighbours.Takes(c.beside), max(0, f.MaxRollouts/4)); f.MaxRollouts == FromCases {
		f.Beside = neighbours.Takes(c.beside)
		f.MaxRollouts = search.Enough(n[eval.Val], f.HeldOut, f.MaxRetries, !f.NoGate) + f.Beside
		c.budget.Limit(f.MaxRollouts)
	}
	if f.Steps, err = candidate.Steps(ctx, c.db, c.Live); err != nil {
		return err
	}
	incumbent, err := VariantOf(c.Live)
	if err != nil {
		return err
	}
	f.Rest = incumbent.Rest
	raw, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("encode run: %w", err)
	}
	c.run.Config = raw
	return c.build(ctx)
}

// build makes the plan of a run whose configuration is complete.
func (c *Campaign) build(ctx context.Context) error {
	f := &c.Config
	incumbent, err := VariantOf(c.Live)
	if err != nil {
		return err
	}
	c.plan = f.rollouts(c.back, c.cases, c.runner.Now)
	p := &c.plan
	p.Run, p.Incumbent, p.Cases = c.run, incumbent, c.cases
	p.Mutator, p.Journal = c.back.Mutator, c.journal()
	p.Second, p.SecondBy = c.back.Second()
	p.Elsewhere = func(ctx context.Context, key string) (*eval.Completion, error) { return replies.To(ctx, c.db, key) }
	if p.Uses, err = expect.Uses(ctx, c.db, f.Skill, c.cases); err != nil {
		return err
	}
	if err := c.onTrial(ctx, p.Uses); err != nil {
		return err
	}
	p.Reader = applies.To(f.Skill, &eval.Metered{Model: c.back.Miner, By: eval.ByMiner, Budget: c.budget, Redactor: c.back.Redactor,
		Recorder: c.journal(), Scope: c.run.ID, WallClock: f.WallClock}, c.db, c.back.Redactor)
	if p.SearchAgent = c.back.Search; p.SearchAgent != nil {
		p.SearchPrice, p.Failures = f.Price(f.SearchModel), record.FailuresOf(p.Uses)
	}
	p.Budget, p.Caps, p.NoGate, p.Gate, p.HeldOut, p.Objectives = c.budget, f.Caps(), f.NoGate, f.gate(), f.HeldOut, f.Objectives
	p.Options = search.Options{Minibatch: f.Minibatch, Proposals: f.Proposals, Patience: f.Patience, Profile: f.Profile,
		Selector: search.Selectors[f.Select], Accept: search.Acceptances[f.Accept],
		Batch: search.Batches[f.Batch], Excluded: f.Barred}
	for _, sha := range f.Approved {
		seed, why, err := candidate.Seed(ctx, c.db, c.Live, sha)
		if err != nil {
			return err
		}
		if seed == nil {
			return fmt.Errorf("read candidate %.12s: %s", sha, why)
		}
		p.Options.Seeds = append(p.Options.Seeds, *seed)
	}
	if f.Standing != "" {
		standing, err := c.with(ctx, f.Standing)
		if err != nil {
			return err
		}
		if len(standing.Text) > 0 { // else purged: nothing is left to be better than
			p.Options.Standing = standing
		}
	}
	if f.Stop != "" {
		p.Options.Stop = search.Stops[f.Stop](cmp.Or(f.Patience, search.DefaultPatience))
	}
	if f.ByHand() {
		p.Options.RaceChunk = len(c.cases) // one pass asks for all
	}
	if f.Evolve == skill.Shorten {
		p.Options.Moves, p.Options.Shorten = search.DeletionOnly, true
	}
	if f.Evolve == skill.Description {
		p.Options.Moves = search.DescriptionOnly
	}
	if p.Others, err = c.back.Others(c.runner.Layout, f.Skill, f.Evolve == skill.Description); err != nil {
		return err
	}
	p.Reserve, p.Beside = f.Beside, (&neighbours.Trial{Neighbours: c.beside, Old: incumbent, Evaluator: func(cases []eval.Case) *eval.Evaluator {
		ev := f.Evaluator(c.back, cases, c.budget, c.runner.Now)
		ev.MaxRetries, ev.Recorder, ev.OnRollout = 0, c.journal(), p.OnRollout
		return ev
	}}).Try
	k := judge.New(c.db, c.run.ID, c.back.Judge, c.back.Redactor, c.budget, f.WallClock, f.Concurrency)
	p.Compare = k.Replays
	p.Calibrate = func(ctx context.Context) (record.Calibration, error) {
		if known, err := c.db.Calibration(ctx, c.run.ID); err != nil {
			return record.Calibration{}, err
		} else if review := c.runner.Review; review != nil && known == nil { // else the run has its answer
			if err := review(ctx, c.db, f.Skill); err != nil {
				return record.Calibration{}, err
			}
		}
		return k.Calibrate(ctx, f.Skill, c.cases)
	}
	if f.Carried == "" {
		return nil
	}
	carried, err := c.with(ctx, f.Carried)
	if err != nil {
		return err
	}
	doc, err := skill.Parse(carried.Text, c.Live.Doc.Options())
	if err != nil {
		return fmt.Errorf("read new text %.12s: %w", f.Carried, err)
	}
	v := incumbent.With(doc)
	p.Carried = &v
	if f.Base != "" {
		p.Trial, p.With = &record.Change{Base: f.Base, Challenger: f.Carried}, carried
	}
	if f.Given != nil {
		p.With, p.ReadFirst, p.Gate.Failures = carried, f.ReadFirst, record.FailuresOf(p.Uses)
	}
	p.CarriedOn, err = candidate.ProvedOn(ctx, c.db, f.Carried)
	return err
}

// with is the incumbent with the change of a challenger.
func (c *Campaign) with(ctx context.Context, challenger string) (*record.Candidate, error) {
	if c.Config.Given != nil {
		given, _, err := candidate.Given(ctx, c.db, c.Live, c.Config.Given)
		return given, err
	}
	if c.Config.Base == "" {
		return candidate.MadeBy(ctx, c.db, c.Config.Skill, challenger)
	}
	with, why, err := candidate.Apply(ctx, c.db, c.Live, c.Config.Base, challenger)
	if err == nil && with == nil {
		err = fmt.Errorf("read new text %.12s: %s", challenger, why)
	}
	return with, err
}

// onTrial notes which text was in place on trial at the time of each use.
func (c *Campaign) onTrial(ctx context.Context, uses []record.Use) error {
	home, err := c.Live.Home()
	if err != nil {
		return err
	}
	there, err := release.TimelineOf(ctx, c.db, c.Live.Name, home, true)
	for i := range uses {
		uses[i].OnTrial = there.OnTrial(uses[i].Time)
	}
	return err
}

// caseHash detects an edit of a case between a run and its resumption.
func caseHash(c eval.Case) string {
	var b strings.Builder
	if err := casefile.WriteLines(&b, []eval.Case{c}); err != nil {
		return "" // an invalid case was refused before it was stored
	}
	return skill.HashText([]byte(b.String()))
}

// VariantOf is the live skill as an agent sees it.
func VariantOf(l *skill.Live) (eval.Variant, error) {
	if root, below := subject.Parse(l.Name).Place(); below != "" {
		if root == "~" {
			below = "~/" + below
		}
		return eval.Variant{Name: l.Name, Doc: l.Doc, Path: below}, nil
	}
	rest, err := install.RestHash(l.Dir)
	if err != nil {
		return eval.Variant{}, fmt.Errorf("read skill %s: %w", l.Name, err)
	}
	return eval.Variant{Name: l.Name, Doc: l.Doc, Dir: l.Dir, Rest: rest}, nil
}

// casesOf are the cases for a change of that part: trigger cases for a
// description, the others for a harness.
func casesOf(cases []eval.Case, evolves string) []eval.Case {
	ordinary, triggers := eval.SeparateTriggers(cases)
	if evolves == skill.Description {
		return triggers
	}
	return ordinary
}
