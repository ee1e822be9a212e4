package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// yes judges without a model: an answer passes if it is yes.
type yes struct{}

func (yes) Identity() string { return "yes" }

func (yes) Grade(_ context.Context, c *eval.Case, a eval.Attempt, _ string) (eval.Grade, error) {
	g := eval.Grade{}
	if a.Answer == "yes" {
		g.Quality = 1
	}
	for _, k := range c.Checks {
		g.Checks = append(g.Checks, eval.CheckResult{Type: k.Type, Score: g.Quality, Weight: 1})
	}
	return g, nil
}

// judged makes the first n cases rest on a judge alone.
func judged(cases []eval.Case, n int) []eval.Case {
	for i := range cases[:n] {
		cases[i].Checks = []eval.Check{{Type: eval.Judge, Rubric: "says yes"}}
	}
	return cases
}

func judgeGate(j record.Journal, run string, c record.Calibration) *Gate {
	g := newGate(j, duel{}, run, 0)
	g.Evaluator.Grader, g.Judge = yes{}, c
	return g
}

var (
	trusted = record.Calibration{Judge: "yes", Labels: pareto.Agreement{BothPass: 10, BothFail: 9, OnlyJudge: 1}}
	doubted = record.Calibration{Judge: "yes", Labels: pareto.Agreement{BothPass: 10, OnlyJudge: 6, BothFail: 4, OnlyOwner: 0}}
)

func TestTrusted(t *testing.T) {
	for _, c := range []struct {
		c    record.Calibration
		want bool
		says string
	}{
		{record.Calibration{}, false, "no labels yet, an agreement of 0.6 on 20 needed"},
		{record.Calibration{Missing: 14}, false, "14 of the 20 labels that it takes"},
		{trusted, true, "agreement 0.90"},
		{doubted, false, "agreement 0.40"},
		{record.Calibration{Labels: pareto.Agreement{BothPass: 9, BothFail: 10}}, false, "agreement 1.00, 95 % interval"},
		{record.Calibration{Labels: pareto.Agreement{BothPass: 40}}, false, "agreement unknown on 40 labels of one kind"},
	} {
		if got := c.c.Trusted(); got != c.want || !strings.Contains(c.c.String(), c.says) {
			t.Errorf("%+v: trusted %v, %q", c.c.Labels, got, c.c)
		}
	}
}

// TestGateWaitsForTheJudge: while one that does not agree with the owner has a say
// in more than a twentieth of the cases, nothing is evidence, for the others do
// not stand for all; what was measured counts once the judge is trusted, in order
// and without another rollout, and a resumed run comes to the same.
func TestGateWaitsForTheJudge(t *testing.T) {
	good, bad := variant(t, "good"), variant(t, "bad")
	m := &recordtest.Memory{}
	cases := judged(heldOut(150), 70)
	const most = waitingPairs + 20 // its owner has compared 20 pairs of answers
	v, err := judgeGate(m, "night1", doubted).Try(t.Context(), bad, good, cases)
	if err != nil {
		t.Fatal(err)
	}
	if !v.Verdict.IsOpen() || v.Cases != 0 || v.Fresh < most || v.Fresh > waiting*most || !strings.Contains(v.Stop, fmt.Sprint(v.Fresh, " measured pairs wait")) {
		t.Errorf("%s: %d cases, %d fresh, %q", v.Verdict, v.Cases, v.Fresh, v.Stop)
	}
	measured := v.Fresh
	want := "70 of 150 requests of the trial rest on the judge, which is not calibrated (agreement 0.40, "
	if !strings.HasPrefix(v.Reason, want) || !strings.Contains(v.Reason, "measured pairs wait until it is") || !strings.Contains(v.Reason, "`evolve review s`") {
		t.Errorf("reason %q, want %q", v.Reason, want)
	}
	provable := func(when string, known record.Calibration, fresh, idle int) {
		t.Helper()
		spent, err := m.SpentCases(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		rec, err := m.Trial(t.Context(), "s", bad.SHA(), good.SHA())
		if err != nil {
			t.Fatal(err)
		}
		if f, i, err := rec.Provable(cases, spent, nil, known); err != nil || f != fresh || i != idle {
			t.Errorf("%s: %d fresh, %d idle, %v; want %d and %d", when, f, i, err, fresh, idle)
		}
	}
	provable("after a night", doubted, 0, 150)
	g := judgeGate(m, "night2", doubted)
	if v, err := g.Try(t.Context(), bad, good, cases); err != nil || v.Fresh != 0 || g.Evaluator.Budget.Spent().Rollouts != 0 {
		t.Errorf("%+v, %v: no more than its owner can compare is measured", v, err)
	}
	provable("doubted", doubted, 0, 150)
	provable("trusted", trusted, 150, 0)
	begun := &record.TrialRecord{Challenger: good.SHA()}
	if err := begun.Save(&record.State{Version: 1}); err != nil {
		t.Fatal(err)
	}
	if fresh, idle, err := begun.Provable(judged(heldOut(60), 2), nil, nil, doubted); err != nil || fresh != 58 || idle != 2 {
		t.Errorf("where it has a say in few cases: %d fresh, %d idle, %v; want 58 and 2", fresh, idle, err)
	}
	rec, err := m.Trial(t.Context(), "s", bad.SHA(), good.SHA())
	if err != nil {
		t.Fatal(err)
	}
	var st record.State
	if err := json.Unmarshal(rec.State, &st); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, w := range st.Waiting {
		if w.Asked {
			asked++
		}
	}
	if len(st.Waiting) != measured || asked != most {
		t.Errorf("%d pairs wait, %d with a word of the judge", len(st.Waiting), asked)
	}
	st.Waiting = slices.DeleteFunc(st.Waiting, func(w record.WaitingPair) bool { return !w.Asked })
	if st.Hear(record.Calibration{Judge: "another"}); len(st.Clusters) != 0 || len(st.Excluded) != asked {
		t.Errorf("%d pairs count although another judge has seen them", len(st.Clusters))
	}
	for _, again := range []string{"first", "resumed"} {
		g := judgeGate(m, "night3", trusted)
		v, err = g.Try(t.Context(), bad, good, cases)
		if err != nil {
			t.Fatal(err)
		}
		if v.Verdict != pareto.Promote || v.Cases != 7 || v.Fresh != 0 || g.Evaluator.Budget.Spent().Rollouts != 0 {
			t.Errorf("%s: %s after %d with %d fresh cases and %d rollouts: %s %q", again, v.Verdict, v.Cases, v.Fresh, g.Evaluator.Budget.Spent().Rollouts, v.Reason, v.Warnings)
		}
	}
}

// TestGateDoesWithoutTheJudge where it has a say in few cases: they are left out,
// and not spent.
func TestGateDoesWithoutTheJudge(t *testing.T) {
	good, bad := variant(t, "good"), variant(t, "bad")
	m := &recordtest.Memory{}
	cases := judged(heldOut(60), 2)
	v, err := judgeGate(m, "night", doubted).Try(t.Context(), bad, good, cases)
	if err != nil || v.Verdict != pareto.Promote {
		t.Fatalf("%+v, %v", v, err)
	}
	if all := strings.Join(v.Warnings, "\n"); !strings.Contains(all, "2 of 60 requests of the trial rest on the judge") || !strings.Contains(all, "they are left out") {
		t.Errorf("warnings %q", v.Warnings)
	}
	spent, err := m.SpentCases(t.Context(), "s")
	if err != nil || spent.By["c000"] != "" || spent.By["c001"] != "" {
		t.Errorf("spent %v, %v", spent.By, err)
	}
}
