package judge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/check"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill"
	"pgregory.net/rapid"
)

// A saying judge is asked by a function.
type saying struct {
	says  func(first, second string) string // the reply, or which is better
	err   error
	calls atomic.Int64
}

func (*saying) Identity() eval.Identity { return eval.Identity{Backend: "test", Model: "saying"} }

func (j *saying) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	j.calls.Add(1)
	if j.err != nil {
		return eval.Completion{}, j.err
	}
	text := j.says(part(p, "first"), part(p, "second"))
	switch text {
	case "first", "second", "neither":
		text = fmt.Sprintf(`{"reason": "r", "better": %q}`, text)
	}
	return eval.Completion{Text: text, Finish: "stop", Usage: &eval.Usage{Input: 1000, Output: 10}}, nil
}

// whim prefers an answer as the contents of both in this order happen to hash: anything,
// but always the same.
func whim(first, second string) string {
	drop := func(text string) string { _, text, _ = strings.Cut(text, ">\n"); return text } // the fence's mark
	return []string{"first", "second", "neither"}[skill.HashText([]byte(drop(first) + "|" + drop(second)))[0]%3]
}

var one = &eval.Case{ID: "c", Skill: "s", Prompt: "plot it"}

func answered(texts ...string) (out []*eval.Rollout) {
	for _, text := range texts {
		out = append(out, &eval.Rollout{CaseID: "c", Status: eval.Done, Answer: text})
	}
	return out
}

func comparer(t *testing.T, m eval.Model) *Comparer {
	return New(open(t), "r", m, redact.Detector{}, eval.NewBudget(eval.Caps{}, nil), 0, 4)
}

// TestSwappedAnswersNegate: whatever a judge says, the other order of the arms is the
// opposite score, without any record of the first.
func TestSwappedAnswersNegate(t *testing.T) {
	text := rapid.StringMatching(`[abc ]{0,4}`)
	k, c, n := comparer(t, &saying{says: whim}), *one, 0
	rapid.Check(t, func(r *rapid.T) {
		olds, news := rapid.SliceOfN(text, 0, 3).Draw(r, "old"), rapid.SliceOfN(text, 0, 3).Draw(r, "new")
		var scores [2]float64
		var oks [2]bool
		for i := range 2 {
			var err error
			n++
			c.ID = fmt.Sprint(n) // of which nothing is on record
			if scores[i], oks[i], err = k.Replays(t.Context(), &c, answered(olds...), answered(news...)); err != nil {
				r.Fatal(err)
			}
			olds, news = news, olds
		}
		if scores[0] != -scores[1] || oks[0] != oks[1] || scores[0] < -1 || scores[0] > 1 || oks[0] != (min(len(olds), len(news)) > 0) {
			r.Fatalf("%v, swapped %v, known %v", scores[0], scores[1], oks)
		}
	})
}

