package judge

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A literalJudge passes answers that contain "log", and counts its calls.
type literalJudge struct {
	name  string
	calls atomic.Int32
}

func (j *literalJudge) Identity() eval.Identity { return eval.Identity{Backend: "test", Model: j.name} }

func (j *literalJudge) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	j.calls.Add(1)
	_, answer, _ := strings.Cut(p.User, "<answer ")
	answer, _, _ = strings.Cut(answer, "</answer")
	usd, score := 0.01, 0
	if strings.Contains(answer, "log") {
		score = 1
	}
	return eval.Completion{Text: fmt.Sprintf(`{"score": %d, "reason": "it looked"}`, score), Finish: "stop",
		Usage: &eval.Usage{Input: 100, Output: 10}, CostUSD: &usd}, nil
}

// owner makes cases and sessions of n corrected and n accepted uses. The judge
// above is wrong about the first answer that was corrected.
func owner(n int) (cases []eval.Case, sessions []harvest.Session) {
	ask := []eval.Check{{Type: eval.Judge, Rubric: "uses the right axis"}}
	for i := range n {
		wrong := "a linear axis"
		if i == 0 {
			wrong = "a log axis, of the wrong base"
		}
		id := fmt.Sprint("wrong-", i)
		cases = append(cases, eval.Case{ID: id, Skill: "s", Prompt: "plot " + id, Checks: ask, Split: eval.Train, Reference: "a log axis",
			Source: &eval.Source{Agent: "claude-code", Session: id, Turn: "t1", Origin: "mined", Outcome: "corrected"}})
		sessions = append(sessions, harvest.Session{ID: id, Agent: "claude-code", Path: "/" + id,
			Turns: []harvest.Turn{{ID: "t1", Prompt: "plot " + id, Answer: wrong}, {ID: "t2", Prompt: "no", Answer: "a log axis"}},
			// Invocations select the session by skill.
			Invocations: []harvest.Invocation{{ID: id, Skill: "s"}}})
		id = fmt.Sprint("right-", i)
		cases = append(cases, eval.Case{ID: id, Skill: "s", Prompt: "plot " + id, Checks: ask, Split: eval.Val, Reference: "a log axis",
			Source: &eval.Source{Agent: "claude-code", Session: id, Turn: "t1", Origin: "mined", Outcome: "accepted"}})
	}
	return cases, sessions
}

