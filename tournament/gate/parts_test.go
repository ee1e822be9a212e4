package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// A ruled agent follows a rule where it applies ("rule …"); other requests it answers by harms.
type ruled struct {
	harms func(prompt string) bool // the good text answers wrongly
	runs  *atomic.Int64
}

func (ruled) Identity() eval.Identity { return eval.Identity{Backend: "duel"} }

func (r ruled) Run(_ context.Context, t eval.Task) (eval.Attempt, error) {
	if r.runs != nil {
		r.runs.Add(1)
	}
	good := strings.HasPrefix(string(t.Variant.Doc.Body()), "good")
	a := eval.Attempt{Answer: "yes", Duration: 100 * time.Millisecond, Usage: &eval.Usage{Input: 100, Output: 10}}
	if applies(t.Case.Prompt) && !good || good && r.harms != nil && r.harms(t.Case.Prompt) {
		a.Answer = "no"
	}
	return a, nil
}

func applies(prompt string) bool { return strings.HasPrefix(prompt, "rule") }

// A reader tells by the request.
type reader struct {
	says func(prompt string) record.Part

	removes bool
	runs    *atomic.Int64
	t       *testing.T
}

func (r reader) Read(_ context.Context, _, _ eval.Variant, cases []eval.Case, uses []record.Use) (*record.Parts, error) {
	if r.runs != nil && r.runs.Load() > 0 {
		r.t.Error("read after something was replayed")
	}
	p := &record.Parts{Cases: map[string]record.Part{}, Uses: make([]record.Part, len(uses)), Removes: r.removes}
	for _, c := range cases {
		part := record.Rest
		if applies(c.Prompt) {
			part = record.Applies
		}
		if r.says != nil {
			part = r.says(c.Prompt)
		}
		if part == record.Unread {
			p.Left++
			continue
		}
		p.Cases[c.ID] = part
		for i, u := range uses {
			if c.Source != nil && u.Session == c.Source.Session {
				p.Uses[i] = part
			}
		}
	}
	return p, nil
}

// turns are n requests, every k-th of which the rule applies to, and their uses.
func turns(n, k int) (cases []eval.Case, uses []record.Use) {
	for i, c := range heldOut(n) {
		c.Prompt = fmt.Sprint("other ", i)
		if i%k == 0 {
			c.Prompt = fmt.Sprint("rule ", i)
		}
		at := time.Date(2026, 11, 1, 9, i, 0, 0, time.UTC)
		c.Source = &eval.Source{Origin: record.Mined, Session: fmt.Sprint("s", i), Stratum: []string{record.Corrected, "accepted"}[i%2], Time: at}
		if i%k == 0 {
			c.Source.Stratum = record.Corrected
		}
		uses = append(uses, record.Use{Time: at, Session: c.Source.Session, Stratum: c.Source.Stratum, Replays: true})
		cases = append(cases, c)
	}
	return cases, uses
}

func ruleGate(m record.Journal, a eval.Agent, run string, uses []record.Use, r Reader) *Gate {
	g := newGate(m, a, run, 0)
	g.Config, g.Uses, g.Reader = pareto.DefaultConfig().WithRest(), uses, r
	return g
}

// TestRuleIsProvedWhereItApplies: on the requests to which it applies, and after others have
// shown no harm; what a trial over all would have drowned.
func TestRuleIsProvedWhereItApplies(t *testing.T) {
	cases, uses := turns(400, 20)
	var runs atomic.Int64
	m := &recordtest.Memory{}
	g := ruleGate(m, ruled{runs: &runs}, "r1", uses, reader{runs: &runs, t: t})
	bad, good := variant(t, "bad"), variant(t, "good")
	v, err := g.Try(t.Context(), bad, good, cases)
	if err != nil {
		t.Fatal(err)
	}
	if v.Verdict != pareto.Promote || v.Cases > 20 || v.Rest.Cases < pareto.RestLeast || v.Rest.Cases > 100 || v.Share.Applies != 20 || v.Share.Rest != 380 {
		t.Fatalf("%s after %d and %+v, %+v: %s", v.Verdict, v.Cases, v.Rest, v.Share, v.Reason)
	}
	for _, want := range []string{"the changed rules apply to about 1 in 20 of your requests (20 of 400): on ", " requests to which the changed rules apply quality +1.00", " others no difference seen (quality +0.00", "; over all your requests +0.050"} {
		if !strings.Contains(v.Reason, want) {
			t.Errorf("%q lacks %q", v.Reason, want)
		}
	}
	if v.Heard == nil || v.Heard.Requests > v.Cases {
		t.Errorf("heard %+v of %d", v.Heard, v.Cases)
	}
	// A random sample is no stretch of time.
	rec, err := m.Trial(t.Context(), "s", bad.SHA(), good.SHA())
	if err != nil {
		t.Fatal(err)
	}
	var st record.State
	if err := json.Unmarshal(rec.State, &st); err != nil {
		t.Fatal(err)
	}
	late := 0
	for _, name := range st.Rest {
		if !st.Places[name].Time.Before(uses[200].Time) {
			late++
		}
	}
	if late < len(st.Rest)/4 || late > 3*len(st.Rest)/4 || len(st.Rest) != v.Rest.Cases {
		t.Errorf("%d of %d pairs of the rest are of the second half", late, len(st.Rest))
	}
}

