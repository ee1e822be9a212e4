package gate

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// mined makes cases of uses: those of corrected have the checks that they have, of the
// others a judge compares the answers.
func mined(cases []eval.Case, corrected func(i int) bool) []eval.Case {
	for i := range cases {
		cases[i].Source = &eval.Source{Origin: record.Mined, Stratum: "accepted"}
		if corrected(i) {
			cases[i].Source.Stratum = record.Corrected
		} else {
			cases[i].Checks = []eval.Check{{Type: eval.Judge, Rubric: "says yes"}}
		}
	}
	return cases
}

// TestMeasuredQuality: a judge's comparison replaces its grades on uses that nobody
// corrected; what checks decided is told apart.
func TestMeasuredQuality(t *testing.T) {
	judge := eval.Check{Type: eval.Judge, Rubric: "good"}
	check := eval.Check{Type: eval.Contains, Value: "x", Weight: 3}
	roll := func(judged, checked float64) *eval.Rollout {
		return &eval.Rollout{Status: eval.Done, Quality: (judged + 3*checked) / 4,
			Checks: []eval.CheckResult{{Type: eval.Judge, Score: judged, Weight: 1}, {Type: eval.Contains, Score: checked, Weight: 3}}}
	}
	failed := roll(0, 0)
	failed.Failure = "exit status 1"
	yes := &comparison{score: 0.5, known: true}
	for _, c := range []struct {
		what, stratum string
		old, new      []*eval.Rollout
		lost          []*eval.Rollout
		score         *comparison
		sum, checked  float64
		known         bool
	}{
		{"corrected: grades", record.Corrected, []*eval.Rollout{roll(1, 0)}, []*eval.Rollout{roll(0, 1)}, nil, nil, 0.5, 0.5, true},
		{"accepted: the comparison and the checks", "accepted", []*eval.Rollout{roll(1, 0)}, []*eval.Rollout{roll(0, 1)}, nil, yes, 0.875, 0.75, true},
		{"imported: nothing counts less", "imported", []*eval.Rollout{roll(1, 0)}, []*eval.Rollout{roll(0, 1)}, nil, nil, 0.5, 0, true},
		{"one that did not come loses", "accepted", []*eval.Rollout{roll(1, 1)}, []*eval.Rollout{roll(1, 1)}, []*eval.Rollout{roll(1, 1)}, yes, 0.125 - 1, -0.75, true},
		{"unless the other failed", "accepted", []*eval.Rollout{roll(1, 1)}, []*eval.Rollout{roll(1, 1)}, []*eval.Rollout{failed}, yes, 0.125, 0, true},
		{"nor did any", "accepted", nil, nil, []*eval.Rollout{roll(1, 1), roll(0, 1)}, &comparison{}, -2, -1.5, true},
		{"no word of the judge", "accepted", []*eval.Rollout{roll(1, 1)}, []*eval.Rollout{roll(1, 1)}, nil, &comparison{}, 0, 0, false},
	} {
		k := &eval.Case{Checks: []eval.Check{judge, check}}
		if c.stratum != "imported" {
			k.Source = &eval.Source{Origin: record.Mined, Stratum: c.stratum}
		}
		s := sides{kase: k, both: [2][]*eval.Rollout{c.old, c.new}, lost: c.lost, score: c.score}
		sum, checked, known := s.quality()
		if math.Abs(sum-c.sum) > 1e-12 || math.Abs(checked-c.checked) > 1e-12 || known != c.known {
			t.Errorf("%s: %g, %g, %v; want %g, %g, %v", c.what, sum, checked, known, c.sum, c.checked, c.known)
		}
		if want := c.stratum == "accepted"; Compares(k) != want {
			t.Errorf("%s: compared %v", c.what, !want)
		}
	}
}

