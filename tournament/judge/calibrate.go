// Package judge measures how far a judge agrees with the skill's owner, and lists the pairs
// of answers for a blind review.
package judge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A Calibrator asks a judge about answers that the owner has labelled.
type Calibrator struct {
	db     *store.Store
	run    string // that pays
	budget *eval.Budget
	grader *eval.Checks // its judge is metered; nil: no judge is asked, and the records are used
	Judge  string       // identity of the run's own grader
	limit  int          // calls at a time
	// enough is how many labels it takes to trust a judge: with fewer of them
	// it is not asked, for no answer could make a difference.
	enough int
}

// New returns a Calibrator for the judge of a run. The run pays for its
// calls: at most limit at a time, each with the time limit wall.
func New(db *store.Store, run string, judge eval.Model, red eval.Redactor, budget *eval.Budget, wall time.Duration, limit int) *Calibrator {
	metered := &eval.Metered{Model: judge, By: eval.ByJudge, Budget: budget, Redactor: red, Recorder: db.Journal(run), Scope: run, WallClock: wall}
	return &Calibrator{db: db, run: run, budget: budget, grader: &eval.Checks{Judge: metered, Redactor: red},
		Judge: (&eval.Checks{Judge: judge}).Identity(), limit: max(1, limit), enough: record.TrustedLabels}
}

// Calibrate measures how well the judge agrees with the owner, once a run: a
// resumed run gets the recorded result, and is billed for the calls that it
// took. A cap that ends it is no error: the agreement on the labels so far is
// returned, and not recorded.
func (k *Calibrator) Calibrate(ctx context.Context, name string, cases []eval.Case) (record.Calibration, error) {
	replies, err := k.db.Recorded(ctx, k.run, eval.ByJudge)
	if err == nil {
		// This includes calls that would not be made again, because the
		// labels have changed.
		err = k.budget.ChargeRecorded(eval.ByJudge, replies)
	}
	if err != nil {
		return record.Calibration{}, err
	}
	old, err := k.db.Calibration(ctx, k.run)
	if err != nil {
		return record.Calibration{}, err
	}
	if old != nil {
		return *old, nil
	}
	if k, err = k.unlessExhausted(ctx, name, cases); err != nil {
		return record.Calibration{}, err
	}
	c, err := k.measure(ctx, name, cases)
	var limit *eval.BudgetError
	if errors.As(err, &limit) {
		c.Stop = limit.Error()
		return c, nil
	}
	if err != nil {
		return c, err
	}
	return c, k.db.SaveCalibration(ctx, k.run, c)
}

// triesInVain is how many runs in a row ask a judge about the same labels without a
// readable reply.
const triesInVain = 3

// unlessExhausted returns k, or a Calibrator that asks no judge if the last
// runs have asked the same judge and got no readable reply for as many labels
// as now. With new labels, or another judge, it returns k.
func (k *Calibrator) unlessExhausted(ctx context.Context, name string, cases []eval.Case) (*Calibrator, error) {
	last, err := k.db.LastCalibrations(ctx, name, triesInVain)
	if err != nil || len(last) < triesInVain {
		return k, err
	}
	known, err := OnRecord(ctx, k.db, name, cases, k.Judge)
	if err != nil {
		return k, err
	}
	for _, c := range last {
		if c.Judge != k.Judge || c.Labels != known.Labels || c.Missing != known.Missing {
			return k, nil
		}
	}
	return k.mute(), nil
}

// mute is k without a judge: it uses the records alone.
func (k *Calibrator) mute() *Calibrator {
	m := *k
	m.grader = nil
	return &m
}

// measure asks the judge about every labelled answer that no run has asked it
// about, and counts. If there are too few of them, it uses the records alone.
func (k *Calibrator) measure(ctx context.Context, name string, cases []eval.Case) (c record.Calibration, err error) {
	c.Judge = k.Judge
	sessions, err := k.db.Sessions(ctx, store.SessionFilter{Skill: name, Text: true})
	if err != nil {
		return c, err
	}
	recorded, err := k.db.Recordings(ctx, name)
	if err != nil {
		return c, err
	}
	labels := sessionLabels(cases, sessions, recorded)
	asks := make([]ask, len(labels))
	for i := range labels {
		asks[i] = ask{kase: &labels[i].kase, answer: labels[i].answer}
	}
	pairs, err := k.pairs(ctx, name, cases)
	if err != nil {
		return c, err
	}
	for _, p := range pairs {
		asks = append(asks, p.asks[:]...)
	}
	if len(labels)+len(pairs) < k.enough {
		k = k.mute()
	}
	err = k.askAll(ctx, asks)
	for i, p := range pairs {
		first, second := asks[len(labels)+2*i].said, asks[len(labels)+2*i+1].said
		switch {
		case first != nil && second != nil:
			prefer(&c.Labels, p.choice, first.Quality, second.Quality)
		case err == nil:
			c.Missing++
		}
	}
	for i, l := range labels {
		switch {
		case asks[i].said != nil:
			c.Labels.Add(l.pass, asks[i].said.Passed)
		case err == nil:
			c.Missing++
		}
	}
	return c, err
}

