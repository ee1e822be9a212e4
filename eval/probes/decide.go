package probes

import (
	"math"
)

const (
	// ScreenReplays and FreshReplays are the replays of a probe with each text.
	ScreenReplays = 2
	FreshReplays  = 8
	// Level bounds how often an equal text is held back, over all rules of a kernel.
	Level = .02
	// DefaultRollouts suffice for 20 probes of which all are answered afresh.
	DefaultRollouts = 2 * 20 * (ScreenReplays + FreshReplays)
)

// Breaches counts the replays in which a rule was broken, of those that could be compared.
type Breaches struct {
	Before int `json:"before"` // with the incumbent
	After  int `json:"after"`  // with the challenger
	N      int `json:"n"`      // replays with each
}

// More reports whether the rule was broken more often with the challenger.
func (b Breaches) More() bool { return b.After > b.Before }

// P is Fisher's exact test, one-sided: the probability of at least as many breaches with the
// challenger if both texts break the rule equally often. Probes differ in how hard they tempt;
// since each has as many replays with either text, that makes such a result rarer still.
func (b Breaches) P() float64 {
	both, p := b.Before+b.After, 0.0
	all := choose(2*b.N, both)
	for after := b.After; after <= min(b.N, both); after++ {
		if both-after <= b.N {
			p += math.Exp(choose(b.N, after) + choose(b.N, both-after) - all)
		}
	}
	return min(1, p)
}

// choose is the logarithm of a binomial coefficient.
func choose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// A Finding is what the replays showed about one rule.
type Finding struct {
	Rule   Rule     `json:"rule"`
	Probes int      `json:"probes"`
	Screen Breaches `json:"screen"`
	// Fresh are the replays that decide; nil if the first ones showed no more breaches with the
	// challenger.
	Fresh *Breaches `json:"fresh,omitempty"`
	// P is that of Fresh. It has to be at most Level divided by the rules with fresh replays.
	P    float64 `json:"p,omitempty"`
	Held bool    `json:"held"` // the challenger breaks the rule more often
}

// decide sets which findings hold a challenger back. The level is divided by the number of
// rules that had fresh replays, so that many rules are no more likely to hold an equal text
// back than one is.
func decide(findings []Finding) {
	tested := 0
	for i := range findings {
		if findings[i].Fresh != nil {
			tested++
		}
	}
	for i := range findings {
		if f := &findings[i]; f.Fresh != nil {
			f.P = f.Fresh.P()
			f.Held = f.Fresh.More() && f.P <= Level/float64(tested)
		}
	}
}
