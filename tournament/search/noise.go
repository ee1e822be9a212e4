package search

import (
	"context"
	"fmt"
	"math"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Noise is how much the outcomes of one text differ between two trials of the
// same validation case: a smaller difference between two texts cannot be
// detected. The zero value means unknown.
type Noise struct {
	Cases int `json:"cases"` // validation cases that a candidate's means rest on
	Pairs int `json:"pairs"` // repeated trials that the estimate rests on (degrees of freedom)
	// Standard deviations of one rollout around its case's own mean; nil if
	// not every repeated trial reported the quantity.
	Quality   float64  `json:"quality"`
	Retries   float64  `json:"retries"`
	LatencyMS *float64 `json:"latency_ms"`
	CostUSD   *float64 `json:"cost_usd"`
	Tokens    *float64 `json:"tokens"`
	// Judge is the agreement of repeated judge checks: how often the second
	// trial of the same text got the same judgement. It includes the agent's
	// own noise.
	Judge pareto.Agreement `json:"judge"`
}

// epsilon is the standard error of the difference of two means over the cases,
// one trial each, for a quantity with the standard deviation sd.
func (n Noise) epsilon(sd *float64) float64 {
	if sd == nil || n.Cases == 0 {
		return 0
	}
	return *sd * math.Sqrt(2/float64(n.Cases))
}

// between is the standard error, from noise alone, of the mean paired
// difference in quality of two members, each with its number of trials.
func (n Noise) between(a, b *Member) float64 { return scatter(n.Quality, a, b) }

// scatter is between for a quantity with the standard deviation sd.
func scatter(sd float64, a, b *Member) float64 {
	sum, k := 0.0, 0
	for i := range a.val {
		if x, y := len(a.val[i].done()), len(b.val[i].done()); x > 0 && y > 0 {
			sum, k = sum+1/float64(x)+1/float64(y), k+1
		}
	}
	return sd * math.Sqrt(sum) / float64(max(1, k))
}

// medianCost is how much wider a median scatters than a mean, for normal noise
// (sqrt(π/2)): latencies are summarised by their median.
const medianCost = 1.2533

// repeats is how many validation cases the incumbent is tried on once more.
// Twelve measure the noise to within about a fifth; the finals' repeats add
// to them.
const repeats = 12

// testRetest tries the incumbent again on validation cases on which the
// pool's outcomes differ, as far as the budget allows: the others have no
// noise worth paying for.
func (s *State) testRetest(ctx context.Context) error {
	root := s.pool.members[0]
	again := s.disputed()
	again = again[:min(len(again), repeats)]
	if rest := s.rest(); rest < 0 || rest > 0 && rest < int64(len(again)) {
		return nil
	}
	if err := s.measureVal(ctx, root, again, 1); err != nil {
		return err
	}
	n := s.noise()
	if n.Pairs == 0 {
		return nil
	}
	return s.emit(ctx, "noise", map[string]any{"noise": n})
}

// disputed lists the validation cases on which two scores of the pool differ, in
// the cases' own order.
func (s *State) disputed() (out []int) {
	for i := range s.Cases.Val {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, m := range s.pool.members {
			for t := range m.val[i].trials() {
				if r := m.val[i].at(t); r.Status == eval.Done {
					lo, hi = min(lo, r.Quality), max(hi, r.Quality)
				}
			}
		}
		if hi > lo {
			out = append(out, i)
		}
	}
	return out
}

// noise pools the spread within cases over all members that were tried more
// than once. The incumbent's repeats are on disputed cases alone; the others
// count as without noise, in proportion.
func (s *State) noise() Noise {
	n := Noise{Cases: len(s.Cases.Val)}
	var q, retries, latency, cost, tokens within
	share := float64(len(s.disputed())) / float64(max(1, n.Cases))
	for k, m := range s.pool.members {
		weight := 1.0
		if k == 0 {
			weight = share
		}
		for i := range m.val {
			rs := m.val[i].done()
			if len(rs) < 2 {
				continue
			}
			n.Pairs += len(rs) - 1
			q.add(rs, weight, func(r *eval.Rollout) (float64, bool) { return r.Quality, true })
			retries.add(rs, weight, func(r *eval.Rollout) (float64, bool) { return r.Retries, true })
			latency.add(rs, 1, func(r *eval.Rollout) (float64, bool) { return reported(r.LatencyMS) })
			cost.add(rs, 1, func(r *eval.Rollout) (float64, bool) { return reported(r.CostUSD) })
			tokens.add(rs, 1, totalTokens)
			n.judged(&s.Cases.Val[i], rs)
		}
	}
	if n.Pairs == 0 {
		return n
	}
	n.Quality, n.Retries = *q.sd(), *retries.sd()
	n.LatencyMS, n.CostUSD, n.Tokens = latency.sd(), cost.sd(), tokens.sd()
	return n
}

// judged counts the judgements of the first trial against those of each later
// one.
func (n *Noise) judged(c *eval.Case, rs []*eval.Rollout) {
	for k, check := range c.Checks {
		for _, r := range rs[1:] {
			if check.Type != eval.Judge || k >= len(r.Checks) || k >= len(rs[0].Checks) || r.Checks[k].Missing || rs[0].Checks[k].Missing {
				continue
			}
			n.Judge.Add(rs[0].Checks[k].Score >= 0.5, r.Checks[k].Score >= 0.5)
		}
	}
}

func reported[T int64 | float64](x *T) (float64, bool) {
	if x == nil {
		return 0, false
	}
	return float64(*x), true
}

// within sums the squared deviations from the means of cases.
type within struct {
	squares float64
	df      int
	unknown bool
}

func (w *within) add(rs []*eval.Rollout, weight float64, of func(*eval.Rollout) (float64, bool)) {
	xs, mean := make([]float64, len(rs)), 0.0
	for i, r := range rs {
		x, ok := of(r)
		w.unknown = w.unknown || !ok
		xs[i], mean = x, mean+x/float64(len(rs))
	}
	for _, x := range xs {
		w.squares += weight * (x - mean) * (x - mean)
	}
	w.df += len(rs) - 1
}

// sd is the pooled standard deviation, nil if it is not known.
func (w *within) sd() *float64 {
	if w.unknown || w.df == 0 {
		return nil
	}
	x := math.Sqrt(w.squares / float64(w.df))
	return &x
}

// done lists the scored rollouts in the order of trials.
func (r *attempts) done() (out []*eval.Rollout) {
	for k := range r.trials() {
		if x := r.at(k); x.Status == eval.Done {
			out = append(out, x)
		}
	}
	return out
}

// retested is how many repeated checks must be compared before a judge is
// called unsteady: its agreement with itself is below TrustedKappa, and not by chance. Where
// nearly all answers pass, a few other words make a low kappa.
const retested = 10

// warnings reports whether the measurement is too noisy to decide: heldOut
// cases could not show a realistic gain, which is what validation found for
// the challenger or, without one, all that the incumbent leaves to gain.
func (n Noise) warnings(heldOut int, alpha float64, res *Result) (out []string) {
	if n.Pairs >= retested/2 && n.Quality > 0 && heldOut > 0 {
		realistic, what := 1-res.Incumbent.Metrics.Quality, "all that there is to gain"
		if c := res.Challenger; c != nil {
			realistic, what = c.Metrics.Quality-res.Incumbent.Metrics.Quality, "what validation found"
		}
		sd := n.Quality * math.Sqrt2
		shown := pareto.Showable(heldOut, sd, alpha)
		if realistic > 0 && shown > realistic {
			out = append(out, fmt.Sprintf("the instrument is noisy: the same text scores ±%.2f on the same case, so that %s can hardly show a gain below %+.2f, and %s is %+.2f: %s",
				n.Quality, plain.Counted(heldOut, "unseen request"), shown, what, realistic, remedy(realistic, sd, alpha)))
		}
	}
	if k := pareto.Kappa(n.Judge); n.Judge.N() >= retested && k.High < record.TrustedKappa {
		out = append(out, fmt.Sprintf("the judge's word is not steady: of %d checks of the same text tried twice, %d got the same word (agreement %.2f, %g is good): write sharper rubrics, or checks that need no judge",
			n.Judge.N(), n.Judge.BothPass+n.Judge.BothFail, k.Value, record.TrustedKappa))
	}
	return out
}

// remedy describes how many cases it would take.
func remedy(gain, sd, alpha float64) string {
	if n := pareto.CasesToShow(gain, sd, alpha); n > 0 {
		return fmt.Sprintf("about %d unseen requests would do, or checks that leave less to chance", n)
	}
	return "it takes checks that leave less to chance"
}
