package record

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/pareto"
	"pgregory.net/rapid"
)

func times(n int, s Said) (out []Said) {
	for range n {
		out = append(out, s)
	}
	return out
}

// TestCount: only whole looks count, a lean is an agreement, and a judge that sees no
// difference is of the opposite opinion.
func TestCount(t *testing.T) {
	said := append(times(8, Said{true, 1}), times(8, Said{false, -1})...)
	said = append(said, Said{true, 0.5}, Said{true, 0}, Said{false, 0}, Said{false, 1})
	var c Calibration
	c.Count(append(said, times(19, Said{true, -1})...))
	if want := (pareto.Agreement{BothPass: 9, OnlyOwner: 1, OnlyJudge: 2, BothFail: 8}); c.Labels != want || c.Leans != 1 || c.Since != 19 || c.Reviews() != 1 {
		t.Errorf("%+v", c)
	}
	if l, want := c.Sensitivity(), pareto.ShareAtLeast(16, 20, 0.95)-1./20; l != want || c.Against != 1 {
		t.Errorf("sensitivity %g, want %g; against %g", l, want, c.Against)
	}
	c.Count(said[:19])
	if l := c.Sensitivity(); l != 0 || c.Labels.N() != 0 || c.Since != 19 {
		t.Errorf("on 19 labels: %g, %+v", l, c)
	}
	// Labels after a look change nothing before the next one.
	rapid.Check(t, func(t *rapid.T) {
		said := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Said {
			return Said{rapid.Bool().Draw(t, "first"), rapid.SampledFrom([]float64{-1, -0.5, 0, 0.5, 1}).Draw(t, "score")}
		}), 0, 90).Draw(t, "said")
		var all, looked Calibration
		all.Count(said)
		looked.Count(said[:len(said)/TrustedLabels*TrustedLabels])
		if all.Labels != looked.Labels || all.Leans != looked.Leans || all.Labels.N()+all.Since != len(said) || all.Since >= TrustedLabels || all.Trusted() != looked.Trusted() {
			t.Fatalf("%+v, at the look %+v", all, looked)
		}
		again := Calibration{}
		if b, err := json.Marshal(all); err != nil || json.Unmarshal(b, &again) != nil || !reflect.DeepEqual(again, all) {
			t.Fatalf("%+v, stored and read %+v", all, again)
		}
	})
}

// TestTrusted: the lower end of the interval counts too.
func TestTrusted(t *testing.T) {
	for _, c := range []struct {
		a    pareto.Agreement
		want bool
	}{
		{pareto.Agreement{BothPass: 8, OnlyOwner: 2, OnlyJudge: 2, BothFail: 8}, false},   // κ .6 from .20 on
		{pareto.Agreement{BothPass: 9, OnlyOwner: 1, OnlyJudge: 2, BothFail: 8}, false},   // κ .7 from .32 on
		{pareto.Agreement{BothPass: 9, OnlyOwner: 1, OnlyJudge: 1, BothFail: 9}, true},    // κ .8
		{pareto.Agreement{BothPass: 24, OnlyOwner: 6, OnlyJudge: 6, BothFail: 24}, false}, // κ .6 on 60, from .38 on
		{pareto.Agreement{BothPass: 25, OnlyOwner: 5, OnlyJudge: 6, BothFail: 24}, true},
		{pareto.Agreement{BothPass: 9, BothFail: 10}, false}, // 19
		{pareto.Agreement{BothPass: 40}, false},
	} {
		k := pareto.Kappa(c.a)
		t.Logf("%+v: κ %.2f, %.2f to %.2f", c.a, k.Value, k.Low, k.High)
		if got := (Calibration{Labels: c.a}).Trusted(); got != c.want {
			t.Errorf("%+v: trusted %v", c.a, got)
		}
	}
}

// TestTrustByLuck measures who is trusted at some look up to 60 labels: at a true κ of .4
// .06 of judges (.28 if any label might do, and no interval counts), at .8 .99.
func TestTrustByLuck(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 9))
	for _, c := range []struct{ kappa, least, most float64 }{{0.2, 0, 0.01}, {0.4, 0, 0.08}, {0.5, 0, 0.23}, {0.8, 0.95, 1}, {0.9, 0.99, 1}} {
		const judges = 2000
		trusted := 0
		for range judges {
			var said []Said
			ever := false
			for range 3 {
				for range TrustedLabels {
					first, score := rng.IntN(2) == 0, 1.0
					if first != (rng.Float64() < (1+c.kappa)/2) {
						score = -1
					}
					said = append(said, Said{first, score})
				}
				var k Calibration
				k.Count(said)
				ever = ever || k.Trusted()
			}
			if ever {
				trusted++
			}
		}
		if share := float64(trusted) / judges; share < c.least || share > c.most {
			t.Errorf("true κ %.1f: %.3f of judges are trusted, want %g to %g", c.kappa, share, c.least, c.most)
		} else {
			t.Logf("true κ %.1f: %.3f", c.kappa, share)
		}
	}
}

func TestCalibrationSaysWhatIsMissing(t *testing.T) {
	look := pareto.Agreement{BothPass: 8, OnlyOwner: 2, OnlyJudge: 2, BothFail: 8}
	for _, c := range []struct {
		c         Calibration
		says      string
		undecided bool
	}{
		{Calibration{}, "no labels yet, an agreement of 0.6 on 20 needed, 20 reviews are missing until the next look", false},
		{Calibration{Missing: 14}, "14 of the 20 labels that it takes, 6 reviews are missing until the next look", false},
		{Calibration{Missing: 15, Since: 4}, "19 of the 20 labels that it takes, 1 review is missing until the next look", false},
		{Calibration{Missing: 21}, "the next run asks the judge about them", true},
		{Calibration{Labels: look, Since: 3}, "17 reviews are missing until the next look", false},
		{Calibration{Labels: look, Since: 3, Missing: 17}, "the next run asks", true},
	} {
		if got := c.c.String(); !strings.Contains(got, c.says) || c.c.Undecided() != c.undecided {
			t.Errorf("%+v: %q, %v, want %q", c.c, got, c.c.Undecided(), c.says)
		}
	}
	if l := (Calibration{Missing: 30}).Sensitivity(); l != 0 {
		t.Error(l)
	}
}