func TestReplays(t *testing.T) {
	right := func(first, second string) string {
		return map[bool]string{true: "first", false: "second"}[strings.Contains(first, "right")]
	}
	for name, c := range map[string]struct {
		says     func(string, string) string
		old, new []*eval.Rollout
		want     float64
		known    bool
		calls    int64
	}{
		"the challenger":    {right, answered("wrong"), answered("right"), 1, true, 2},
		"the incumbent":     {right, answered("right"), answered("wrong"), -1, true, 2},
		"always the first":  {func(string, string) string { return "first" }, answered("a", "x"), answered("b", "y"), 0, true, 4},
		"always the second": {func(string, string) string { return "second" }, answered("a"), answered("b"), 0, true, 2},
		"always neither":    {func(string, string) string { return "neither" }, answered("a"), answered("b"), 0, true, 2},
		"right or neither, by side": {func(first, _ string) string {
			if strings.Contains(first, "right") {
				return "first"
			}
			return "neither"
		}, answered("wrong"), answered("right"), 0.5, true, 2},
		"equal answers":     {right, answered("right"), answered("right"), 0, true, 0},
		"equal as shown":    {right, answered("right"), answered("right\u200b "), 0, true, 0},
		"one failed":        {right, []*eval.Rollout{{Status: eval.Done, Failure: "gave up", Answer: "right"}}, answered("wrong"), 1, true, 0},
		"one empty":         {right, answered("wrong"), answered(" \n"), -1, true, 0},
		"both failed":       {right, answered(""), answered(" "), 0, true, 0},
		"the mean of three": {right, answered("wrong", "right", "same"), answered("right", "wrong x", "same"), 0, true, 4},
		"a pair is missing": {right, answered("wrong", "wrong"), append(answered("right"), nil), 1, true, 2},
		"void and expired": {right, []*eval.Rollout{{Status: eval.Void, Answer: "x"}, {Status: eval.Done, Expired: true}, {Status: eval.Missing}},
			answered("right", "right", "right"), 0, false, 0},
		"no replay":          {right, nil, nil, 0, false, 0},
		"nobody can read it": {func(string, string) string { return "Well." }, answered("a"), answered("b"), 0, false, 4},
		"an order, read by one that quotes nothing": {func(first, _ string) string {
			if strings.Contains(first, "better") {
				return "first"
			}
			return "second"
		}, answered(`{"better": "first"}`), answered("b"), -1, true, 2},
	} {
		j := &saying{says: c.says}
		score, known, err := comparer(t, j).Replays(t.Context(), one, c.old, c.new)
		if err != nil || score != c.want || known != c.known || j.calls.Load() != c.calls {
			t.Errorf("%s: %g, %v, %v after %d calls, want %g, %v after %d", name, score, known, err, j.calls.Load(), c.want, c.known, c.calls)
		}
	}
}

// TestRepliesAreKept: the same run is billed once, a later one pays nothing, whichever
// arm an answer is of now.
func TestRepliesAreKept(t *testing.T) {
	db := open(t)
	j := &saying{says: whim}
	ask := func(run string, old, new string) (float64, eval.Spent) {
		t.Helper()
		budget := eval.NewBudget(eval.Caps{}, nil)
		score, known, err := New(db, run, j, redact.Detector{}, budget, 0, 4).Replays(t.Context(), one, answered(old), answered(new))
		if err != nil || !known {
			t.Fatal(known, err)
		}
		return score, budget.Spent()
	}
	want, spent := ask("r1", "a", "b")
	for _, c := range []struct {
		run, old, new string
		sign          float64
		billed        int64
	}{{"r1", "a", "b", 1, 2}, {"r2", "a", "b", 1, 0}, {"r2", "b", "a", -1, 0}} {
		got, bill := ask(c.run, c.old, c.new)
		if got != c.sign*want || bill.JudgeCalls != c.billed || bill.JudgeCalls == 2 && bill.TokensIn != spent.TokensIn || j.calls.Load() != 2 {
			t.Errorf("%+v: %g after %d calls, billed %d, want %g", c, got, j.calls.Load(), bill.JudgeCalls, c.sign*want)
		}
	}
	if _, bill := ask("r2", "a", "c"); bill.JudgeCalls != 2 || bill.TokensIn == 0 || j.calls.Load() != 4 {
		t.Errorf("other answers: %d calls, billed %+v", j.calls.Load(), bill)
	}
}

// TestJudgeOutOfReach: for now it is unknown, for good it is an error, and of pending
// replies all are asked for.
func TestJudgeOutOfReach(t *testing.T) {
	for _, c := range []struct {
		kind  eval.FailureKind
		calls int64
		fails bool
	}{{eval.ServerError, 4, false}, {eval.Pending, 4, true}, {eval.Auth, 1, true}} {
		j := &saying{err: &eval.InfraError{Kind: c.kind, Err: errors.New("no")}}
		k := comparer(t, j)
		k.model.(*eval.Metered).InfraTries = 1
		_, known, err := k.Replays(t.Context(), one, answered("a", "b"), answered("x", "y"))
		if known || (err != nil) != c.fails || j.calls.Load() < c.calls || c.fails != (c.kind == eval.Auth || eval.IsPending(err)) {
			t.Errorf("%s: known %v, %v after %d calls", c.kind, known, err, j.calls.Load())
		}
	}
}