// A preferred is a pair of answers of which the owner likes one better.
type preferred struct {
	asks   [2]ask
	choice store.Choice
}

// pairs are the owner's newest preferences, at most maxOfAKind of them: each
// takes two calls. Pairs of answers that the owner finds equal are left out.
func (k *Calibrator) pairs(ctx context.Context, name string, cases []eval.Case) ([]preferred, error) {
	labels, err := k.db.Labels(ctx, name)
	if err != nil {
		return nil, err
	}
	byID := map[string]*eval.Case{}
	for i := range cases {
		byID[cases[i].ID] = &cases[i]
	}
	var out []preferred
	for _, l := range slices.Backward(labels) {
		c := byID[l.CaseID]
		if c == nil || l.Choice == store.Same || len(out) == MaxOfAKind {
			continue
		}
		probe := forJudge(*c)
		if len(probe.Checks) == 0 {
			continue
		}
		answers, err := k.db.Answers(ctx, l.CaseID)
		if err != nil {
			return nil, err
		}
		first, second := answerOf(answers, l.First), answerOf(answers, l.Second)
		if first == nil || second == nil {
			continue // their rollouts are gone
		}
		out = append(out, preferred{[2]ask{{kase: &probe, answer: first.Answer}, {kase: &probe, answer: second.Answer}}, l.Choice})
	}
	return out, nil
}

// An ask is one answer put to the judge. said is nil if it gave no readable
// reply.
type ask struct {
	kase   *eval.Case
	answer string
	said   *store.Judgement
}

// askAll fills in the judgements, some at a time; the first error ends it.
func (k *Calibrator) askAll(ctx context.Context, asks []ask) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var all sync.WaitGroup
	slots := make(chan struct{}, k.limit)
	for i := range asks {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		all.Go(func() {
			defer func() { <-slots }()
			if err := eval.Shielded(func() (err error) {
				asks[i].said, err = k.ask(ctx, asks[i].kase, asks[i].answer)
				return err
			}); err != nil {
				stop(err)
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// ask returns the recorded judgement of an answer, or asks the judge.
func (k *Calibrator) ask(ctx context.Context, c *eval.Case, answer string) (*store.Judgement, error) {
	key := k.key(c, answer)
	old, err := k.db.Judgement(ctx, key)
	if err != nil {
		return nil, err
	}
	if old != nil && old.Run != k.run || k.grader == nil {
		return old, nil
	}
	// The replies to this run's earlier questions come from its records, and
	// onto its bill.
	grade, err := k.grader.Grade(ctx, c, eval.Attempt{Answer: answer}, "")
	if err != nil {
		return nil, fmt.Errorf("judge a labelled answer of case %s: %w", c.ID, err)
	}
	if slices.ContainsFunc(grade.Checks, func(r eval.CheckResult) bool { return r.Missing }) {
		return nil, nil
	}
	said := store.Judgement{Key: key, Run: k.run, Skill: c.Skill, CaseID: c.ID, Quality: grade.Quality,
		Passed: !slices.ContainsFunc(grade.Checks, func(r eval.CheckResult) bool { return !r.Passed() })}
	return &said, k.db.SaveJudgement(ctx, said)
}

// key identifies a question to the judge: everything that can change its
// answer.
func (k *Calibrator) key(c *eval.Case, answer string) string {
	b, err := json.Marshal([]any{"judgement/1", k.Judge, c.Skill, c.ID, c.Prompt, c.Reference, c.Checks, answer})
	if err != nil {
		panic("evolve: key of a judgement: " + err.Error()) // a valid case can be marshalled
	}
	return skill.HashText(b)
}

// OnRecord measures how well a judge, by its grader's identity, agrees with
// the owner's labels as far as it was ever asked about them. Missing counts
// the others. No model is asked.
func OnRecord(ctx context.Context, db *store.Store, name string, cases []eval.Case, judge string) (record.Calibration, error) {
	return (&Calibrator{db: db, Judge: judge, limit: 1}).measure(ctx, name, cases)
}
