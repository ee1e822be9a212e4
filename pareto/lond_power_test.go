package pareto

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLateTrialsKeepTheirPower: how many cases a challenger needs that is better by
// 30 points, as the n-th trial of a skill of which none was a
// promotion: the level shrinks with the square of the number, the cases grow with
// its logarithm.
func TestLateTrialsKeepTheirPower(t *testing.T) {
	w := World{Failures: 0.5, Gain: 0.3, Replays: 3}
	life := LOND{Alpha: LifetimeAlpha}
	single := 0
	for _, number := range []int{0, 1, 5, 20, 50} { // 0: at the level of a single trial
		rule, level := DefaultConfig(), LifetimeAlpha
		if number > 0 {
			level = life.Level(number)
			rule = rule.Within(level)
		}
		draw := w.pairs(rand.New(rand.NewPCG(30, uint64(number))))
		const most = 1000
		var need []int
		for range repetitions() / 2 {
			trial := NewTrial(rule)
			for trial.Cases() < most && trial.Verdict().IsOpen() {
				trial.Add(draw())
			}
			if trial.verdict == Promote {
				need = append(need, trial.Cases())
			} else {
				need = append(need, most+1)
			}
		}
		slices.Sort(need)
		half, most80, most90 := need[len(need)/2], need[len(need)*8/10], need[len(need)*9/10]
		t.Logf("trial %d, level %.3g: half of them within %d cases, 80 %% within %d, 90 %% within %d", number, level, half, most80, most90)
		if number == 0 {
			single = half
		}
		if half > 5*single || number <= 20 && most80 > 300 {
			t.Errorf("trial %d: half within %d cases, 80 %% within %d; a single one needs %d", number, half, most80, single)
		}
	}
}

// TestShareNeverExceedsHalf: whatever was promoted before, no trial is judged at more
// than half of the lifetime's error, and without promotions all of them share it.
func TestShareNeverExceedsHalf(t *testing.T) {
	l := LOND{Alpha: 0.05}
	sum := 0.0
	for n := 1; n <= 1000; n++ {
		sum += l.Share(n, 0)
		for before := range n {
			if s := l.Share(n, before); s > 0.025*(1+1e-12) || before > 0 && s <= l.Share(n, before-1) {
				t.Fatalf("trial %d after %d promotions: %g", n, before, s)
			}
		}
	}
	if sum > 0.05 {
		t.Errorf("the shares add up to %g", sum)
	}
}
