package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
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
		{record.Calibration{}, false, "no labels yet, κ 0.6 on 20 needed"},
		{record.Calibration{Missing: 14}, false, "14 of the 20 labels that it takes"},
		{trusted, true, "κ 0.90"},
		{doubted, false, "κ 0.40"},
		{record.Calibration{Labels: pareto.Agreement{BothPass: 9, BothFail: 10}}, false, "κ 1.00, 95% interval"},
		{record.Calibration{Labels: pareto.Agreement{BothPass: 40}}, false, "κ unknown on 40 labels of one kind"},
	} {
		if got := c.c.Trusted(); got != c.want || !strings.Contains(c.c.String(), c.says) {
			t.Errorf("%+v: trusted %v, %q", c.c.Labels, got, c.c)
		}
	}
}

// TestGateDoubtsTheJudge: decisions of a judge that does not agree with the
// owner are no evidence on quality and retries, and the verdict reports that.
func TestGateDoubtsTheJudge(t *testing.T) {
	good, bad := variant(t, "good"), variant(t, "bad")
	v, err := judgeGate(&recordtest.Memory{}, "r", doubted).Try(t.Context(), bad, good, judged(heldOut(14), 10))
	if err != nil {
		t.Fatal(err)
	}
	if v.Verdict != pareto.Undecided || v.Cases != 14 || v.Wins != 4 {
		t.Errorf("%s: %d cases, %d wins", v.Verdict, v.Cases, v.Wins)
	}
	for o, n := range map[pareto.Objective]int{pareto.Quality: 4, pareto.Retries: 4, pareto.Cost: 14, pareto.Latency: 14} {
		if got := v.PerObjective[o].Estimate.N; got != n {
			t.Errorf("%v was measured in %d cases, want %d", o, got, n)
		}
	}
	want := "10 of 14 held-out cases rest on the judge alone, which is not calibrated (κ 0.40, "
	if !strings.Contains(strings.Join(v.Warnings, "\n"), want) || !strings.Contains(strings.Join(v.Warnings, "\n"), "`evolve review s`") {
		t.Errorf("warnings %q, want %q", v.Warnings, want)
	}

	v, err = judgeGate(&recordtest.Memory{}, "r", trusted).Try(t.Context(), bad, good, judged(heldOut(60), 60))
	if err != nil {
		t.Fatal(err)
	}
	if v.Verdict != pareto.Promote || strings.Contains(fmt.Sprint(v.Warnings), "judge") {
		t.Errorf("with a trusted judge: %s, %s, %q", v.Verdict, v.Reason, v.Warnings)
	}
}

// TestGateSpendsNothingOnADoubtedJudge: if it alone decides, no case is
// spent, and the cases are still there once it is trusted.
func TestGateSpendsNothingOnADoubtedJudge(t *testing.T) {
	good, bad := variant(t, "good"), variant(t, "bad")
	m := &recordtest.Memory{}
	cases := judged(heldOut(60), 60)
	g := judgeGate(m, "night1", record.Calibration{})
	v, err := g.Try(t.Context(), bad, good, cases)
	if err != nil {
		t.Fatal(err)
	}
	if v.Verdict != pareto.Undecided || v.Fresh != 0 || g.Evaluator.Budget.Spent().Rollouts != 0 ||
		!strings.HasPrefix(v.Reason, "60 of 60 held-out cases rest on the judge alone") {
		t.Errorf("%s, %d cases, %d rollouts: %s", v.Verdict, v.Fresh, g.Evaluator.Budget.Spent().Rollouts, v.Reason)
	}
	v, err = judgeGate(m, "night2", trusted).Try(t.Context(), bad, good, cases)
	if err != nil || v.Verdict != pareto.Promote {
		t.Errorf("%s: %s, %v", v.Verdict, v.Reason, err)
	}
}

// TestGateCompletesWhatWasWithheld: evidence that was gathered while the judge
// was doubted counts once it is trusted, without another rollout, and a resumed
// run comes to the same.
func TestGateCompletesWhatWasWithheld(t *testing.T) {
	good, bad := variant(t, "good"), variant(t, "bad")
	m := &recordtest.Memory{}
	cases := judged(heldOut(50), 45)
	v, err := judgeGate(m, "night1", doubted).Try(t.Context(), bad, good, cases)
	if err != nil || v.Verdict != pareto.Undecided {
		t.Fatalf("%+v, %v", v, err)
	}
	spent, err := m.SpentCases(t.Context(), "s", bad.SHA())
	if err != nil {
		t.Fatal(err)
	}
	rec, err := m.Trial(t.Context(), "s", bad.SHA(), good.SHA())
	if err != nil {
		t.Fatal(err)
	}
	if n, err := rec.Fresh(cases, spent); err != nil || n != 45 {
		t.Errorf("%d cases can still speak, want the 45 that were withheld, %v", n, err)
	}
	for _, again := range []string{"first", "resumed"} {
		g := judgeGate(m, "night2", trusted)
		v, err = g.Try(t.Context(), bad, good, cases)
		if err != nil {
			t.Fatal(err)
		}
		if v.Verdict != pareto.Promote || v.Fresh != 0 || g.Evaluator.Budget.Spent().Rollouts != 0 {
			t.Errorf("%s: %s with %d fresh cases and %d rollouts: %s", again, v.Verdict, v.Fresh, g.Evaluator.Budget.Spent().Rollouts, v.Reason)
		}
	}
}