func TestSessionLabels(t *testing.T) {
	cases, sessions := owner(3)
	cases[0].Split = eval.Test
	// The model wrote checks that no judge is asked about; the answer had no
	// turn id.
	cases[2].Checks = []eval.Check{{Type: eval.Contains, Value: "log"}}
	cases[2].Source.Turn, sessions[1].Turns[0].ID = "", ""
	cases = append(cases,
		eval.Case{ID: "made", Skill: "s", Prompt: "p", Checks: cases[0].Checks, Source: &eval.Source{Origin: "generated", Outcome: "corrected"}},
		eval.Case{ID: "brought", Skill: "s", Prompt: "p", Checks: cases[0].Checks, Reference: "r"})
	var got []string
	for _, l := range sessionLabels(cases, sessions, nil) {
		got = append(got, fmt.Sprintf("%s %v %q ref=%v", l.kase.ID, l.pass, l.answer, l.kase.Reference != ""))
		if len(l.kase.Checks) != 1 || l.kase.Checks[0].Rubric != "uses the right axis" {
			t.Errorf("%s is judged by %+v", l.kase.ID, l.kase.Checks)
		}
	}
	want := []string{
		`wrong-1 false "a linear axis" ref=true`,
		`wrong-2 false "a linear axis" ref=true`,
		`wrong-0 false "a log axis, of the wrong base" ref=true`, // held out: last
		`wrong-2 true "a log axis" ref=false`,
		`wrong-0 true "a log axis" ref=false`,
		`right-`, // easy: after all others
	}
	if len(got) != len(want) {
		t.Fatalf("%d labels, want as many passes as fails, %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	fails := got[:2]
	if fails[0] > fails[1] {
		fails[0], fails[1] = fails[1], fails[0]
	}
	for i, w := range want {
		if !strings.HasPrefix(got[i], w) {
			t.Errorf("label %d is %s, want %s", i, got[i], w)
		}
	}
	if n := len(sessionLabels(cases[:1], sessions, nil)); n != 2 {
		t.Errorf("one corrected use gives %d labels, want both", n)
	}
	many, recorded := owner(60)
	if n := len(sessionLabels(many, recorded, nil)); n != 2*MaxOfAKind {
		t.Errorf("%d labels, want %d", n, 2*MaxOfAKind)
	}
}

// TestCalibrate: the same run pays once and is billed once, a later run with the
// same judge pays nothing, another judge is asked anew, and a cap keeps nothing.
func TestCalibrate(t *testing.T) {
	ctx := t.Context()
	db, err := store.Open(ctx, filepath.Join(t.TempDir(), "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	cases, sessions := owner(10)
	for _, s := range sessions {
		if err := db.SaveSession(ctx, &s); err != nil {
			t.Fatal(err)
		}
	}
	measure := func(run string, judge *literalJudge, cents float64) (string, pareto.Agreement, eval.Spent) {
		t.Helper()
		budget := eval.NewBudget(eval.Caps{CostUSD: cents / 100}, nil)
		c, err := New(db, run, judge, redact.Detector{}, budget, 0, 4).Calibrate(ctx, "s", cases)
		if err != nil {
			t.Fatal(err)
		}
		return c.Stop, c.Labels, budget.Spent()
	}
	want := pareto.Agreement{BothPass: 10, OnlyJudge: 1, BothFail: 9}
	one := &literalJudge{name: "one"}
	// A cap first: what was judged under it is reused, what was counted is not.
	if stop, got, _ := measure("r1", one, 5); stop == "" || got.N() >= 20 || one.calls.Load() > 8 {
		t.Errorf("under a cap of five calls: %q, %+v, %d calls", stop, got, one.calls.Load())
	}
	for _, again := range []string{"go on", "again"} {
		stop, got, spent := measure("r1", one, 0)
		if stop != "" || got != want {
			t.Errorf("%s: %+v, %q, want %+v", again, got, stop, want)
		}
		if calls := int64(one.calls.Load()); spent.JudgeCalls != calls || spent.CostUSD < 0.009*float64(calls) {
			t.Errorf("%s: billed for %d calls and $%.2f, %d were made", again, spent.JudgeCalls, spent.CostUSD, calls)
		}
	}
	before := one.calls.Load()
	if _, got, spent := measure("r2", one, 0); got != want || one.calls.Load() != before || spent.JudgeCalls != 0 {
		t.Errorf("a later run: %+v, %d calls, billed %d", got, one.calls.Load()-before, spent.JudgeCalls)
	}
	other := &literalJudge{name: "other"}
	if _, got, _ := measure("r3", other, 0); got != want || other.calls.Load() == 0 {
		t.Errorf("another judge: %+v after %d calls", got, other.calls.Load())
	}
	asked := other.calls.Load()
	if _, got, _ := measure("r1", other, 0); got != want || other.calls.Load() != asked {
		t.Errorf("a run keeps what it decided on: %+v", got)
	}
}

// TestTooFewLabelsAskNobody: a judge that could not be trusted whatever it said is not
// asked, and the labels are counted as those that it was not asked about.
func TestTooFewLabelsAskNobody(t *testing.T) {
	for _, n := range []int{7, 9, 10} { // of each kind
		db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "evolve.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		cases, sessions := owner(n)
		for _, s := range sessions {
			if err := db.SaveSession(t.Context(), &s); err != nil {
				t.Fatal(err)
			}
		}
		judge := &literalJudge{name: "one"}
		c, err := New(db, "r", judge, redact.Detector{}, eval.NewBudget(eval.Caps{}, nil), 0, 4).Calibrate(t.Context(), "s", cases)
		if err != nil {
			t.Fatal(err)
		}
		asked, missing := 0, 2*n
		if 2*n >= record.TrustedLabels {
			asked, missing = 2*n, 0
		}
		if int(judge.calls.Load()) != asked || c.Missing != missing || c.Labels.N() != asked || c.Trusted() != (asked > 0) {
			t.Errorf("%d labels: %d asked, %+v", 2*n, judge.calls.Load(), c)
		}
	}
}

// TestCalibrateOnPreferences: a blind pair is one label, that a judge which sees
// no difference fails, and two equal answers are none.
func TestCalibrateOnPreferences(t *testing.T) {
	ctx := t.Context()
	db, err := store.Open(ctx, filepath.Join(t.TempDir(), "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	cases := []eval.Case{{ID: "c", Skill: "s", Prompt: "plot", Checks: []eval.Check{{Type: eval.Judge, Rubric: "the right axis"}}}}
	if _, _, err := db.SaveCases(ctx, cases); err != nil {
		t.Fatal(err)
	}
	answers := []string{"a log axis", "logarithmic", "linear", "none"}
	for i, text := range answers {
		if err := db.Journal("r").SaveRollout(ctx, &eval.Rollout{Key: fmt.Sprint(i), CaseID: "c", Candidate: text, Status: eval.Done, Answer: text,
			Checks: []eval.CheckResult{{Type: eval.Judge, Score: 0.5, Weight: 1}}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, l := range []struct {
		first, second int
		choice        store.Choice
	}{{0, 2, store.FirstBetter}, {3, 1, store.SecondBetter}, {0, 1, store.SecondBetter}, {2, 3, store.Same}} {
		if err := db.SaveLabel(ctx, store.Label{Skill: "s", CaseID: "c", Choice: l.choice,
			First: skill.HashText([]byte(answers[l.first])), Second: skill.HashText([]byte(answers[l.second]))}); err != nil {
			t.Fatal(err)
		}
	}
	k := New(db, "r", &literalJudge{}, redact.Detector{}, eval.NewBudget(eval.Caps{}, nil), 0, 2)
	k.enough = 3
	c, err := k.Calibrate(ctx, "s", cases)
	if err != nil {
		t.Fatal(err)
	}
	// The tie of two answers with "log" counts against the judge.
	if want := (pareto.Agreement{BothPass: 1, BothFail: 1, OnlyJudge: 1}); c.Labels != want {
		t.Errorf("%+v, want %+v", c.Labels, want)
	}
	// As they were measured, the judge saw no difference anywhere.
	seen, err := Agreement(ctx, db, "s")
	if want := (pareto.Agreement{OnlyOwner: 1, OnlyJudge: 2}); err != nil || seen != want {
		t.Errorf("as measured: %+v, %v, want %+v", seen, err, want)
	}
}

// A judge is shown no key of this process, whatever it looks like: not the one
// in an answer that the owner labelled.
func TestJudgeOfLabelsSeesNoKey(t *testing.T) {
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	key := "qv-" + strings.Repeat("plain", 4)
	cases, sessions := owner(2)
	sessions[0].Turns[0].Answer += " " + key
	cases[1].Reference += " " + key
	for i := range sessions {
		if err := db.SaveSession(t.Context(), &sessions[i]); err != nil {
			t.Fatal(err)
		}
	}
	var shown strings.Builder
	judge := &seeingJudge{shown: &shown}
	k := New(db, "r", judge, redact.Known(key), eval.NewBudget(eval.Caps{}, nil), 0, 1)
	k.enough = 1
	c, err := k.Calibrate(t.Context(), "s", cases)
	if err != nil {
		t.Fatal(err)
	}
	if c.Labels.N() == 0 || !strings.Contains(shown.String(), "known-secret") {
		t.Errorf("%+v: the judge was not asked about what held the key:\n%s", c, shown.String())
	}
	if strings.Contains(shown.String(), key) {
		t.Errorf("the judge was shown the key:\n%s", shown.String())
	}
}

// A seeingJudge keeps what it was shown.
type seeingJudge struct {
	literalJudge
	shown *strings.Builder
}

func (j *seeingJudge) Complete(ctx context.Context, p eval.Prompt) (eval.Completion, error) {
	j.shown.WriteString(p.System + p.User)
	return j.literalJudge.Complete(ctx, p)
}
