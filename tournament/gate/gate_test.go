package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// A duel is an agent that passes a case or not by the text of the skill: "good"
// always passes, "bad" never does.
type duel struct {
	cost map[string]float64 // by text; nil: unknown
	fail func(t eval.Task) error
}

func (duel) Identity() eval.Identity { return eval.Identity{Backend: "duel"} }

func (d duel) Run(_ context.Context, t eval.Task) (eval.Attempt, error) {
	if d.fail != nil {
		if err := d.fail(t); err != nil {
			return eval.Attempt{}, err
		}
	}
	text := string(t.Variant.Doc.Body())
	a := eval.Attempt{Answer: "no", Duration: 100 * time.Millisecond, Usage: &eval.Usage{Input: 100, Output: 10}}
	if strings.HasPrefix(text, "good") {
		a.Answer = "yes"
	}
	if d.cost != nil {
		usd := d.cost[text]
		a.CostUSD = &usd
	}
	return a, nil
}

func variant(t testing.TB, body string) eval.Variant {
	t.Helper()
	doc, err := skill.Parse([]byte("---\nname: s\ndescription: d\n---\n"+body+"\n"), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return eval.Variant{Name: "s", Doc: doc}
}

func heldOut(n int) []eval.Case { return heldOutFrom(0, n) }

// heldOutFrom are the n cases from this one on.
func heldOutFrom(from, n int) (out []eval.Case) {
	for i := from; i < from+n; i++ {
		out = append(out, eval.Case{ID: fmt.Sprintf("c%03d", i), Skill: "s", Prompt: fmt.Sprint("case ", i), Split: eval.Test,
			Checks: []eval.Check{{Type: eval.Contains, Value: "yes", Feedback: "say yes"}}})
	}
	return out
}

func newGate(journal record.Journal, agent eval.Agent, run string, rollouts int64) *Gate {
	return &Gate{Skill: "s", Log: &record.Log{Journal: journal, Run: run, Now: func() time.Time { return time.Unix(0, 0) }},
		Evaluator: &eval.Evaluator{Agent: agent, Grader: &eval.Checks{}, Recorder: journal, Concurrency: 4, InfraTries: 1,
			Budget: eval.NewBudget(eval.Caps{Rollouts: rollouts}, nil)}}
}

func TestGatePromotesRejectsAndWaits(t *testing.T) {
	good, bad := variant(t, "good"), variant(t, "bad")
	for name, c := range map[string]struct {
		incumbent, challenger eval.Variant
		agent                 duel
		cases                 int
		want                  pareto.Verdict
	}{
		"better":            {bad, good, duel{}, 60, pareto.Promote},
		"worse":             {good, bad, duel{}, 60, pareto.Reject},
		"too few":           {bad, good, duel{}, 2, pareto.Undecided},
		"a few":             {bad, good, duel{}, 6, pareto.Promising},
		"none":              {bad, good, duel{}, 0, pareto.Undecided},
		"better but dearer": {bad, good, duel{cost: map[string]float64{"good\n": 8, "bad\n": 1}}, 60, pareto.Reject},
	} {
		t.Run(name, func(t *testing.T) {
			m := &recordtest.Memory{}
			g := newGate(m, c.agent, "r1", 0)
			v, err := g.Try(context.Background(), c.incumbent, c.challenger, heldOut(c.cases))
			if err != nil {
				t.Fatal(err)
			}
			if v.Verdict != c.want {
				t.Fatalf("%s after %d cases: %s", v.Verdict, v.Cases, v.Reason)
			}
			if v.Reason == "" {
				t.Error("the verdict gives no reason")
			}
			rec, err := m.Trial(context.Background(), "s", c.incumbent.SHA(), c.challenger.SHA())
			if err != nil || rec == nil || rec.Decision != c.want {
				t.Errorf("the trial was not kept: %+v, %v", rec, err)
			}
		})
	}
}

// TestGateContinuesOnFreshCases: evidence is carried to another night, and no
// case counts twice.
func TestGateContinuesOnFreshCases(t *testing.T) {
	good, bad := variant(t, "good"), variant(t, "bad")
	m := &recordtest.Memory{}
	all := heldOut(60)
	seen := 0
	for night, upTo := range []int{4, 4, 6, 60} {
		g := newGate(m, duel{}, fmt.Sprint("night", night), 0)
		v, err := g.Try(context.Background(), bad, good, all[:upTo])
		if err != nil {
			t.Fatal(err)
		}
		if night == 1 && v.Fresh != 0 {
			t.Errorf("the second night found %d fresh cases among the old ones", v.Fresh)
		}
		if v.Cases != seen+v.Fresh {
			t.Errorf("night %d: %d cases, want %d + %d", night, v.Cases, seen, v.Fresh)
		}
		seen = v.Cases
		if v.Verdict == pareto.Promote {
			if night < 2 {
				t.Errorf("promoted after only %d cases", v.Cases)
			}
			return
		}
	}
	t.Fatal("never promoted")
}

// TestGateSpendsACaseOnOneChallenger, even if the trial ended undecided, and under
// whatever incumbent: after a promotion or an edit, a later search may have learned from
// what a trial has heard, and its text has no new evidence there.
func TestGateSpendsACaseOnOneChallenger(t *testing.T) {
	good, bad, other := variant(t, "good"), variant(t, "bad"), variant(t, "other")
	m := &recordtest.Memory{}
	cases := heldOut(6)
	if _, err := newGate(m, duel{}, "r1", 0).Try(context.Background(), bad, other, cases[:2]); err != nil {
		t.Fatal(err)
	}
	v, err := newGate(m, duel{}, "r2", 0).Try(context.Background(), bad, good, cases)
	if err != nil {
		t.Fatal(err)
	}
	if v.Cases != 4 {
		t.Errorf("the second challenger had %d cases, want the 4 unspent ones", v.Cases)
	}
	late := variant(t, "late")
	for incumbent, challenger := range map[*eval.Variant]eval.Variant{&other: late, &good: late, &late: good} {
		v, err = newGate(m, duel{}, "r3", 0).Try(context.Background(), *incumbent, challenger, cases)
		if err != nil {
			t.Fatal(err)
		}
		if v.Cases != 0 {
			t.Errorf("against %.12s, %.12s heard %d cases again", incumbent.SHA(), challenger.SHA(), v.Cases)
		}
	}
	v, err = newGate(m, duel{}, "r4", 0).Try(context.Background(), other, late, append(cases, requests(9, 2)...))
	if err != nil {
		t.Fatal(err)
	}
	if v.Cases != 2 {
		t.Errorf("it heard %d cases, want the 2 fresh ones", v.Cases)
	}
}

// TestGateCountsClusters: cases of one session are one piece of evidence.
func TestGateCountsClusters(t *testing.T) {
	cases := heldOut(30)
	for i := range cases {
		cases[i].Cluster = fmt.Sprint("session", i%5)
	}
	v, err := newGate(&recordtest.Memory{}, duel{}, "r", 0).Try(context.Background(), variant(t, "bad"), variant(t, "good"), cases)
	if err != nil {
		t.Fatal(err)
	}
	if v.Cases != 5 || v.Verdict != pareto.Promising {
		t.Errorf("%d pieces of evidence from five sessions: %s", v.Cases, v.Verdict)
	}
}

func TestGateStopsAtTheBudgetWithWholePairs(t *testing.T) {
	m := &recordtest.Memory{}
	g := newGate(m, duel{}, "r", 15)
	g.Replays = 2
	v, err := g.Try(context.Background(), variant(t, "bad"), variant(t, "good"), heldOut(40))
	if err != nil {
		t.Fatal(err)
	}
	if spent := g.Evaluator.Budget.Spent().Rollouts; spent > 15 || spent != 12 || v.Cases != 3 {
		t.Errorf("%d rollouts for %d pairs under a cap of 15", spent, v.Cases)
	}
	if !v.BudgetStop || !v.Verdict.IsOpen() {
		t.Errorf("%+v", v)
	}
}

// Concurrency changes how many pairs run at a time, never which, nor what ended
// the gate.
func TestGateIsTheSameAtAnyConcurrency(t *testing.T) {
	for _, concurrency := range []int{1, 4, 64} {
		for _, retries := range []int{0, 1} {
			g := newGate(&recordtest.Memory{}, duel{}, "r", 13)
			g.Evaluator.Concurrency, g.Evaluator.MaxRetries = concurrency, retries
			v, err := g.Try(t.Context(), variant(t, "bad"), variant(t, "also bad"), heldOut(30))
			want := 6 / (1 + retries) // every attempt fails
			if err != nil || v.Fresh != want || !v.BudgetStop || v.Stop != "budget: --max-rollouts is used up" {
				t.Errorf("concurrency %d, %d retries: %d pairs, stop %q, error %v; want %d and the cap", concurrency, retries, v.Fresh, v.Stop, err, want)
			}
		}
	}
}

// TestGateReplays: each arm answers a case so often, and their means are one pair.
func TestGateReplays(t *testing.T) {
	m := &recordtest.Memory{}
	g := newGate(m, duel{}, "r", 0)
	g.Replays = 3
	v, err := g.Try(t.Context(), variant(t, "bad"), variant(t, "good"), heldOut(3))
	if err != nil || v.Cases != 3 || g.Evaluator.Budget.Spent().Rollouts != 18 {
		t.Errorf("%d cases after %d rollouts, %v", v.Cases, g.Evaluator.Budget.Spent().Rollouts, err)
	}
	again := newGate(m, duel{}, "r2", 0) // goes on as it began
	if v, err = again.Try(t.Context(), variant(t, "bad"), variant(t, "good"), heldOut(4)); err != nil || v.Cases != 4 || again.Evaluator.Budget.Spent().Rollouts != 6 {
		t.Errorf("%d cases after %d more rollouts, %v", v.Cases, again.Evaluator.Budget.Spent().Rollouts, err)
	}
}

// TestGateWeighsPairs by what became of the uses that they stand for, in order of
// arrival.
func TestGateWeighsPairs(t *testing.T) {
	at := func(day int) time.Time { return time.Date(2026, 11, day, 9, 0, 0, 0, time.UTC) }
	var uses []record.Use
	for day := 1; day <= 20; day++ { // one in four is corrected, and those alone can be asked again, until the tenth
		uses = append(uses, record.Use{Time: at(day), Stratum: []string{"corrected", "silent", "silent", "silent"}[day%4]})
	}
	cases := heldOut(6)
	for i, day := range []int{16, 4, 12, 8, 17, 18} {
		cases[i].Source = &eval.Source{Origin: "mined", Stratum: uses[day-1].Stratum, Time: at(day)}
	}
	m := &recordtest.Memory{}
	g := newGate(m, duel{}, "r", 0)
	g.Uses = uses
	if _, err := g.Try(t.Context(), variant(t, "bad"), variant(t, "good"), cases); err != nil {
		t.Fatal(err)
	}
	rec, err := m.Trial(t.Context(), "s", variant(t, "bad").SHA(), variant(t, "good").SHA())
	if err != nil {
		t.Fatal(err)
	}
	trial, err := rec.Kept()
	if err != nil {
		t.Fatal(err)
	}
	pairs := trial.Pairs()
	if len(pairs) != 6 {
		t.Fatalf("%d pairs", len(pairs))
	}
	for i, p := range pairs[1:4] { // the corrected ones, whose share among the cases is too large
		if p.Weight > 0.45 || p.Largest < 2 {
			t.Errorf("pair %d weighs %g of %g", i+1, p.Weight, p.Largest)
		}
	}
	if p := pairs[4]; p.Weight < 2 || p.Largest != p.Weight {
		t.Errorf("the first silent use weighs %g of %g", p.Weight, p.Largest)
	}
}

// TestGateBeginsAfterTheSearch: uses about which nothing was said and that came while the
// corrected ones went to the search are left out; the trial begins with the next of those.
func TestGateBeginsAfterTheSearch(t *testing.T) {
	at := func(day int) time.Time { return time.Date(2026, 11, day, 9, 0, 0, 0, time.UTC) }
	var uses []record.Use
	cases := heldOut(6)
	for i, stratum := range []string{"silent", "silent", "corrected", "silent", "accepted", "silent"} {
		uses = append(uses, record.Use{Time: at(2*i + 1), Stratum: "corrected"}, record.Use{Time: at(2*i + 2), Stratum: stratum})
		cases[i].Source = &eval.Source{Origin: "mined", Stratum: stratum, Time: at(2*i + 2)}
	}
	m := &recordtest.Memory{}
	for run, c := range []struct{ upTo, cases, uses int }{{2, 0, 12}, {6, 4, 12}, {6, 4, 0}} {
		g := newGate(m, duel{}, fmt.Sprint("r", run), 0)
		g.Uses = uses[:c.uses]
		v, err := g.Try(t.Context(), variant(t, "bad"), variant(t, "good"), cases[:c.upTo])
		if err != nil || v.Cases != c.cases || strings.Contains(v.Stop, "begins with the next") != (c.cases == 0) {
			t.Errorf("run %d: %d cases, %q, %v; want %d", run, v.Cases, v.Stop, err, c.cases)
		}
	}
	if spent, err := m.SpentCases(t.Context(), "s"); err != nil || len(spent.By) != 4 {
		t.Errorf("%d cases spent, %v; want 4", len(spent.By), err)
	}
	var silent []record.Cluster // where nobody ever says anything, all are evidence
	for i := range 2 {
		silent = append(silent, record.Cluster{Name: cases[i].ID, Cases: []*eval.Case{&cases[i]}})
	}
	if kept := (&record.State{}).AfterSearch(silent, []record.Use{{Time: at(1), Stratum: "silent"}}); len(kept) != 2 {
		t.Errorf("%d of 2 clusters kept", len(kept))
	}
}

func TestGateLeavesObjectivesOut(t *testing.T) {
	agent := duel{cost: map[string]float64{"good\n": 2, "bad\n": 1}}
	g := newGate(&recordtest.Memory{}, agent, "r", 0)
	g.Objectives = []string{"quality"}
	v, err := g.Try(context.Background(), variant(t, "bad"), variant(t, "good"), heldOut(40))
	if err != nil {
		t.Fatal(err)
	}
	if v.Verdict != pareto.Promote {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
	want := []string{"not part of the verdict, as you asked: latency, cost, retries"}
	if !slices.Equal(v.Warnings, want) {
		t.Errorf("warnings %q, want %q", v.Warnings, want)
	}
}

// TestGateSaysThatCostIsTokens if no price is known.
func TestGateSaysThatCostIsTokens(t *testing.T) {
	for priced, want := range map[bool]bool{true: false, false: true} {
		agent := duel{}
		if priced {
			agent.cost = map[string]float64{"good\n": 1, "bad\n": 1}
		}
		v, err := newGate(&recordtest.Memory{}, agent, "r", 0).Try(context.Background(), variant(t, "bad"), variant(t, "good"), heldOut(4))
		if err != nil {
			t.Fatal(err)
		}
		said := slices.ContainsFunc(v.Warnings, func(w string) bool { return strings.Contains(w, "compared in tokens") })
		if said != want {
			t.Errorf("priced %v: warnings %q", priced, v.Warnings)
		}
	}
}

func TestDifference(t *testing.T) {
	ms, usd := func(x int64) *int64 { return &x }, func(x float64) *float64 { return &x }
	old := &eval.Rollout{Candidate: "old", Status: eval.Done, Quality: 0.2, Retries: 1, LatencyMS: ms(200), CostUSD: usd(0.4)}
	new := &eval.Rollout{Candidate: "new", Status: eval.Done, Quality: 0.8, Retries: 0, LatencyMS: ms(100), CostUSD: nil, Usage: &eval.Usage{Input: 1}}
	for _, rs := range [][]*eval.Rollout{{old, new}, {new, old}} { // whichever arm ran first
		p := Difference(rs, "old")
		if math.Abs(p.Quality-0.6) > 1e-9 || math.Abs(p.Latency-0.25) > 1e-9 || !math.IsNaN(p.Retries) || !math.IsNaN(p.Cost) {
			t.Errorf("difference %+v", p)
		}
	}
	if p := Difference([]*eval.Rollout{old, nil}, "old"); p != nil {
		t.Errorf("half a pair gave %+v", p)
	}
}

// A generated case is no evidence, even if somebody held it out, and neither
// are the other cases of its cluster.
func TestGateLeavesGeneratedCasesOut(t *testing.T) {
	cases := heldOut(5)
	cases[1].Source = &eval.Source{Origin: "generated"}
	cases[2].Cluster, cases[3].Cluster = "k", "k"
	cases[3].Source = &eval.Source{Origin: "generated"}
	var names []string
	list, _ := new(record.State).Usable(cases, nil, "challenger", nil, nil)
	for _, c := range list {
		names = append(names, c.Name)
	}
	if !slices.Equal(names, []string{"c000", "c004"}) {
		t.Errorf("the gate may count %q", names)
	}
}

// clustersOf are the names of the clusters that a trial has used, or may not use.
func clustersOf(t *record.TrialRecord) ([]string, error) {
	var st record.State
	err := json.Unmarshal(t.State, &st)
	out := slices.Concat(st.Clusters, st.Excluded)
	for _, w := range st.Waiting {
		out = append(out, w.Cluster)
	}
	for _, p := range st.Past {
		out = append(out, p.Clusters...)
	}
	slices.Sort(out)
	return slices.Compact(out), err
}