// TestGateTakesTheOwnersWord if the judge is not trusted: on the answers that
// the owner compared, the owner's choice replaces the judge's.
func TestGateTakesTheOwnersWord(t *testing.T) {
	good, bad := variant(t, "good"), variant(t, "bad")
	for word, want := range map[float64]pareto.Verdict{1: pareto.Promote, -1: pareto.Reject} {
		m := &recordtest.Memory{}
		cases := judged(heldOut(50), 47)
		g := judgeGate(m, "night1", doubted)
		g.Objectives = []string{"cost"} // a preference says nothing of retries
		if v, err := g.Try(t.Context(), bad, good, cases); err != nil || v.Verdict != pareto.Undecided {
			t.Fatalf("%+v, %v", v, err)
		}
		asked := doubted
		asked.Outcomes = map[string]float64{}
		for _, c := range cases[:30] {
			asked.Outcomes[record.OutcomeKey(c.ID, skill.HashText([]byte("no")), skill.HashText([]byte("yes")))] = word
		}
		for _, again := range []string{"first", "resumed"} {
			g := judgeGate(m, "night2", asked)
			g.Objectives = []string{"cost"}
			v, err := g.Try(t.Context(), bad, good, cases)
			if err != nil {
				t.Fatal(err)
			}
			if v.Verdict != want || g.Evaluator.Budget.Spent().Rollouts != 0 || v.Judge.Outcomes != nil {
				t.Errorf("%s, the owner says %g: %s after %d rollouts: %s", again, word, v.Verdict, g.Evaluator.Budget.Spent().Rollouts, v.Reason)
			}
			if !strings.Contains(fmt.Sprint(v.Warnings), "they prove nothing but for the ") {
				t.Errorf("%q", v.Warnings)
			}
		}
	}
}

// TestFreshForgetsWhatIsKnown: a trial has nothing left to continue with once
// the withheld decisions are known.
func TestFreshForgetsWhatIsKnown(t *testing.T) {
	same, bad := variant(t, "also bad"), variant(t, "bad")
	m := &recordtest.Memory{}
	cases := judged(heldOut(6), 4)
	for night, c := range []record.Calibration{doubted, trusted} {
		if _, err := judgeGate(m, fmt.Sprint("night", night), c).Try(t.Context(), bad, same, cases); err != nil {
			t.Fatal(err)
		}
		spent, err := m.SpentCases(t.Context(), "s", bad.SHA())
		if err != nil {
			t.Fatal(err)
		}
		rec, err := m.Trial(t.Context(), "s", bad.SHA(), same.SHA())
		if err != nil {
			t.Fatal(err)
		}
		if n, err := rec.Fresh(cases, spent); err != nil || n != []int{4, 0}[night] {
			t.Errorf("after night %d: %d cases, %v", night, n, err)
		}
	}
}

func TestWithholdKeepsWhatWasMeasured(t *testing.T) {
	p := new(record.State).Withhold("c", pareto.Pair{Quality: 1, Latency: 0.25, Cost: -0.5, Retries: 1}, nil)
	if !math.IsNaN(p.Quality) || !math.IsNaN(p.Retries) || p.Latency != 0.25 || p.Cost != -0.5 {
		t.Errorf("%+v", p)
	}
}

// TestProvable: what a judge alone decides is no fresh case before that judge is
// trusted, or the owner has compared the answers; what anything else checks is.
func TestProvable(t *testing.T) {
	good, bad := variant(t, "good"), variant(t, "bad")
	m := &recordtest.Memory{}
	cases := judged(heldOut(50), 45)
	if v, err := judgeGate(m, "night1", doubted).Try(t.Context(), bad, good, cases); err != nil || v.Verdict != pareto.Undecided {
		t.Fatalf("%+v, %v", v, err)
	}
	spent, err := m.SpentCases(t.Context(), "s", bad.SHA())
	if err != nil {
		t.Fatal(err)
	}
	rec, err := m.Trial(t.Context(), "s", bad.SHA(), good.SHA())
	if err != nil {
		t.Fatal(err)
	}
	var st record.State
	if err := json.Unmarshal(rec.State, &st); err != nil {
		t.Fatal(err)
	}
	compared := doubted
	compared.Outcomes = map[string]float64{}
	for _, w := range st.Withheld {
		compared.Outcomes[w.Answers[0]] = 1
		break
	}
	later := append(slices.Clone(cases), eval.Case{ID: "new", Skill: "s", Split: eval.Test, Checks: []eval.Check{{Type: eval.Judge}}},
		eval.Case{ID: "exact", Skill: "s", Split: eval.Test, Checks: []eval.Check{{Type: eval.Contains, Value: "x"}}})
	for _, c := range []struct {
		name        string
		known       record.Calibration
		fresh, idle int
	}{{"doubted", doubted, 1, 46}, {"one pair compared", compared, 2, 45}, {"trusted", trusted, 47, 0}} {
		if fresh, idle, err := rec.Provable(later, spent, c.known); err != nil || fresh != c.fresh || idle != c.idle {
			t.Errorf("%s: %d fresh, %d idle, %v; want %d and %d", c.name, fresh, idle, err, c.fresh, c.idle)
		}
	}
}
