package pareto

import (
	"math/rand/v2"
	"testing"
)

// TestToldGains: what is told of a text when it is proved. The interval at the pair that
// proved it holds the truth as often as it says, over all trials; the mean boasts, because a
// trial ends when it is high; the gain that is told boasts less.
func TestToldGains(t *testing.T) {
	lives := fewer(2)
	for _, gain := range []float64{0.30, 0.20, 0.10, 0.05} {
		w := World{Failures: 0.5, Gain: gain, Replays: 3}
		draw := w.pairs(rand.New(rand.NewPCG(24, 0)))
		proved, missed, level := 0, 0, 0.
		var mean, told, pairs float64
		for range lives {
			trial := NewTrial(night(1, w.Failures))
			for trial.Cases() < 400 && trial.Verdict().IsOpen() {
				trial.Add(draw())
			}
			if trial.Verdict() != Promote || trial.route != Quality.String() {
				continue
			}
			d := trial.Decide()
			q := d.PerObjective[Quality]
			proved++
			mean, told, pairs, level = mean+q.Proved.Mean, told+d.Gain, pairs+float64(q.Proved.N), q.Proved.Level
			if gain < q.Proved.Low || gain > q.Proved.High {
				missed++
			}
		}
		n := float64(proved)
		mean, told = mean/n, told/n
		t.Logf("+%.2f: proved %.3f of %d, on %.0f pairs; mean +%.3f, told +%.3f; the %.0f %% interval misses the truth in %.4f of trials, %.4f of proofs",
			gain, n/float64(lives), lives, pairs/n, mean, told, 100*level, float64(missed)/float64(lives), float64(missed)/n)
		if share := float64(missed) / float64(lives); share > 1-level+sampling(1-level, lives) {
			t.Errorf("+%.2f: the interval at the proof misses the truth in %.4f of trials, want at most %.2f", gain, share, 1-level)
		}
	}
}
