package judge

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A literalJudge prefers answers that contain "log", and keeps what it was shown.
type literalJudge struct {
	name  string
	calls atomic.Int32
	mu    sync.Mutex
	shown strings.Builder
}

func (j *literalJudge) Identity() eval.Identity { return eval.Identity{Backend: "test", Model: j.name} }

func (j *literalJudge) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	j.calls.Add(1)
	j.mu.Lock()
	j.shown.WriteString(p.System + p.User)
	j.mu.Unlock()
	first, second := strings.Contains(part(p, "first"), "log"), strings.Contains(part(p, "second"), "log")
	better := "neither"
	if first && !second {
		better = "first"
	} else if second && !first {
		better = "second"
	}
	usd := 0.01
	return eval.Completion{Text: fmt.Sprintf(`{"reason": "it looked", "better": %q}`, better), Finish: "stop",
		Usage: &eval.Usage{Input: 100, Output: 10}, CostUSD: &usd}, nil
}

// part is the quotation of that name in a prompt.
func part(p eval.Prompt, name string) string {
	_, text, _ := strings.Cut(p.User, "<"+name+" ")
	text, _, _ = strings.Cut(text, "</"+name)
	return text
}

func open(t *testing.T) *store.Store {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// review records the owner's choice between two answers to a case of their own.
func review(t *testing.T, db *store.Store, n int, first, second string, choice store.Choice) eval.Case {
	t.Helper()
	c := eval.Case{ID: fmt.Sprint("c", n), Skill: "s", Prompt: fmt.Sprint("plot ", n), Reference: "the recorded one", Checks: []eval.Check{{Type: eval.Judge, Rubric: "the right axis"}}}
	if _, _, err := db.SaveCases(t.Context(), []eval.Case{c}); err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{first, second} {
		if err := db.Journal("r").SaveRollout(t.Context(), &eval.Rollout{Key: fmt.Sprint(n, "-", i), CaseID: c.ID, Candidate: fmt.Sprint(i), Status: eval.Done, Answer: text}); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.SaveLabel(t.Context(), store.Label{Skill: "s", CaseID: c.ID, Choice: choice,
		First: skill.HashText([]byte(first)), Second: skill.HashText([]byte(second))}); err != nil {
		t.Fatal(err)
	}
	return c
}

// owner reviews the answers to cases from to below n: the judge above is wrong about the
// first one.
func owner(t *testing.T, db *store.Store, from, n int) (cases []eval.Case) {
	for i := from; i < n; i++ {
		a, b, choice := "a log axis", "a linear axis", store.FirstBetter
		if i == 0 {
			choice = store.SecondBetter
		} else if i%2 == 1 {
			a, b, choice = b, a, store.SecondBetter
		}
		cases = append(cases, review(t, db, i, a, b, choice))
	}
	return cases
}

// TestCalibrate: the same run pays once and is billed once, a later run with the same
// judge pays nothing, another judge is asked anew, and a cap keeps nothing.
func TestCalibrate(t *testing.T) {
	db := open(t)
	cases := owner(t, db, 0, 20)
	measure := func(run string, judge *literalJudge, cents float64) (string, pareto.Agreement, eval.Spent) {
		t.Helper()
		if err := db.Journal(run).SaveRun(t.Context(), &record.Run{ID: run, Skill: "s"}); err != nil {
			t.Fatal(err)
		}
		budget := eval.NewBudget(eval.Caps{CostUSD: cents / 100}, nil)
		c, err := New(db, run, judge, redact.Detector{}, budget, 0, 4).Calibrate(t.Context(), "s", cases)
		if err != nil {
			t.Fatal(err)
		}
		return c.Stop, c.Labels, budget.Spent()
	}
	want := pareto.Agreement{BothPass: 9, OnlyJudge: 1, BothFail: 10}
	one := &literalJudge{name: "one"}
	// A cap first: what was judged under it is reused, what was counted is not.
	if stop, got, _ := measure("r1", one, 5); stop == "" || got.N() != 0 || one.calls.Load() > 8 {
		t.Errorf("under a cap of five calls: %q, %+v, %d calls", stop, got, one.calls.Load())
	}
	for _, again := range []string{"go on", "again"} {
		stop, got, spent := measure("r1", one, 0)
		if stop != "" || got != want {
			t.Errorf("%s: %+v, %q, want %+v", again, got, stop, want)
		}
		if calls := int64(one.calls.Load()); calls != 40 || spent.JudgeCalls != calls || spent.CostUSD < 0.009*float64(calls) {
			t.Errorf("%s: billed for %d calls and $%.2f, %d were made", again, spent.JudgeCalls, spent.CostUSD, calls)
		}
	}
	if _, got, spent := measure("r2", one, 0); got != want || one.calls.Load() != 40 || spent.JudgeCalls != 0 {
		t.Errorf("a later run: %+v, %d calls, billed %d", got, one.calls.Load(), spent.JudgeCalls)
	}
	other := &literalJudge{name: "other"}
	if _, got, _ := measure("r3", other, 0); got != want || other.calls.Load() != 40 {
		t.Errorf("another judge: %+v after %d calls", got, other.calls.Load())
	}
	if _, got, _ := measure("r1", other, 0); got != want || other.calls.Load() != 40 {
		t.Errorf("a run keeps what it decided on: %+v", got)
	}
	if known, err := Known(t.Context(), db, "s"); err != nil || known.Labels != want || known.Missing != 0 {
		t.Errorf("on record: %+v, %v", known, err)
	}
	// What an older evolve has measured is no answer.
	if err := db.SaveCalibration(t.Context(), "r4", record.Calibration{Judge: "checks/1 judge/x", Labels: pareto.Agreement{BothPass: 20, BothFail: 20}}); err != nil {
		t.Fatal(err)
	}
	if _, got, _ := measure("r4", one, 0); got != want {
		t.Errorf("after an older evolve: %+v", got)
	}
}

// TestLooks: the judge is asked, and its agreement looked at, when there are 20 reviews,
// and again from 40 on; between them the answer of the last look stands.
func TestLooks(t *testing.T) {
	db := open(t)
	var cases []eval.Case
	judge := &literalJudge{name: "one"}
	for i, c := range []struct{ reviews, asked, labels, missing, next int }{
		{0, 0, 0, 0, 20}, {19, 0, 0, 19, 1}, {20, 40, 20, 0, 20}, {39, 40, 20, 19, 1}, {45, 90, 40, 0, 15}, {59, 90, 40, 14, 1}, {60, 120, 60, 0, 20},
	} {
		cases = append(cases, owner(t, db, len(cases), c.reviews)...)
		id := fmt.Sprint("r", i)
		if err := db.Journal(id).SaveRun(t.Context(), &record.Run{ID: id, Skill: "s"}); err != nil {
			t.Fatal(err)
		}
		got, err := New(db, id, judge, redact.Detector{}, eval.NewBudget(eval.Caps{}, nil), 0, 4).Calibrate(t.Context(), "s", cases)
		if err != nil {
			t.Fatal(err)
		}
		if int(judge.calls.Load()) != c.asked || got.Labels.N() != c.labels || got.Missing != c.missing || got.Reviews() != c.next || got.Trusted() != (c.labels > 0) {
			t.Errorf("%d reviews: %d calls, %+v, %d reviews until the next look, want %+v", c.reviews, judge.calls.Load(), got.Labels, got.Reviews(), c)
		}
	}
}

// TestExpiredAnswersStay: a label counts on when the texts of its answers are gone, if
// the judge has seen them; if not, nobody waits for it.
func TestExpiredAnswersStay(t *testing.T) {
	db := open(t)
	cases := owner(t, db, 0, 20)
	k := New(db, "r1", &literalJudge{}, redact.Detector{}, eval.NewBudget(eval.Caps{}, nil), 0, 4)
	before, err := k.Calibrate(t.Context(), "s", cases)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.SaveLabel(t.Context(), store.Label{Skill: "s", CaseID: "c3", First: "gone", Second: "gone too", Choice: store.FirstBetter}); err != nil {
		t.Fatal(err)
	}
	if err := db.Exec(t.Context(), `DELETE FROM rollouts`); err != nil {
		t.Fatal(err)
	}
	after, err := OnRecord(t.Context(), db, "s", cases, k.Judge)
	if err != nil || after.Labels != before.Labels || after.Missing != 0 || after.Labels.N() != 20 {
		t.Errorf("%+v, %v, before %+v", after, err, before)
	}
}

// TestReviewsAreLabels: each review counts, but one that finds two answers equal.
func TestReviewsAreLabels(t *testing.T) {
	db := open(t)
	answers := []string{"a log axis", "logarithmic", "linear", "none"}
	var cases []eval.Case
	for i, l := range []struct {
		first, second int
		choice        store.Choice
	}{{0, 2, store.FirstBetter}, {3, 1, store.SecondBetter}, {0, 1, store.SecondBetter}, {2, 3, store.Same}} {
		cases = append(cases, review(t, db, i, answers[l.first], answers[l.second], l.choice))
	}
	c, err := OnRecord(t.Context(), db, "s", cases, "j")
	if err != nil || c.Missing != 3 {
		t.Fatalf("%+v, %v", c, err)
	}
}

// A judge is shown no key of this process, whatever it looks like, and no recorded
// answer.
func TestJudgeOfLabelsSeesNoKey(t *testing.T) {
	db := open(t)
	key := "qv-" + strings.Repeat("plain", 4)
	cases := owner(t, db, 0, 19)
	cases = append(cases, review(t, db, 19, "a log axis "+key, "linear", store.FirstBetter))
	judge := &literalJudge{}
	c, err := New(db, "r", judge, redact.Known(key), eval.NewBudget(eval.Caps{}, nil), 0, 1).Calibrate(t.Context(), "s", cases)
	if err != nil {
		t.Fatal(err)
	}
	shown := judge.shown.String()
	if c.Labels.N() == 0 || !strings.Contains(shown, "known-secret") {
		t.Errorf("%+v: the judge was not asked about what held the key", c)
	}
	if strings.Contains(shown, key) || strings.Contains(shown, "the recorded one") {
		t.Errorf("the judge was shown the key, or the recorded answer:\n%s", shown)
	}
}
