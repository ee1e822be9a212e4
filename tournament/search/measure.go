package search

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate"
)

// measureTrain makes sure that m has been tried at least trial+1 times on the
// train cases at idx.
func (s *State) measureTrain(ctx context.Context, m *Member, idx []int, trial int) error {
	return s.measure(ctx, []wanted{{m, s.Cases.Train, m.train, idx}}, trial)
}

// measureVal is measureTrain for validation; it keeps the fronts up to date.
func (s *State) measureVal(ctx context.Context, m *Member, idx []int, trial int) error {
	return s.measureAll(ctx, []*Member{m}, idx, trial)
}

// measureAll is measureVal for several members, whose rollouts run at once.
func (s *State) measureAll(ctx context.Context, ms []*Member, idx []int, trial int) error {
	want := make([]wanted, len(ms))
	for k, m := range ms {
		want[k] = wanted{m, s.Cases.Val, m.val, idx}
	}
	err := s.measure(ctx, want, trial)
	for _, m := range ms {
		at := s.pool.index(m)
		for _, i := range idx {
			if q := m.val[i].mean(); !math.IsNaN(q) {
				s.pool.fronts.Set(at, i, q)
			}
		}
	}
	return err
}

// A wanted is a member with cases to try it on.
type wanted struct {
	of    *Member
	cases []eval.Case
	known []attempts // parallel to cases
	idx   []int      // into cases
}

// measure runs the missing rollouts, in the order of want. If the cap on
// rollouts leaves too little, it runs as many as fit, always the first ones:
// which cases a run affords must not depend on which worker was faster.
//
// Nothing else of a search runs rollouts, and every rollout of measure counts
// as tried, whatever its result: without an error, each member has more than trial
// rollouts of each of its cases. A loop that ends when nothing is left to try
// therefore ends.
func (s *State) measure(ctx context.Context, want []wanted, trial int) error {
	if err := ctx.Err(); err != nil {
		return err // even if everything is recorded, and nothing would be asked
	}
	var (
		jobs []eval.Job
		at   []*attempts // of each job
	)
	for _, w := range want {
		for _, i := range w.idx {
			if due, ok := s.flying[&w.known[i]]; ok { // in another lane, whose turn is before
				if err := s.turns.Wait(due+1-s.turns.Now(), func() error { return nil }); err != nil {
					return err
				}
				return s.measure(ctx, want, trial)
			}
			if w.known[i].trials() <= trial {
				jobs = append(jobs, eval.Job{Variant: w.of.Variant, Case: &w.cases[i], Trial: trial})
				at = append(at, &w.known[i])
			}
		}
	}
	short := false
	if rest := s.rest(); rest != 0 && int64(len(jobs)) > rest {
		jobs, short = jobs[:max(0, rest)], true
	}
	if len(jobs) == 0 {
		if short {
			return errRollouts
		}
		return nil
	}
	rollouts, err := s.run(ctx, jobs, at)
	for k, r := range rollouts {
		if r != nil {
			at[k].add(r)
		} else if err == nil {
			err = fmt.Errorf("measure case %s: no rollout", jobs[k].Case.ID)
		}
	}
	var cap *eval.BudgetError
	switch {
	case errors.As(err, &cap):
		return &errDone{reason: cap.Error(), cap: cap.Cap}
	case err != nil:
		return err
	case short:
		return errRollouts
	}
	return nil
}

// learnFeedback adds a rollout's feedback to the run's corpus.
func (s *State) learnFeedback(r *eval.Rollout) {
	for _, f := range mutate.FeedbackOf(r) {
		if !s.inCorpus[f] {
			s.inCorpus[f] = true
			s.corpus = append(s.corpus, f)
		}
	}
}

// qualities lists m's mean quality on train cases, NaN if unknown.
func qualities(known []attempts, idx []int) []float64 {
	out := make([]float64, len(idx))
	for k, i := range idx {
		out[k] = known[i].mean()
	}
	return out
}
