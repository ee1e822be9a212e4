package sleep

import (
	"cmp"
	"fmt"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
)

// The least that a step takes if it was not forecast, in rollouts.
const (
	minSearch   = 60
	minContinue = 4 // a pair with its work retries
)

// The least share of a whole night's cap that a step takes if nothing is
// forecast of it and the night has no cap on rollouts.
const (
	blindSearch = 0.5
	blindOther  = 0.05
)

// A search that gets less than this share of its rollouts is not begun: it
// would find nothing, and its reading and first measurements would be paid
// for.
const worthwhile = 0.5

// least is what a step must get to be worth beginning. It is at most what a
// whole night has, except for the rollouts of a search if the whole night has
// far too few. A cap without a forecast is scaled like the rollouts.
func (s *Step) least(whole Caps) Caps {
	need := s.Needs
	switch s.Kind {
	case Search:
		need.Rollouts = cmp.Or(need.Rollouts, minSearch)
	case Continue, Compare:
		need.Rollouts = min(minContinue, max(1, s.Rollouts))
	}
	of := blindOther
	switch {
	case whole.Rollouts > 0:
		if s.Kind != Search || float64(whole.Rollouts) >= worthwhile*float64(need.Rollouts) {
			need.Rollouts = min(need.Rollouts, whole.Rollouts)
		}
		of = min(1, float64(need.Rollouts)/float64(whole.Rollouts))
	case s.Kind == Search:
		of = blindSearch
	}
	need.CostUSD = needOf(need.CostUSD, whole.CostUSD, of)
	need.Tokens = needOf(need.Tokens, whole.Tokens, of)
	need.Duration = needOf(need.Duration, whole.Duration, of)
	return need
}

func needOf[T int64 | float64 | time.Duration](need, whole T, of float64) T {
	if need == 0 {
		need = T(of * float64(whole))
	}
	return min(need, whole)
}

// Beyond reports whether even a whole night of these caps is too little for s to be
// begun.
func (s *Step) Beyond(whole Caps) bool { return lacks(whole, s.least(whole), whole) != "" }

// lacks says of which cap c, which is left of a whole night, has too little for need, ""
// of none.
func lacks(c, need, whole Caps) string {
	switch {
	case whole.Rollouts > 0 && c.Rollouts < max(1, need.Rollouts):
		return fmt.Sprintf("%s, %s are left", plain.Counted(need.Rollouts, "rollout"), plain.Grouped(max(0, c.Rollouts)))
	case whole.CostUSD > 0 && (c.CostUSD < need.CostUSD*(1-1e-9) || c.CostUSD <= 0):
		return fmt.Sprintf("%s, %s are left", eval.FormatUSD(need.CostUSD), eval.FormatUSD(max(0, c.CostUSD)))
	case whole.Tokens > 0 && c.Tokens < max(1, need.Tokens):
		return fmt.Sprintf("%s tokens, %s are left", plain.Thousands(need.Tokens), plain.Thousands(max(0, c.Tokens)))
	case whole.Duration > 0 && c.Duration < max(1, need.Duration):
		return fmt.Sprintf("%s, %s are left", plain.Duration(need.Duration.Milliseconds()), plain.Duration(max(0, c.Duration).Milliseconds()))
	}
	return ""
}

// minus is what o leaves of c, never below nothing.
func minus(c, o Caps) Caps {
	return Caps{Rollouts: max(0, c.Rollouts-o.Rollouts), CostUSD: max(0, c.CostUSD-o.CostUSD), Tokens: max(0, c.Tokens-o.Tokens), Duration: max(0, c.Duration-o.Duration)}
}

// serve reports which of the steps, in their order, the rest of a whole night
// can carry, each with its least need, and what remains after these.
func serve(left, whole Caps, steps []Step) (served []bool, over Caps) {
	served = make([]bool, len(steps))
	for i := range steps {
		if need := steps[i].least(whole); lacks(left, need, whole) == "" {
			served[i], left = true, minus(left, need)
		}
	}
	return served, left
}