// TestGateComparesBlind: the judge is asked about the replays of uses that nobody
// corrected, and corrections count as much as it surely sees.
func TestGateComparesBlind(t *testing.T) {
	good, bad := variant(t, "good"), variant(t, "bad")
	cases := mined(heldOut(90), func(i int) bool { return i%3 == 0 })
	asked := 0
	try := func(j record.Journal, run string, c record.Calibration, says float64) *Verdict {
		t.Helper()
		g := judgeGate(j, run, c)
		g.Replays = 2
		g.Compare = func(_ context.Context, k *eval.Case, old, new []*eval.Rollout) (float64, bool, error) {
			if !Compares(k) || len(old) != 2 || len(new) != 2 {
				t.Errorf("asked about %+v with %d and %d replays", k, len(old), len(new))
			}
			for i := range old {
				if old[i].Candidate != bad.SHA() || new[i].Candidate != good.SHA() {
					t.Error("the arms are swapped")
				}
			}
			asked++
			return says, true, nil
		}
		v, err := g.Try(t.Context(), bad, good, cases)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	// All checks are met by the challenger alone, and the judge prefers it always.
	v := try(&recordtest.Memory{}, "r", trusted, 1)
	l := trusted.Sensitivity()
	if mean := v.PerObjective[0].Estimate.Mean; v.Verdict != pareto.Promote || asked == 0 || mean >= 1 || mean <= l {
		t.Errorf("%s at %g (%g for checks), asked %d times", v.Verdict, mean, l, asked)
	}
	// A judge that sees no difference leaves the corrections, at that weight.
	v = try(&recordtest.Memory{}, "r", trusted, 0)
	if mean := v.PerObjective[0].Estimate.Mean; mean > l/3+0.2 || mean < l/3-0.2 {
		t.Errorf("mean %g, want about a third of %g", mean, l)
	}
	// The same pairs, measured before the judge was trusted, count the same.
	at, waited := &recordtest.Memory{}, &recordtest.Memory{}
	want := try(at, "r", trusted, 1)
	if v := try(waited, "r1", doubted, 1); v.Cases != 0 {
		t.Errorf("%d cases count for an untrusted judge", v.Cases)
	}
	if v := try(waited, "r2", trusted, 1); v.EValue != want.EValue || v.Cases != want.Cases {
		t.Errorf("after it waited e = %g on %d, want %g on %d", v.EValue, v.Cases, want.EValue, want.Cases)
	}
}

// TestNothingToCompare: where no answer of the challenger came, nobody is asked.
func TestNothingToCompare(t *testing.T) {
	k := &mined(heldOut(1), func(int) bool { return false })[0]
	m := &measured{cases: []sides{{kase: k, lost: []*eval.Rollout{{Status: eval.Done, Quality: 0.4, Checks: []eval.CheckResult{{Type: eval.Judge, Score: 0.4, Weight: 1}}}}}},
		gate: &Gate{Compare: func(context.Context, *eval.Case, []*eval.Rollout, []*eval.Rollout) (float64, bool, error) {
			return 0, false, errors.New("asked")
		}}}
	if _, err := m.compare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sum, checked, known := m.cases[0].quality(); sum != -1 || checked != 0 || !known {
		t.Errorf("%g, %g, %v; want a whole loss", sum, checked, known)
	}
}

// TestGateStopsWhereTheJudgeCannotBePaid: what was measured and not compared is no pair;
// the next run compares it.
func TestGateStopsWhereTheJudgeCannotBePaid(t *testing.T) {
	good, bad := variant(t, "good"), variant(t, "bad")
	cases := mined(heldOut(30), func(int) bool { return false })
	m := &recordtest.Memory{}
	paid := 5
	compare := func(context.Context, *eval.Case, []*eval.Rollout, []*eval.Rollout) (float64, bool, error) {
		if paid--; paid < 0 {
			return 0, false, &eval.BudgetError{Cap: "max-cost-usd"}
		}
		return 1, true, nil
	}
	g := judgeGate(m, "r", trusted)
	g.Compare = compare
	v, err := g.Try(t.Context(), bad, good, cases)
	if err != nil || v.Fresh != 5 || !v.BudgetStop || v.Cases != 5 {
		t.Fatalf("%+v, %v", v, err)
	}
	paid = 100
	g = judgeGate(m, "r", trusted) // resumed
	g.Compare = compare
	if v, err = g.Try(t.Context(), bad, good, cases); err != nil || v.Verdict != pareto.Promote {
		t.Errorf("%+v, %v", v, err)
	}
	g = judgeGate(&recordtest.Memory{}, "r", trusted)
	g.Compare = func(context.Context, *eval.Case, []*eval.Rollout, []*eval.Rollout) (float64, bool, error) {
		return 0, false, &eval.InfraError{Kind: eval.Pending, Err: errors.New("a request waits")}
	}
	if _, err := g.Try(t.Context(), bad, good, cases); !eval.IsPending(err) {
		t.Errorf("%v: the run waits for the judge", err)
	}
}