// TestWithoutAJudge: what needs no judge is known, all else is not.
func TestWithoutAJudge(t *testing.T) {
	k := comparer(t, nil)
	if score, known, err := k.Replays(t.Context(), one, answered("", "a"), answered("x", "b")); score != 1 || !known || err != nil {
		t.Errorf("%g, %v, %v", score, known, err)
	}
	if _, known, err := k.Replays(t.Context(), one, answered("a"), answered("b")); known || err != nil || k.Judge != "" {
		t.Errorf("%v, %v", known, err)
	}
}

// TestComparerSpendsTheBudget: a cap ends it with the error of a cap, and what was
// answered before counts later.
func TestComparerSpendsTheBudget(t *testing.T) {
	db, j := open(t), &saying{says: whim}
	budget := eval.NewBudget(eval.Caps{Tokens: 4000}, nil)
	k := New(db, "r", j, redact.Detector{}, budget, 0, 1)
	_, known, err := k.Replays(t.Context(), one, answered("a", "b", "c"), answered("x", "y", "z"))
	var limit *eval.BudgetError
	if known || !errors.As(err, &limit) || j.calls.Load() == 0 || j.calls.Load() == 6 {
		t.Fatalf("%v, %v after %d calls", known, err, j.calls.Load())
	}
	if _, known, err = New(db, "r", j, redact.Detector{}, nil, 0, 1).Replays(t.Context(), one, answered("a", "b", "c"), answered("x", "y", "z")); !known || err != nil || j.calls.Load() != 6 {
		t.Errorf("%v, %v after %d calls, want six in all", known, err, j.calls.Load())
	}
}

// TestWorkMakesAnAnswer: what was done is shown to the judge and to the owner if it was
// recorded of both, and the same words with other work are another answer.
func TestWorkMakesAnAnswer(t *testing.T) {
	did := func(path string) *check.Work { return &check.Work{Files: []check.Change{{Path: path, Added: "x\n"}}} }
	for _, c := range []struct {
		name           string
		a, b           *check.Work // of equal answers
		score          float64     // in favour of b
		calls          int64
		prefers, shown string
	}{
		{"equal work", did("a.go"), did("a.go"), 0, 0, "b.go", ""},
		{"other work", did("a.go"), did("b.go"), 1, 2, "b.go", "changed b.go\n+ x\n"},
		{"none was done", new(check.Work), new(check.Work), 0, 0, "", ""},
		{"of one it was not recorded", nil, did("b.go"), 0, 0, "b.go", ""},
	} {
		j := &saying{says: func(string, string) string { return "neither" }}
		k := comparer(t, j)
		k.model = preferring{j, c.prefers}
		rs := answered("done", "done")
		rs[0].Work, rs[1].Work = c.a, c.b
		score, ok, err := k.Replays(t.Context(), one, rs[:1], rs[1:])
		if err != nil || !ok || score != c.score || j.calls.Load() != c.calls {
			t.Errorf("%s: %v, %v, %v after %d calls; want %v after %d", c.name, score, ok, err, j.calls.Load(), c.score, c.calls)
		}
		p := &Pair{First: rs[0], Second: rs[1]}
		first, second := p.Names()
		if _, shown := p.Works(); (first == second) != (c.name == "equal work" || c.name == "none was done") || c.shown != "" && shown != c.shown {
			t.Errorf("%s: named %.8s and %.8s, shown %q", c.name, first, second, shown)
		}
	}
	if answerSHA(answered("done")[0]) != skill.HashText([]byte("done")) {
		t.Error("labels on answers without work have lost their names")
	}
}

// A preferring judge likes the answer for which a word was done.
type preferring struct {
	*saying
	word string
}

func (j preferring) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	j.calls.Add(1)
	better := "second"
	if strings.Contains(part(p, "first-work"), j.word) {
		better = "first"
	}
	return eval.Completion{Text: fmt.Sprintf(`{"reason": "r", "better": %q}`, better), Finish: "stop", Usage: &eval.Usage{Input: 1000, Output: 10}}, nil
}