// TestRuleThatHarmsElsewhere is rejected, and the verdict says where.
func TestRuleThatHarmsElsewhere(t *testing.T) {
	cases, uses := turns(400, 20)
	harms := func(prompt string) bool { return !applies(prompt) && strings.HasSuffix(prompt, "3") }
	v, err := ruleGate(&recordtest.Memory{}, ruled{harms: harms}, "r1", uses, reader{}).Try(t.Context(), variant(t, "bad"), variant(t, "good"), cases)
	if err != nil {
		t.Fatal(err)
	}
	if v.Verdict == pareto.Promote || v.Rest.Quality.Mean >= 0 {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
}

// TestRuleThatAppliesToNothing is told so, and nothing is replayed.
func TestRuleThatAppliesToNothing(t *testing.T) {
	cases, uses := turns(30, 40)
	var runs atomic.Int64
	v, err := ruleGate(&recordtest.Memory{}, ruled{runs: &runs}, "r1", uses[1:], reader{}).Try(t.Context(), variant(t, "bad"), variant(t, "good"), cases[1:])
	if err != nil {
		t.Fatal(err)
	}
	if runs.Load() > 0 || v.Stop != "the changed rules apply to none of your last 29 requests, so nothing was replayed" {
		t.Errorf("%d replays, %q", runs.Load(), v.Stop)
	}
}

// TestRemovedLinesThatNothingMisses are offered: they made no difference where they applied.
func TestRemovedLinesThatNothingMisses(t *testing.T) {
	cases, uses := turns(120, 4)
	for _, removes := range []bool{true, false} {
		v, err := ruleGate(&recordtest.Memory{}, ruled{}, "r1", uses, reader{removes: removes}).Try(t.Context(), variant(t, "bad"), variant(t, "another bad"), cases)
		if err != nil {
			t.Fatal(err)
		}
		offered := strings.Contains(v.Reason, "without the removed lines no difference was seen: `evolve promote s@")
		if offered != removes || v.Verdict == pareto.Promote || removes && v.Cases < pareto.RestLeast || !removes && v.Cases >= pareto.RestLeast {
			t.Errorf("removes %v: %s after %d: %s", removes, v.Verdict, v.Cases, v.Reason)
		}
	}
	// A line that is missed is not offered.
	v, err := ruleGate(&recordtest.Memory{}, ruled{}, "r1", uses, reader{removes: true}).Try(t.Context(), variant(t, "good"), variant(t, "bad"), cases)
	if err != nil {
		t.Fatal(err)
	}
	if v.Verdict != pareto.Reject || strings.Contains(v.Reason, "promote") {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
}

// TestRuleForEverything needs no rest where there is none.
func TestRuleForEverything(t *testing.T) {
	cases, uses := turns(60, 1)
	v, err := ruleGate(&recordtest.Memory{}, ruled{}, "r1", uses, reader{}).Try(t.Context(), variant(t, "bad"), variant(t, "good"), cases)
	if err != nil {
		t.Fatal(err)
	}
	if v.Verdict != pareto.Promote || v.Rest != nil || v.Share.Rest != 0 {
		t.Errorf("%s with %+v: %s", v.Verdict, v.Rest, v.Reason)
	}
}

// TestRuleWaitsForTheRest: what is better where it applies is no proof as long as few other
// requests were compared, and goes on with them.
func TestRuleWaitsForTheRest(t *testing.T) {
	cases, uses := turns(400, 20)
	m := &recordtest.Memory{}
	bad, good := variant(t, "bad"), variant(t, "good")
	few := func(prompt string) record.Part { // the others cannot be read yet
		if applies(prompt) {
			return record.Applies
		}
		if strings.Contains(prompt, "7") {
			return record.Rest
		}
		return record.Unread
	}
	v, err := ruleGate(m, ruled{}, "r1", uses[:150], reader{says: few}).Try(t.Context(), bad, good, cases[:150])
	if err != nil {
		t.Fatal(err)
	}
	before := v.Rest.Cases
	if !v.Verdict.IsOpen() || before == 0 || v.Share.Left == 0 || !strings.Contains(v.Stop, "more of your other requests") && !strings.Contains(v.Stop, "no unseen request") {
		t.Fatalf("%s after %d: %q, %q", v.Verdict, before, v.Stop, v.Reason)
	}
	// Readers do not change their minds within a trial: all would apply now.
	v, err = ruleGate(m, ruled{}, "r2", uses, reader{}).Try(t.Context(), bad, good, cases)
	if err != nil {
		t.Fatal(err)
	}
	if v.Verdict != pareto.Promote || v.Rest.Cases <= before {
		t.Errorf("%s after %d, was %d: %s", v.Verdict, v.Rest.Cases, before, v.Reason)
	}
}

// TestPartsStay: what was decided stays, whatever a reader says later.
func TestPartsStay(t *testing.T) {
	cases, uses := turns(8, 2)
	m := &recordtest.Memory{}
	bad := variant(t, "bad")
	other := variant(t, "another bad")
	parts := func(run string, r Reader) map[string]record.Part {
		if _, err := ruleGate(m, ruled{}, run, uses, r).Try(t.Context(), bad, other, cases); err != nil {
			t.Fatal(err)
		}
		rec, err := m.Trial(t.Context(), "s", bad.SHA(), other.SHA())
		if err != nil {
			t.Fatal(err)
		}
		st, _, err := rec.Begin("later", pareto.Config{}, record.Model{})
		if err != nil {
			t.Fatal(err)
		}
		return st.Parts
	}
	first := parts("r1", reader{})
	second := parts("r2", reader{says: func(string) record.Part { return record.Applies }})
	for id, part := range first {
		if second[id] != part {
			t.Errorf("%s was %s and is %s", id, part, second[id])
		}
	}
	if len(first) != 8 {
		t.Errorf("%v", first)
	}
}

// TestRuleResumed: a run that is interrupted at any budget, and resumed, comes to the same.
func TestRuleResumed(t *testing.T) {
	cases, uses := turns(400, 20)
	bad, good := variant(t, "bad"), variant(t, "good")
	whole := &recordtest.Memory{}
	want, err := ruleGate(whole, ruled{}, "r1", uses, reader{}).Try(t.Context(), bad, good, cases)
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int64{10, 40, 77, 120} {
		m := &recordtest.Memory{}
		g := ruleGate(m, ruled{}, "r1", uses, reader{})
		g.Evaluator.Budget = eval.NewBudget(eval.Caps{Rollouts: limit}, nil)
		cut, err := g.Try(t.Context(), bad, good, cases)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ruleGate(m, ruled{}, "r1", uses, reader{}).Try(t.Context(), bad, good, cases)
		if err != nil {
			t.Fatal(err)
		}
		if !cut.BudgetStop || got.Reason != want.Reason || got.Cases != want.Cases || got.Rest.Cases != want.Rest.Cases {
			t.Errorf("cut at %d (%v): %s, want %s", limit, cut.BudgetStop, got.Reason, want.Reason)
		}
	}
}

// TestSessionOfBothParts: it gives a pair to each sample, and its cases are heard once.
func TestSessionOfBothParts(t *testing.T) {
	cases, uses := turns(400, 20)
	for i := range cases {
		cases[i].Cluster = fmt.Sprint("session ", i/20)
	}
	m := &recordtest.Memory{}
	bad, good := variant(t, "bad"), variant(t, "good")
	v, err := ruleGate(m, ruled{}, "r1", uses, reader{}).Try(t.Context(), bad, good, cases)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := m.Trial(t.Context(), "s", bad.SHA(), good.SHA())
	if err != nil {
		t.Fatal(err)
	}
	st, _, err := rec.Begin("later", pareto.Config{}, record.Model{})
	if err != nil {
		t.Fatal(err)
	}
	if v.Cases == 0 || v.Rest.Cases == 0 || len(st.Clusters) != v.Cases || len(st.Rest) != v.Rest.Cases {
		t.Fatalf("%+v, clusters %v and %v", v.Rest, st.Clusters, st.Rest)
	}
	for _, name := range st.Rest {
		if slices.Contains(st.Clusters, name) || !strings.HasPrefix(name, "rest:session ") {
			t.Errorf("%s is in both", name)
		}
	}
	again, err := ruleGate(m, ruled{}, "r2", uses, reader{}).Try(t.Context(), bad, good, cases)
	if err != nil {
		t.Fatal(err)
	}
	if again.Verdict.IsOpen() && again.Fresh > 20-min(20, v.Rest.Cases) {
		t.Errorf("%d fresh after %d and %d of 20 sessions", again.Fresh, v.Cases, v.Rest.Cases)
	}
}
