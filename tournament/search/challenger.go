package search

import (
	"math"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
)

// electable makes the best of the members that may become the challenger the
// leader: a text that only lacks lines of the incumbent is an intermediate
// step, and no result unless shortening was asked for. If there is none, the
// incumbent leads.
func (s *State) electable() {
	if s.best == 0 || s.pool.members[s.best].cut == s.opt.Shorten {
		return
	}
	root, best := s.pool.members[0], 0
	for i, m := range s.pool.members {
		if i == 0 || !m.full || m.cut != s.opt.Shorten {
			continue
		}
		lead := s.pool.members[best]
		d := s.paired(m, root) - s.paired(lead, root)
		if d > 1e-9 || d >= -1e-9 && m.Tokens < lead.Tokens {
			best = i
		}
	}
	s.best = best
}

// leastSaving is the share of the incumbent's cost or latency that a text
// must save to be tried for that alone: no gate could show less.
const leastSaving = 0.05

// worthTrying reports whether the winner may go before the gate: on
// validation it is better than the incumbent in quality by more than noise,
// or no worse in quality and better by more than noise in another objective
// that counts. If shortening was asked for, it is shorter and no worse. In
// either case it must beat the undecided challenger.
func (s *State) worthTrying(m *Member, n Noise) bool {
	root := s.pool.members[0]
	if m == root || m.cut != s.opt.Shorten || !s.supplants(m, n) {
		return false
	}
	delta := s.paired(m, root)
	switch {
	case s.opt.Shorten:
		return delta >= -deletionSlack && m.Tokens < root.Tokens
	case delta > s.noiseBetween(n, m, root):
		return true
	case delta < -deletionSlack:
		return false
	}
	return pareto.Retries.In(s.opt.Objectives) && s.saves(n, m, root, &n.Retries, 0, func(r *eval.Rollout) (float64, bool) { return r.Retries, true }) ||
		pareto.Latency.In(s.opt.Objectives) && s.saves(n, m, root, n.LatencyMS, leastSaving, func(r *eval.Rollout) (float64, bool) { return reported(r.LatencyMS) }) ||
		pareto.Cost.In(s.opt.Objectives) && (s.saves(n, m, root, n.CostUSD, leastSaving, func(r *eval.Rollout) (float64, bool) { return reported(r.CostUSD) }) ||
			n.CostUSD == nil && s.saves(n, m, root, n.Tokens, leastSaving, totalTokens))
}

// shorter is the shortest text that only lacks lines of the incumbent and is
// no worse than that and, if there is one, the challenger. It is nil if there
// is none, or if shortening was asked for.
func (s *State) shorter(challenged bool) (best *Member) {
	if s.opt.Shorten {
		return nil
	}
	root := s.pool.members[0]
	for _, m := range s.pool.members[1:] {
		if !m.cut || !m.full || m.Tokens >= root.Tokens || best != nil && m.Tokens >= best.Tokens || s.paired(m, root) < -deletionSlack {
			continue
		}
		if !challenged || s.paired(m, s.pool.members[s.best]) >= -deletionSlack {
			best = m
		}
	}
	return best
}

// supplants reports whether m may replace the undecided challenger: it is
// better than that by more than noise, or shorter and no worse if that is
// asked for. The search has tried both on the same cases; the gate's evidence
// about the undecided one is not given up for less.
func (s *State) supplants(m *Member, n Noise) bool {
	if s.standing == nil {
		return true
	}
	delta := s.paired(m, s.standing)
	if s.opt.Shorten {
		return m != s.standing && delta >= -deletionSlack && m.Tokens < s.standing.Tokens
	}
	return m != s.standing && delta > s.noiseBetween(n, m, s.standing)
}

// noiseBetween is the threshold for a difference in quality: the standard
// error by which the same text tried again would differ or, if nothing was
// tried twice, that of the differences over the cases.
func (s *State) noiseBetween(n Noise, a, b *Member) float64 {
	if n.Pairs == 0 {
		return max(1e-9, s.standardError(a, b))
	}
	return max(1e-9, n.between(a, b))
}

// saves reports whether m takes less of a quantity than the incumbent: by
// more than noise, whose standard deviation is sd (nil: unknown, and the
// result is false), and at least by the share least.
func (s *State) saves(n Noise, m, root *Member, sd *float64, least float64, of func(*eval.Rollout) (float64, bool)) bool {
	if n.Pairs == 0 || sd == nil {
		return false
	}
	had, saved, k := 0.0, 0.0, 0
	for i := range m.val {
		x, ok := average(m.val[i].done(), of)
		y, known := average(root.val[i].done(), of)
		if ok && known {
			had, saved, k = had+y, saved+y-x, k+1
		}
	}
	if k == 0 {
		return false
	}
	return saved/float64(k) > max(1e-9, scatter(*sd, m, root)) && saved >= least*had
}

// average is the mean of a quantity over rollouts that all report it.
func average(rs []*eval.Rollout, of func(*eval.Rollout) (float64, bool)) (float64, bool) {
	sum := 0.0
	for _, r := range rs {
		x, ok := of(r)
		if !ok || math.IsNaN(x) {
			return 0, false
		}
		sum += x
	}
	return sum / float64(max(1, len(rs))), len(rs) > 0
}

func totalTokens(r *eval.Rollout) (float64, bool) {
	if r.Usage == nil {
		return 0, false
	}
	return float64(r.Usage.Total()), true
}
