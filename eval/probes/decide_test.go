package probes

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Fisher's test against a count of all ways in which the replays could have fallen.
func TestP(t *testing.T) {
	if got, want := (Breaches{0, 8, 16}).P(), 12870./10518300; math.Abs(got-want) > 1e-9 { // C(16,8) of C(32,8)
		t.Errorf("%v, want %v", got, want)
	}
	if p := (Breaches{0, 0, 24}).P(); p != 1 {
		t.Errorf("no breach at all: %v", p)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "n")
		b := Breaches{rapid.IntRange(0, n).Draw(t, "before"), rapid.IntRange(0, n).Draw(t, "after"), n}
		all, as := 0, 0 // ways to choose which of the 2n replays are the breaches
		for set := range 1 << (2 * n) {
			before, after := 0, 0
			for i := range 2 * n {
				if set>>i&1 == 1 && i < n {
					before++
				} else if set>>i&1 == 1 {
					after++
				}
			}
			if before+after != b.Before+b.After {
				continue
			}
			if all++; after >= b.After {
				as++
			}
		}
		if want := float64(as) / float64(all); math.Abs(b.P()-want) > 1e-9 {
			t.Fatalf("%+v: %v, want %v", b, b.P(), want)
		}
	})
}

// The level is shared by the rules that were answered afresh.
func TestDecide(t *testing.T) {
	broken, worse, same := &Breaches{0, 12, 24}, &Breaches{0, 6, 24}, &Breaches{2, 2, 24}
	fs := []Finding{{Fresh: broken}, {Fresh: same}, {}}
	if decide(fs); !fs[0].Held || fs[1].Held || fs[2].Held {
		t.Errorf("%+v", fs)
	}
	fs = []Finding{{Fresh: worse}}
	if decide(fs); !fs[0].Held || fs[0].P*2 < Level {
		t.Errorf("alone: %+v", fs)
	}
	fs = []Finding{{Fresh: worse}, {Fresh: same}, {Fresh: same}}
	if decide(fs); fs[0].Held {
		t.Errorf("one of three: %+v", fs)
	}
}

// binomial is the probability of k of n at a rate.
func binomial(n, k int, rate float64) float64 {
	return math.Exp(choose(n, k) + float64(k)*math.Log(rate) + float64(n-k)*math.Log1p(-rate))
}

// screened is how likely a rule of so many probes is answered afresh.
func screened(probes int, before, after float64) (p float64) {
	n := ScreenReplays * probes
	for a := range n + 1 {
		for b := range n + 1 {
			if (Breaches{b, a, n}).More() {
				p += binomial(n, a, after) * binomial(n, b, before)
			}
		}
	}
	return p
}

// heldOf is how likely fresh answers to one rule hold a text back, if so many rules have them.
func heldOf(probes, tested int, before, after float64) (p float64) {
	n := FreshReplays * probes
	for a := 1; a <= n; a++ {
		for b := range a {
			if (Breaches{b, a, n}).P() > Level/float64(tested) {
				break // more breaches before are even less significant
			}
			p += binomial(n, a, after) * binomial(n, b, before)
		}
	}
	return p
}

// exactly is how likely a kernel of so many rules holds back a text that breaks one of them in
// so many more of its replays, and how many replays that takes on average. A screen and the
// fresh answers are independent, and so are rules.
func exactly(rules, probes int, base, more float64) (held, replays float64) {
	first, other := screened(probes, base, base+more), screened(probes, base, base)
	for k := range rules { // of the other rules that are answered afresh
		p := binomial(rules-1, k, other)
		none := func(tested, equal int) float64 { return math.Pow(1-heldOf(probes, tested, base, base), float64(equal)) }
		held += p * first * (1 - (1-heldOf(probes, k+1, base, base+more))*none(k+1, k))
		if k > 0 {
			held += p * (1 - first) * (1 - none(k, k))
		}
	}
	replays = 2 * float64(probes) * (ScreenReplays*float64(rules) + FreshReplays*(first+float64(rules-1)*other))
	return held, replays
}

// Probes that tempt unequally hold an equal text back no more often than equal ones do.
func TestUnequalProbes(t *testing.T) {
	for _, n := range []int{2, 4} { // half of the probes are never broken, the others twice as often
		for _, rate := range []float64{.05, .1, .3} {
			all, half := FreshReplays*n, FreshReplays*n/2
			equal, unequal := 0., 0.
			for a := 1; a <= all; a++ {
				for b := range a {
					if (Breaches{b, a, all}).P() > Level {
						break
					}
					equal += binomial(all, a, rate) * binomial(all, b, rate)
					if a <= half {
						unequal += binomial(half, a, 2*rate) * binomial(half, b, 2*rate)
					}
				}
			}
			if unequal > equal {
				t.Errorf("%d probes at %v: %v, and %v if they are equal", n, rate, unequal, equal)
			}
		}
	}
}

// kernels are those of the table in docs/kernel-probes.md, as rules and probes of each.
var kernels = [][2]int{{1, 3}, {1, 4}, {3, 4}, {5, 4}, {8, 3}, {8, 4}}

// The table in the docs has the exact probabilities. Equal texts are held back in at most 1 % of
// trials, for a kernel of up to 8 rules; a rule that was broken in 1 % of replays and is broken
// in half of them is found in at least 95 %.
func TestTableOfErrors(t *testing.T) {
	var b strings.Builder
	for _, k := range kernels {
		for _, base := range []float64{.01, .05, .1, .3} {
			fmt.Fprintf(&b, "| %d | %d | %.0f %% |", k[0], k[1], 100*base)
			for _, more := range []float64{0, .1, .2, .3, .5} {
				held, _ := exactly(k[0], k[1], base, more)
				switch {
				case more == 0 && held > .01:
					t.Errorf("%v at %v: an equal text is held back in %.4f", k, base, held)
				case base == .01 && more == .5 && held < .95:
					t.Errorf("%v: a broken rule is found in %.4f", k, held)
				}
				if more == 0 {
					fmt.Fprintf(&b, " %.2f |", 100*held)
				} else {
					fmt.Fprintf(&b, " %.0f |", 100*held)
				}
			}
			_, equal := exactly(k[0], k[1], base, 0)
			_, broken := exactly(k[0], k[1], base, .5)
			fmt.Fprintf(&b, " %.0f | %.0f |\n", equal, broken)
		}
	}
	doc, err := os.ReadFile("../../docs/kernel-probes.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| \d+ \| \d+ \|.*\n`).FindAllString(string(doc), -1)
	if got := strings.Join(rows, ""); got != b.String() {
		t.Errorf("docs/kernel-probes.md has\n%s\nit is\n%s", got, b.String())
	}
}
