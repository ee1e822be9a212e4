package pareto

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// by is a pair that this worker has measured, "" for this machine.
func by(worker string, quality float64) Pair {
	p := Pair{Quality: quality, Latency: math.NaN(), Cost: math.NaN(), Retries: math.NaN()}
	if worker != "" {
		p.Workers = []string{worker}
	}
	return p
}

// heard is what three replays of one request show of a text that passes more often by gain than
// one that passes a case with a probability of 0.3 to 0.9.
func heard(rng *rand.Rand, gain float64) (d float64) {
	passes := 0.3 + 0.6*rng.Float64()
	for range 3 {
		if rng.Float64() < passes+gain {
			d += 1. / 3
		}
		if rng.Float64() < passes {
			d -= 1. / 3
		}
	}
	return d
}

// A fleetRun is how a trial over a fleet ended, and the trials of the same pairs in which each
// worker is trusted, and in which the honest ones alone measure.
type fleetRun struct {
	fleet, trusting *Trial
	honest          Process // of the honest pairs alone, against "no better"; never closed
}

// tried has a text heard by that many workers, at most 200 pairs; the first `liars` of them say
// that the challenger always passes and the incumbent never does.
func tried(rng *rand.Rand, workers, liars int, gain float64) (r fleetRun) {
	r.fleet, r.trusting = NewTrial(Config{}), NewTrial(Config{})
	for i := range 200 {
		w, d := i%workers, heard(rng, gain)
		if w < liars {
			d = 1
		} else {
			r.honest.Add(d)
		}
		r.fleet.Add(by(fmt.Sprint("w", w), d))
		r.trusting.Add(by("", d))
		if !r.fleet.verdict.IsOpen() && !r.trusting.verdict.IsOpen() {
			break
		}
	}
	return r
}

// TestALyingWorkerPromotesNothing: in 1,000 trials one of three workers says that the challenger
// is always better. A worse text is never promoted. Of an equal one no more are than an
// e-process of the honest pairs alone allows: that is the bound, and it is not 0.
func TestALyingWorkerPromotesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		workers, liars int
		gain           float64
		most           int // promotions in 1,000
	}{
		{"worse by 0.1, one of three lies", 3, 1, -0.1, 0},
		{"equal, one of three lies", 3, 1, 0, 40},
		{"worse by 0.1, one of two lies", 2, 1, -0.1, 0},
		{"worse by 0.1, the only one lies", 1, 1, -0.1, 0},
		{"better by 0.3, the only one is honest", 1, 0, 0.3, 0},
	} {
		promoted, trusting, crossed := 0, 0, 0
		for seed := range uint64(1000) {
			r := tried(rand.New(rand.NewPCG(seed, 1)), c.workers, c.liars, c.gain)
			if r.trusting.verdict == Promote {
				trusting++
			}
			alone := reached(&r.honest, DefaultConfig().Quality.Alpha)
			if alone {
				crossed++
			}
			if r.fleet.verdict == Promote {
				if promoted++; c.liars > 0 && !alone {
					t.Errorf("%s: promoted, and the honest pairs are at e = %.1f", c.name, r.honest.Max())
				}
			}
			if v := r.fleet.Verdict(); r.trusting.verdict == Promote && r.fleet.verdict == Undecided && v != Promising && r.fleet.HeldBy() != "" {
				t.Errorf("%s: held by %s, and shown as %s", c.name, r.fleet.HeldBy(), v)
			}
		}
		if promoted > c.most {
			t.Errorf("%s: %d of 1,000 promoted, want at most %d", c.name, promoted, c.most)
		}
		t.Logf("%s: %d of 1,000 promoted (%d if every worker is trusted; honest pairs alone reach the level in %d)", c.name, promoted, trusting, crossed)
	}
}

// TestHonestWorkersPromote: the rule costs pairs, in the proportion of those that are left out,
// and a text that is better is still promoted.
func TestHonestWorkersPromote(t *testing.T) {
	t.Parallel()
	for _, gain := range []float64{0.2, 0.3} {
		for _, c := range []struct {
			workers int
			most    float64 // times the pairs
		}{{2, 2.8}, {3, 2.1}, {4, 1.9}, {8, 1.6}} {
			var with, without []int
			n := 0
			for seed := range uint64(500) {
				r := tried(rand.New(rand.NewPCG(seed, 2)), c.workers, 0, gain)
				if r.trusting.verdict != Promote {
					continue
				}
				n++
				if without = append(without, r.trusting.Cases()); r.fleet.verdict == Promote {
					with = append(with, r.fleet.Cases())
				} else {
					with = append(with, 1000)
				}
			}
			slices.Sort(with)
			slices.Sort(without)
			lost := 0
			for _, x := range with {
				if x == 1000 {
					lost++
				}
			}
			more := float64(with[n/2]) / float64(without[n/2])
			t.Logf("better by %.1f, %d workers: half are proved within %d pairs (%d if every worker is trusted, ×%.2f), 80 %% within %d (%d); of %d proofs %d are not made by 200 pairs",
				gain, c.workers, with[n/2], without[n/2], more, with[n*8/10], without[n*8/10], n, lost)
			if more > c.most || lost > n/10 {
				t.Errorf("better by %.1f, %d workers: ×%.2f pairs, want at most ×%.2f; %d of %d lost", gain, c.workers, more, c.most, lost, n)
			}
		}
	}
}

