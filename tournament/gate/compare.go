package gate

import (
	"context"
	"errors"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A Compare says which replays of one case serve the request better, seen blind: see
// judge.Comparer.Replays. score is in [-1,1], positive for the challenger's; it means
// nothing unless ok.
type Compare func(ctx context.Context, c *eval.Case, incumbent, challenger []*eval.Rollout) (score float64, ok bool, err error)

// Of a use that nobody corrected there is no check of what the user wanted, and the
// judge compares both texts' answers. A correction says what was wrong: its checks are
// graded, and count as much as the judge surely sees of such a failure (Sensitivity).
// Else a text whose failures moved to where the judge overlooks them would look better.

// Compares reports whether a judge compares the answers to a case, instead of grading
// each alone.
func Compares(c *eval.Case) bool {
	return c.Origin() == record.Mined && record.StratumOf(c) != record.Corrected && record.Asks(c)
}

// compare asks the judge about the cases of a measured pair. An error of kind Pending
// comes once all of them were asked for.
func (m *measured) compare(ctx context.Context) (pending, err error) {
	for i := range m.cases {
		s := &m.cases[i]
		if m.gate.Compare == nil || !Compares(s.kase) {
			continue
		}
		if len(s.both[0]) == 0 { // nothing to ask: what did not come loses
			s.score = &comparison{}
			continue
		}
		score, ok, err := m.gate.Compare(ctx, s.kase, s.both[0], s.both[1])
		switch {
		case eval.IsPending(err):
			pending = err
		case err != nil:
			return nil, err
		default:
			s.score = &comparison{score, ok}
		}
	}
	return pending, nil
}

// A comparison is what the judge finds of a case's replays.
type comparison struct {
	score float64
	known bool
}

// quality is the sum over the replays of a case of how much better the challenger's are,
// and the part of it that checks decided and that counts by the judge's sensitivity.
// known is false if the judge had a say and gave none.
func (s *sides) quality() (sum, checked float64, known bool) {
	part := whole // of a rollout that counts
	if s.score != nil {
		part = unjudged
		for _, a := range s.lost {
			if a.Failure == "" { // the answer that did not come loses to any other
				sum -= judgedShare(s.kase)
			}
		}
		sum += judgedShare(s.kase) * s.score.score * float64(len(s.both[0]))
	}
	graded := 0.
	for i, a := range s.both[0] {
		graded += part(s.both[1][i]) - part(a)
	}
	for _, a := range s.lost {
		graded -= part(a)
	}
	if s.kase.Origin() == record.Mined {
		checked = graded
	}
	return sum + graded, checked, s.score == nil || s.score.known || len(s.both[0]) == 0
}

func whole(r *eval.Rollout) float64 { return r.Quality }

// unjudged is the part of a rollout's quality that is no judge's.
func unjudged(r *eval.Rollout) float64 {
	sum, weights := 0., 0.
	for _, k := range r.Checks {
		if weights += k.Weight; k.Type != eval.Judge {
			sum += k.Weight * k.Score
		}
	}
	return sum / max(weights, 1e-9)
}

// judgedShare is the share of a case's quality that a judge decides.
func judgedShare(c *eval.Case) float64 {
	sum, weights := 0., 0.
	for i := range c.Checks {
		w := c.Checks[i].Relative()
		if weights += w; c.Checks[i].Type == eval.Judge {
			sum += w
		}
	}
	return sum / weights
}

// compareAll asks the judge about what was measured. A pair that the budget did not reach
// is none yet: its rollouts are on record, and the next look asks again.
func compareAll(ctx context.Context, pairs []*measured) (limit *eval.BudgetError, err error) {
	var pending error
	for i, m := range pairs {
		if m == nil {
			continue
		}
		waits, err := m.compare(ctx)
		if errors.As(err, &limit) {
			clear(pairs[i:])
			break
		}
		if err != nil {
			return nil, err
		}
		if waits != nil {
			pending = waits
		}
	}
	return limit, pending
}
