package tournament

import (
	"context"
	"math"
	"slices"

	"github.com/skill-evolve/evolve/eval"
)

// deletionSlack is how much a deletion may seem to lose on validation and still
// replace the best: shorter texts are cheaper in every later session, and one
// validation pass cannot resolve a hundredth.
const deletionSlack = 0.01

// race validates m against the best in stages: the cases that tell most come
// first, and it stops as soon as m cannot catch up any more. A member that was
// stopped stays a parent for the cases that it leads on, but cannot win.
func (s *search) race(ctx context.Context, m *member, deletion bool) error {
	best := s.pool.members[s.best]
	order := s.informative(best)
	slack := 0.0
	if deletion {
		slack = deletionSlack * float64(len(order))
	}
	chunk := max(8, s.Evaluator.Concurrency)
	for at := 0; at < len(order); at += chunk {
		end := min(at+chunk, len(order))
		if err := s.measureVal(ctx, m, order[at:end], 0); err != nil {
			return err
		}
		// Even with every remaining case solved the sum of differences would
		// not turn positive: m is dominated on average.
		sum := 0.0
		for k, i := range order {
			had := best.val[i].mean()
			if math.IsNaN(had) {
				continue
			}
			if k < end {
				if d := m.val[i].mean() - had; !math.IsNaN(d) {
					sum += d
				}
			} else {
				sum += 1 - had
			}
		}
		if end < len(order) && sum <= -slack {
			return s.emit(ctx, "dominated", map[string]any{"sha256": m.SHA, "cases": end, "of": len(order)})
		}
	}
	m.full = true
	mine, _ := m.meanVal()
	his, _ := best.meanVal()
	delta := s.paired(m, best)
	if delta > 1e-9 || deletion && delta >= -deletionSlack && m.tokens < best.tokens ||
		math.Abs(delta) <= 1e-9 && m.tokens < best.tokens {
		s.best = s.pool.index(m)
	}
	return s.emit(ctx, "validated", map[string]any{"sha256": m.SHA, "operator": m.Operator, "quality": mine, "against": his,
		"gain": delta, "best": s.pool.members[s.best].SHA, "tokens": m.tokens})
}

// paired is the mean difference of a to b over the validation cases that both
// have a score on.
func (s *search) paired(a, b *member) float64 {
	sum, n := 0.0, 0
	for i := range s.cases.Val {
		if d := a.val[i].mean() - b.val[i].mean(); !math.IsNaN(d) {
			sum, n = sum+d, n+1
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

// informative orders the validation cases: those that the best does worst on
// first, since only there can a child gain; equals by how much the pool
// disagrees on them.
func (s *search) informative(best *member) []int {
	spread := make([]float64, len(s.cases.Val))
	for i := range spread {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, m := range s.pool.members {
			if q := m.val[i].mean(); !math.IsNaN(q) {
				lo, hi = min(lo, q), max(hi, q)
			}
		}
		spread[i] = hi - lo
	}
	order := s.rng.Perm(len(s.cases.Val))
	slices.SortStableFunc(order, func(a, b int) int {
		if qa, qb := best.val[a].mean(), best.val[b].mean(); qa != qb && !math.IsNaN(qa) && !math.IsNaN(qb) {
			if qa < qb {
				return -1
			}
			return 1
		}
		switch {
		case spread[a] > spread[b]:
			return -1
		case spread[a] < spread[b]:
			return 1
		}
		return 0
	})
	return order
}

// maxFinalists and maxTrials bound what is spent on telling the best apart.
const (
	maxFinalists = 3
	maxTrials    = 3
)

// finals repeats the validation of the leaders with what the budget leaves:
// the best of many noisy means is too good to be true, and fresh trials take
// that back. It always returns *errDone or what went wrong.
func (s *search) finals(ctx context.Context, reason string) error {
	rest := s.Evaluator.Budget.Remaining().Rollouts
	done := &errDone{reason, reason == "the rollout budget is used up"}
	for trial := 1; trial < maxTrials && s.best != 0; trial++ {
		leaders := s.leaders()
		if len(leaders) < 2 {
			break
		}
		for _, m := range leaders {
			if rest = s.Evaluator.Budget.Remaining().Rollouts; rest < 0 || rest > 0 && rest < int64(len(s.cases.Val)) {
				return done
			}
			if err := s.measureVal(ctx, m, all(len(s.cases.Val)), trial); err != nil {
				return err
			}
		}
		slices.SortStableFunc(leaders, func(a, b *member) int {
			switch d := s.paired(a, b); {
			case d > 1e-9 || math.Abs(d) <= 1e-9 && a.tokens < b.tokens:
				return -1
			case d < -1e-9:
				return 1
			}
			return 0
		})
		s.best = s.pool.index(leaders[0])
		q, _ := leaders[0].meanVal()
		if err := s.emit(ctx, "finals", map[string]any{"trial": trial + 1, "finalists": len(leaders), "best": leaders[0].SHA, "quality": q}); err != nil {
			return err
		}
	}
	return done
}

// leaders are the fully validated members that the best is not clearly ahead of,
// the best first.
func (s *search) leaders() []*member {
	best := s.pool.members[s.best]
	out := []*member{best}
	var rest []*member
	for _, m := range s.pool.members[1:] {
		if m == best || !m.full {
			continue
		}
		if d := s.paired(m, best); d > -s.standardError(m, best) {
			rest = append(rest, m)
		}
	}
	slices.SortStableFunc(rest, func(a, b *member) int {
		switch d := s.paired(a, best) - s.paired(b, best); {
		case d > 0:
			return -1
		case d < 0:
			return 1
		}
		return 0
	})
	return append(out, rest[:min(len(rest), maxFinalists-1)]...)
}

// standardError is that of the mean paired difference.
func (s *search) standardError(a, b *member) float64 {
	mean, sum, n := s.paired(a, b), 0.0, 0
	for i := range s.cases.Val {
		if d := a.val[i].mean() - b.val[i].mean(); !math.IsNaN(d) {
			sum, n = sum+(d-mean)*(d-mean), n+1
		}
	}
	if n < 2 {
		return 1
	}
	return math.Sqrt(sum / float64(n-1) / float64(n))
}

// result sums the walk up.
func (s *search) result() *Result {
	res := &Result{Stats: s.stats}
	for _, m := range s.pool.members {
		res.Pool = append(res.Pool, Scored{m.Candidate, eval.Summarise(m.valRollouts(len(s.cases.Val))), m.tokens, m.full})
	}
	res.Incumbent = res.Pool[0]
	if s.best != 0 && s.paired(s.pool.members[s.best], s.pool.members[0]) > 1e-9 {
		res.Challenger = &res.Pool[s.best]
	}
	return res
}