// TestWorkersChangeNoEvidence: whatever workers measured the pairs, the evidence is that of the
// same pairs, and so is the verdict unless the rule lowers it. A copy, what is read again from
// its JSON, and the same pairs under their rule agree in everything.
func TestWorkersChangeNoEvidence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := DefaultConfig()
		if rapid.Bool().Draw(t, "rest") {
			cfg = cfg.WithRest()
		}
		fleet, local, lowered := NewTrial(cfg), NewTrial(cfg), false
		for range rapid.IntRange(0, 60).Draw(t, "pairs") {
			p := by(rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "worker"), rapid.SampledFrom([]float64{-1, 0, 0.5, 1, 1}).Draw(t, "quality"))
			if rapid.IntRange(0, 9).Draw(t, "two") == 0 {
				p.Workers = []string{"a", "b"}
			}
			rest := cfg.Rest != (Limit{}) && rapid.IntRange(0, 2).Draw(t, "of the rest") == 0
			for _, trial := range []*Trial{fleet, local} {
				if trial == local {
					p.Workers = nil
				}
				if rest {
					trial.AddRest(p)
				} else {
					trial.Add(p)
				}
			}
			if lowered = local.verdict == Promote && fleet.verdict != Promote; lowered {
				break // local takes no more
			}
			if fleet.verdict != local.verdict || fleet.EValue() != local.EValue() {
				t.Fatalf("%s with e = %g, of the same pairs of this machine %s with e = %g", fleet.verdict, fleet.EValue(), local.verdict, local.EValue())
			}
		}
		seen := func(trial *Trial) string {
			b, err := json.Marshal(trial.Decide())
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		now := fleet.Decide()
		if lowered && (now.Verdict != Promising || !strings.Contains(now.Reason, "not yet without those of worker "+fleet.HeldBy())) {
			t.Fatalf("lowered to %s: %s", now.Verdict, now.Reason)
		}
		stored, err := json.Marshal(fleet)
		if err != nil {
			t.Fatal(err)
		}
		var read Trial
		if err := json.Unmarshal(stored, &read); err != nil {
			t.Fatal(err)
		}
		for what, again := range map[string]*Trial{"copied": fleet.Clone(), "read": &read, "under its rule": fleet.Under(cfg)} {
			if got, want := seen(again), seen(fleet); got != want {
				t.Fatalf("%s:\n%s\nwas\n%s", what, got, want)
			}
		}
	})
}

// TestWordsOfWorkers: what people read of a verdict that the rule lowered, or that one worker decided.
func TestWordsOfWorkers(t *testing.T) {
	id := "UAAAAAAAAAAALIAR"
	of := func(pairs ...Pair) Decision {
		trial := NewTrial(Config{})
		for _, p := range pairs {
			trial.Add(p)
		}
		return trial.Decide()
	}
	many := func(n int, p Pair) []Pair { return slices.Repeat([]Pair{p}, n) }
	for _, c := range []struct {
		name  string
		pairs []Pair
		want  Verdict
		says  string
	}{
		{"one worker", many(20, by(id, 1)), Promising, "not yet without those of worker UAAAAAAAAAAA: it has measured them all"},
		{"few others", slices.Concat(many(20, by(id, 1)), many(4, by("b", 1))), Promising, "not yet without those of worker UAAAAAAAAAAA (at most 1 time in 6 by chance; 1 in 25 decides)"},
		{"this machine too", slices.Concat(many(5, by(id, 1)), many(9, by("", 1))), Promote, "at most 1 time in"},
		{"rejected by one", slices.Concat(many(1, by("b", 0)), many(7, by(id, -1))), Reject, "not without those of worker UAAAAAAAAAAA"},
	} {
		d := of(c.pairs...)
		if d.Verdict != c.want || !strings.Contains(d.Reason+strings.Join(d.Warnings, ";"), c.says) {
			t.Errorf("%s: %s, want %s that says %q: %s %q", c.name, d.Verdict, c.want, c.says, d.Reason, d.Warnings)
		}
	}
}

// TestALifetimeAsksWithoutEachWorker: a proof that holds among all trials must do so without
// each worker, and so must what a night puts in place on trial.
func TestALifetimeAsksWithoutEachWorker(t *testing.T) {
	trial := NewTrial(Config{})
	for i := 0; trial.verdict == Undecided; i++ {
		trial.Add(by([]string{"a", "b", "b"}[i%3], 1))
	}
	d := trial.Decide()
	level := 0.05 * 25 / d.EValue // what all pairs just prove
	if d.Verdict != Promote || d.Lasts(level) || !d.Lasts(0.05) || d.Proof() != d.Workers[1].EValue {
		t.Errorf("%s, lasts %t at %g with a proof of e = %g: %+v", d.Verdict, d.Lasts(level), level, d.Proof(), d.Workers)
	}
	alone := NewTrial(Config{})
	for range 20 {
		alone.Add(by("a", 1))
	}
	if better, _ := alone.Now(); better != 1 {
		t.Errorf("one worker's pairs are e = %g for a night that tries a text", better)
	}
}
