package sleep

import (
	"fmt"
	"math"

	"github.com/skill-evolve/evolve/pareto"
)

// A Lift says what a skill is worth on a model, against no skill at all.
type Lift string

// The lifts.
const (
	LiftOpen  Lift = ""
	LiftShown Lift = "shown"
	// NoLift: the quality is shown to be within RetireMargin of that without the
	// skill, or below it, and what it saves to be less than matters. The skill is
	// proposed for retirement; nothing retires it but its owner.
	NoLift Lift = "none"
)

// What a proposal for retirement asks for: that the skill is shown to be worth
// little on all that was measured, at 5 % each, whenever one looks. All would have
// to be wrong at once: an intersection-union test of level 5 %. Some 45 cases
// without any difference suffice, some 80 where the arms differ on one in 25.
const (
	RetireMargin = 0.10 // of quality, either way, and of retries
	retireCases  = 20   // at least
	liftLevel    = 0.90
	// savesLevel is that of the three other ways to be worth something than better
	// answers: one-sided, 1 % together, as in the gate.
	savesLevel = 1 - 2*0.01/3
)

// SavingMargin is a fifth of the cost or the time, in the unit of a pareto.Pair.
var SavingMargin = math.Log(1/0.8) / math.Log(4)

// liftOf says what the differences to no skill show, and in words. A skill that
// brings no better answers, and saves neither a second request nor cost nor time,
// has no lift; that nothing was shown is not enough for that.
func liftOf(pairs []pareto.Pair) (Lift, string) {
	of := func(value func(p pareto.Pair) float64) (ds []float64) {
		for _, p := range pairs {
			if d := value(p); !math.IsNaN(d) {
				ds = append(ds, d)
			}
		}
		return ds
	}
	q := pareto.Compare(of(func(p pareto.Pair) float64 { return p.Quality }), liftLevel)
	if q.N == 0 {
		return LiftOpen, ""
	}
	words := fmt.Sprintf("quality %+.2f over no skill (%.0f%% interval %+.2f to %+.2f, %d cases)", q.Mean, 100*liftLevel, q.Low, q.High, q.N)
	switch {
	case q.Low > 0:
		return LiftShown, words
	case q.N < retireCases:
		return LiftOpen, words
	case q.High < 0:
		return NoLift, words + ", worse than no skill"
	case q.Low <= -RetireMargin || q.High >= RetireMargin:
		return LiftOpen, words
	}
	lift := NoLift
	for _, save := range []struct {
		what   string
		of     func(p pareto.Pair) float64
		margin float64
	}{
		{"a second request", func(p pareto.Pair) float64 { return p.Retries }, RetireMargin},
		{"cost", func(p pareto.Pair) float64 { return p.Cost }, SavingMargin},
		{"time", func(p pareto.Pair) float64 { return p.Latency }, SavingMargin},
	} {
		d := of(save.of)
		if len(d) == 0 {
			continue
		}
		if pareto.Compare(d, savesLevel).Low > 0 {
			return LiftShown, words + ", and it saves " + save.what
		}
		if pareto.Compare(d, liftLevel).High >= save.margin {
			lift = LiftOpen
		}
	}
	return lift, words
}