// Portion is what the first of the steps gets of the rest of a whole night:
// its least need, and its share, by expected gain, of what remains after the
// least needs of all steps that the night can serve; no more than it can use.
// ok is false if the step has to wait. What a step does not use is left for
// the steps after it.
func Portion(left, whole Caps, steps []Step) (c Caps, ok bool) {
	served, over := serve(left, whole, steps)
	if !served[0] {
		return Caps{}, false
	}
	sum, n := 0.0, 0
	for i, s := range steps {
		if served[i] {
			sum += s.Gain
			n++
		}
	}
	share := 1 / float64(n)
	if sum > 0 {
		share = min(1, steps[0].Gain/sum)
	}
	need := steps[0].least(whole)
	c = Caps{
		Rollouts: portion(need.Rollouts, over.Rollouts, left.Rollouts, whole.Rollouts, share),
		CostUSD:  portion(need.CostUSD, over.CostUSD, left.CostUSD, whole.CostUSD, share),
		Tokens:   portion(need.Tokens, over.Tokens, left.Tokens, whole.Tokens, share),
		Duration: portion(need.Duration, over.Duration, left.Duration, whole.Duration, share),
	}
	c = c.Within(Caps{Rollouts: steps[0].Rollouts})
	return c, !(whole.CostUSD > 0 && c.CostUSD == 0) // too little for a number, and zero would be no cap
}

// portion is a part of one cap, which is zero if the whole night has none.
func portion[T int64 | float64 | time.Duration](need, over, left, whole T, share float64) T {
	if whole == 0 {
		return 0
	}
	least := T(1)
	if any(least) == any(float64(1)) {
		least = 0
	}
	return min(left, max(least, need+T(share*float64(over))))
}

// openPaid are the steps that still share the budget, the first one first.
func openPaid(steps []Step) (out []Step) {
	for _, s := range steps {
		if s.open() && s.paid() {
			out = append(out, s)
		}
	}
	return out
}

// wait leaves a step to a later night, and notes what it lacks tonight.
func (s *Step) wait(left, whole Caps) {
	s.Stage = Waits
	if short := lacks(left, s.least(whole), whole); short != "" {
		s.Note = fmt.Sprintf("takes about %s; %s", short, s.Note)
	}
}

// forecast determines which of the planned steps the night will serve, and with
// how much, if every step uses its whole portion.
func (n *Night) forecast() {
	left, ok := n.left()
	for i := range n.Steps { // what has begun has its share
		if s := &n.Steps[i]; s.Stage == Begun && s.paid() {
			left = minus(left, minus(s.Caps, Caps{Rollouts: s.Spent.Rollouts, CostUSD: s.Spent.CostUSD, Tokens: s.Spent.TokensIn + s.Spent.TokensOut, Duration: time.Duration(s.Spent.WallMS) * time.Millisecond}))
		}
	}
	_, over := serve(left, n.Caps, planned(n.Steps))
	for i := range n.Steps {
		s := &n.Steps[i]
		if !s.paid() || s.Stage != Planned {
			continue
		}
		if c, served := Portion(left, n.Caps, planned(n.Steps[i:])); ok && served {
			s.Caps, left = c, minus(left, c)
		} else {
			s.wait(over, n.Caps)
		}
	}
}

func planned(steps []Step) (out []Step) {
	for _, s := range openPaid(steps) {
		if s.Stage == Planned {
			out = append(out, s)
		}
	}
	return out
}

// Later is the number of nights like this one after which the waiting steps
// have had their turn. Steps that a night is too small for never have one,
// and are not counted.
func (n *Night) Later() (nights int) {
	var open []Step
	for _, s := range n.Steps {
		if s.Stage == Waits && !s.Beyond(n.Caps) {
			open = append(open, s)
		}
	}
	for ; len(open) > 0; nights++ {
		served, _ := serve(n.Caps, n.Caps, open)
		var rest []Step
		for i, s := range open {
			if !served[i] {
				rest = append(rest, s)
			}
		}
		open = rest
	}
	return nights
}
