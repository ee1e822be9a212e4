package search

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/skill-evolve/evolve/eval"
)

// deletionSlack is how much a deletion may seem to lose on validation and
// still replace the best: shorter texts are cheaper in every later session,
// and one validation pass cannot resolve a hundredth.
const deletionSlack = 0.01

// passengerSlack is the same for lines that the search added and no feedback
// supports: about the standard error of one pass over thirty cases. Such
// lines have to show that they help, not only that they do no harm.
const passengerSlack = 0.04

// leadZ is how many standard errors ahead of the best a child must be, on the
// validation cases so far, to take the lead before it was measured on all.
const leadZ = 2.5

// race validates m against the best in stages: the most informative cases
// come first. It stops once m cannot catch up any more, or once m is so far
// ahead that the rest could not change the decision; the leader's missing
// cases are measured when they are needed, in a later race or in the finals.
// A member that was stopped stays a parent for the cases that it leads on,
// but cannot win. If another lane has found a better text meanwhile, a member that beats the
// former best has to beat that as well.
func (s *State) race(ctx context.Context, m *Member, deletion float64) error {
	best := s.pool.members[s.best]
	order := s.informative(best)
	slack := deletion * float64(len(order))
	chunk := s.opt.RaceChunk
	for at := 0; at < len(order); at += chunk {
		end := min(at+chunk, len(order))
		if err := s.measureAll(ctx, []*Member{best, m}, order[at:end], 0); err != nil {
			return err
		}
		if end == len(order) {
			break
		}
		if s.potential(m, best, order, end) <= -slack {
			return s.emit(ctx, "dominated", map[string]any{"sha256": m.SHA, "cases": end, "of": len(order)})
		}
		if d, se := s.paired(m, best), s.standardError(m, best); d > 0 && d > leadZ*se {
			if s.Best() != best {
				return s.race(ctx, m, deletion)
			}
			s.lead(m)
			q, n := m.Validation()
			return s.emit(ctx, "leading", map[string]any{"sha256": m.SHA, "operator": m.Operator, "quality": q, "gain": d, "cases": n, "of": len(order), "tokens": m.Tokens})
		}
	}
	m.full, best.full = true, true
	mine, _ := m.Validation()
	his, _ := best.Validation()
	delta := s.paired(m, best)
	if delta > 1e-9 || deletion > 0 && delta >= -deletion && m.Tokens < best.Tokens ||
		math.Abs(delta) <= 1e-9 && m.Tokens < best.Tokens {
		if s.Best() != best {
			return s.race(ctx, m, deletion)
		}
		s.lead(m)
	}
	return s.emit(ctx, "validated", map[string]any{"sha256": m.SHA, "operator": m.Operator, "quality": mine, "against": his,
		"gain": delta, "best": s.pool.members[s.best].SHA, "tokens": m.Tokens})
}

// lead makes m the best.
func (s *State) lead(m *Member) { s.best, s.lane().led = s.pool.index(m), true }

// potential is the largest sum of differences to best that m can still reach:
// its sum on order[:end], and every later case solved. If it is not positive,
// m is dominated on average.
func (s *State) potential(m, best *Member, order []int, end int) float64 {
	sum := 0.0
	for k, i := range order {
		had := best.val[i].mean()
		switch {
		case k >= end && math.IsNaN(had):
			sum++
		case k >= end:
			sum += 1 - had
		default:
			if d := m.val[i].mean() - had; !math.IsNaN(d) {
				sum += d
			}
		}
	}
	return sum
}

