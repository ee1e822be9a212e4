package pareto

import (
	"fmt"
	"math"
)

// Steps is what promotions may have cost together since the last text that the owner wrote.
// A promotion that rests on anything but better quality may lower it by its margin; many of
// them would each be within it, and their sum would not. The zero value is of no step.
type Steps struct {
	// Quality is the sum of the margins that were used.
	Quality float64 `json:"quality"`
	// Elsewhere is the sum of the mean differences, positive if worse, on requests that the
	// changes did not apply to.
	Elsewhere float64 `json:"elsewhere,omitzero"`
	// Cost and Latency are the sums of the mean log ratios, positive if worse.
	Cost    float64 `json:"cost"`
	Latency float64 `json:"latency"`
}

// together is how many times the cost and the latency all steps may take together.
const together = 1.5

// points is the step to which a used margin is rounded up: one point of quality.
const points = 0.01

// Add counts a promotion.
func (s *Steps) Add(d *Decision) {
	if d.Verdict != Promote || len(d.PerObjective) != int(objectives) {
		return
	}
	s.Quality += d.uses()
	if d.Rest != nil {
		s.Elsewhere -= d.Rest.Quality.Mean
	}
	for o, sum := range map[Objective]*float64{Cost: &s.Cost, Latency: &s.Latency} {
		if e := &d.PerObjective[o]; e.Measured && (!e.Trifling || e.Estimate.Mean > 0) {
			*sum -= e.Estimate.Mean
		}
	}
}

// uses is the margin of quality that a promotion uses: of better quality none, else the
// least for which it was shown that quality is not lower by as much.
func (d *Decision) uses() float64 {
	if d.Route == Quality.String() {
		return 0
	}
	if d.Margin != nil {
		return *d.Margin
	}
	return d.PerObjective[Quality].Tolerance // of an older evolve
}

// Bound is the rule of the next trial: what the steps before it have left of the margin,
// and of together.
func (s Steps) Bound(c Config) Config {
	c.Quality.Tolerance = left(c.Quality.Tolerance, DefaultConfig().Quality.Tolerance-s.Quality)
	if c.Rest != (Limit{}) {
		c.Rest.Tolerance = max(points, left(c.Rest.Tolerance, restMargin-s.Elsewhere))
	}
	c.Cost.Tolerance = left(c.Cost.Tolerance, math.Log(together)/math.Log(clip)-s.Cost)
	c.Latency.Tolerance = left(c.Latency.Tolerance, math.Log(together)/math.Log(clip)-s.Latency)
	return c
}

func left(tolerance, rest float64) float64 {
	if rest < points/10 { // of rounding
		return 0
	}
	return min(tolerance, rest)
}

// Beyond describes what a further promotion would be beyond, with the steps before it; ""
// for nothing. A trial that began before the last of them has a laxer rule.
func (s Steps) Beyond(d *Decision) string {
	before := s
	s.Add(d)
	limit := DefaultConfig().Quality.Tolerance
	switch bound := math.Log(together)/math.Log(clip) + 1e-9; {
	case s.Quality > limit+1e-9 && s.Quality > before.Quality:
		return fmt.Sprintf("quality may be lower by %.0f points than in your last own version, over all promotions since: at most %.0f are allowed", 100*s.Quality, 100*limit)
	case s.Elsewhere > restMargin+1e-9 && s.Elsewhere > before.Elsewhere:
		return fmt.Sprintf("quality is lower by %.0f points than in your last own version on requests that the changes do not apply to, over all promotions since: at most %.0f are allowed", 100*s.Elsewhere, 100*restMargin)
	case s.Cost > bound && s.Cost > before.Cost:
		return fmt.Sprintf("it costs ×%.2f of your last own version, over all promotions since: at most ×%g is allowed", Times(-s.Cost), together)
	case s.Latency > bound && s.Latency > before.Latency:
		return fmt.Sprintf("it takes ×%.2f as long as your last own version, over all promotions since: at most ×%g is allowed", Times(-s.Latency), together)
	}
	return ""
}

// margin is the least of whole points by which it was shown, at the level of the trial, that
// quality is not lower. A text that is not lower by one margin is not lower by a larger one
// either, so all of them together have the error of one.
func (t *Trial) margin() float64 {
	tolerance := t.cfg.Quality.Tolerance
	for n := 0; points*float64(n) < tolerance; n++ {
		var p Process
		m := points * float64(n)
		for i := range t.pairs {
			if d := t.pairs[i].Quality; !math.IsNaN(d) {
				weight, largest := t.pairs[i].weight()
				p.Add(weight / largest * (max(-1, min(1, d)) + m) / (1 + m))
			}
		}
		if reached(&p, t.cfg.ToleranceAlpha) {
			return m
		}
	}
	return tolerance
}