// paired is the mean difference between a and b over the validation cases
// that both have a score on.
func (s *State) paired(a, b *Member) float64 {
	sum, n := 0.0, 0
	for i := range s.Cases.Val {
		if d := a.val[i].mean() - b.val[i].mean(); !math.IsNaN(d) {
			sum, n = sum+d, n+1
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

// informative orders the validation cases: those on which the best does worst
// come first, since only there can a child gain; among equals those on which
// the pool disagrees most.
func (s *State) informative(best *Member) []int {
	spread := make([]float64, len(s.Cases.Val))
	for i := range spread {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, m := range s.pool.members {
			if q := m.val[i].mean(); !math.IsNaN(q) {
				lo, hi = min(lo, q), max(hi, q)
			}
		}
		spread[i] = hi - lo
	}
	order := s.Rand.Perm(len(s.Cases.Val))
	slices.SortStableFunc(order, func(a, b int) int {
		qa, qb := best.val[a].mean(), best.val[b].mean()
		if na, nb := math.IsNaN(qa), math.IsNaN(qb); na != nb {
			if nb {
				return -1 // known first: the best need not be measured again
			}
			return 1
		}
		return cmp.Or(cmp.Compare(qa, qb), cmp.Compare(spread[b], spread[a]))
	})
	return order
}

// maxFinalists and maxTrials bound the spending on choosing between the
// leaders.
const (
	maxFinalists = 3
	maxTrials    = 3
)

// finals repeats the validation of the leaders with the rest of the budget:
// the best of many noisy means is too high, and fresh trials correct that. It
// always returns done or an error.
func (s *State) finals(ctx context.Context, done *errDone) error {
	// A leader that took the lead early is measured on the cases that it
	// skipped; each turn measures one more member on all of them.
	for m := s.pool.members[s.best]; !m.full; m = s.pool.members[s.best] {
		if err := s.measureVal(ctx, m, all(len(s.Cases.Val)), 0); err != nil {
			return err
		}
		m.full = true
		for _, x := range s.pool.members {
			if x.full && s.paired(x, m) > 1e-9 {
				m = x
			}
		}
		s.best = s.pool.index(m)
	}
	s.electable()
	for trial := 1; trial < maxTrials && s.best != 0; trial++ {
		leaders := s.leaders()
		if len(leaders) < 2 {
			break
		}
		// A part of them would compare means over different trials.
		if rest := s.rest(); rest < 0 || rest > 0 && rest < int64(len(leaders)*len(s.Cases.Val)) {
			break
		}
		if err := s.measureAll(ctx, leaders, all(len(s.Cases.Val)), trial); err != nil {
			return err
		}
		slices.SortStableFunc(leaders, func(a, b *Member) int {
			switch d := s.paired(a, b); {
			case d > 1e-9 || math.Abs(d) <= 1e-9 && a.Tokens < b.Tokens:
				return -1
			case d < -1e-9:
				return 1
			}
			return 0
		})
		s.best = s.pool.index(leaders[0])
		q, _ := leaders[0].Validation()
		if err := s.emit(ctx, "finals", map[string]any{"trial": trial + 1, "finalists": len(leaders), "best": leaders[0].SHA, "quality": q}); err != nil {
			return err
		}
	}
	return s.close(ctx, done)
}

// close confirms the winner and measures the noise with the rest of the
// budget. It always returns done or an error.
func (s *State) close(ctx context.Context, done *errDone) error {
	if err := s.confirm(ctx); err != nil {
		return err
	}
	if err := s.testRetest(ctx); err != nil {
		return err
	}
	return done
}

// confirm gives the winner one trial that had no part in choosing it: the
// score that is reported, and on which the gate's held-out cases are risked.
func (s *State) confirm(ctx context.Context) error {
	m := s.pool.members[s.best]
	rest := s.rest()
	if s.best == 0 || rest < 0 || rest > 0 && rest < int64(len(s.Cases.Val)) {
		return nil
	}
	trial := maxTrials
	for i := range m.val {
		trial = min(trial, m.val[i].trials())
	}
	if err := s.measureVal(ctx, m, all(len(s.Cases.Val)), trial); err != nil {
		return err
	}
	m.confirmed = trial
	q := eval.Summarise(m.trial(trial)).Quality
	return s.emit(ctx, "confirmed", map[string]any{"sha256": m.SHA, "quality": q, "cases": len(s.Cases.Val)})
}

// trial collects m's validation rollouts of one trial.
func (m *Member) trial(n int) (out []*eval.Rollout) {
	for i := range m.val {
		if r := &m.val[i]; r.trials() > n {
			out = append(out, r.at(n))
		}
	}
	return out
}

// leaders are the fully validated members that are not clearly behind the
// best, the best first.
func (s *State) leaders() []*Member {
	best := s.pool.members[s.best]
	out := []*Member{best}
	var rest []*Member
	for _, m := range s.pool.members[1:] {
		if m == best || !m.full || m.cut != s.opt.Shorten {
			continue
		}
		if d := s.paired(m, best); d > -s.standardError(m, best) {
			rest = append(rest, m)
		}
	}
	slices.SortStableFunc(rest, func(a, b *Member) int { return cmp.Compare(s.paired(b, best), s.paired(a, best)) })
	return append(out, rest[:min(len(rest), maxFinalists-1)]...)
}

// standardError is that of the mean paired difference.
func (s *State) standardError(a, b *Member) float64 {
	mean, sum, n := s.paired(a, b), 0.0, 0
	for i := range s.Cases.Val {
		if d := a.val[i].mean() - b.val[i].mean(); !math.IsNaN(d) {
			sum, n = sum+(d-mean)*(d-mean), n+1
		}
	}
	if n < 2 {
		return 1
	}
	return math.Sqrt(sum / float64(n-1) / float64(n))
}

// result sums up the search.
func (s *State) result() *Result {
	res := &Result{Stats: s.stats, Noise: s.noise()}
	for _, m := range s.pool.members {
		rollouts := m.valRollouts()
		if m.confirmed > 0 {
			rollouts = m.trial(m.confirmed)
		}
		res.Pool = append(res.Pool, Scored{m.Candidate, eval.Summarise(rollouts), m.Tokens, m.full})
	}
	res.Incumbent = res.Pool[0]
	if s.worthTrying(s.pool.members[s.best], res.Noise) {
		res.Challenger = &res.Pool[s.best]
	}
	if m := s.shorter(res.Challenger != nil); m != nil {
		res.Shorter = &res.Pool[s.pool.index(m)]
	}
	return res
}
