package eval

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A modelFunc is a Model without an identity.
type modelFunc func(context.Context, Prompt) (Completion, error)

func (modelFunc) Identity() Identity { return Identity{Backend: "test"} }

func (f modelFunc) Complete(ctx context.Context, p Prompt) (Completion, error) { return f(ctx, p) }

// Reports of a backend that lies, or is broken.
var lies = []Cost{
	{},
	{Usage: &Usage{}, USD: ptr(0.0)},
	{Usage: &Usage{Input: -5000, Output: -1}, USD: ptr(-3.0)},
	{Usage: &Usage{Input: math.MaxInt64, CacheRead: math.MaxInt64, Output: math.MaxInt64}, USD: ptr(math.MaxFloat64)},
	{Usage: &Usage{Input: math.MinInt64, CacheWrite: math.MinInt64}, USD: ptr(math.Inf(-1))},
	{Usage: &Usage{Output: 7}, USD: ptr(math.NaN())},
	{USD: ptr(math.Inf(1))},
	{USD: ptr(0.0)},
	{Usage: &Usage{Input: 50_000, Output: -1}, USD: ptr(2.0)},
	{Usage: &Usage{Input: -20, Output: 20}, USD: ptr(0.0)},
	{Usage: &Usage{Reasoning: 300}},
}

// Whatever a backend reports, no money is given back, all caps still limit, and the
// spending can be marshalled.
func TestBudgetIsNotTalkedDown(t *testing.T) {
	for i, lie := range lies {
		b := NewBudget(Caps{Tokens: 1000, CostUSD: 10, Rollouts: 100}, nil)
		b.Charge(ByAgent, Cost{Usage: &Usage{Input: 400}, USD: ptr(4.0)})
		for range 3 {
			was := b.Spent()
			r, err := b.Reserve(ByAgent, lie) // as an estimate
			if err != nil && !errors.As(err, new(*BudgetError)) {
				t.Fatal(err)
			}
			if err == nil {
				if d := r.demand; d.tokens < 1 || !(d.usd >= 0) {
					t.Errorf("lie %d: reserves %+v", i, d)
				}
				r.Release()
			}
			b.Charge(ByAgent, lie) // as a bill
			is := b.Spent()
			if is.TokensIn < was.TokensIn || is.TokensOut < was.TokensOut || !(is.CostUSD >= was.CostUSD) {
				t.Errorf("lie %d: spent went from %+v to %+v", i, was, is)
			}
			if _, err := json.Marshal(is); err != nil {
				t.Errorf("lie %d: %v", i, err)
			}
		}
		s := b.Spent()
		if huge := s.TokensIn+s.TokensOut > 1000; huge {
			if _, err := b.Reserve(ByJudge, tokens(1)); err == nil {
				t.Errorf("lie %d: %d tokens are spent and another call fits", i, s.TokensIn+s.TokensOut)
			}
		}
	}
}

// A recorded rollout or reply holds what can be written down and added up,
// whatever the backend said of it.
func TestLiesAreNotRecorded(t *testing.T) {
	for i, lie := range lies {
		agent := agentFunc(func(context.Context, Task) (Attempt, error) {
			return Attempt{Answer: "no", Usage: lie.Usage, CostUSD: lie.USD}, nil
		})
		judge := modelFunc(func(context.Context, Prompt) (Completion, error) {
			return Completion{Text: `{"score":0,"reason":"r"}`, Finish: "stop", Usage: lie.Usage, CostUSD: lie.USD}, nil
		})
		c := &Case{ID: "c", Skill: "s", Prompt: "p", Checks: []Check{{Type: Judge, Rubric: "r"}, {Type: Judge, Rubric: "q"}}}
		e := &Evaluator{Agent: agent, Grader: &Checks{Judge: judge}, Budget: NewBudget(Caps{}, nil), MaxRetries: 2}
		out, err := e.Run(t.Context(), []Job{{Case: c}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(out[0]); err != nil {
			t.Errorf("lie %d: %v", i, err)
		}
		for _, u := range []*Usage{out[0].Usage, out[0].RetryUsage, out[0].JudgeUsage} {
			if u != nil && (u.Input < 0 || u.Output < 0 || u.CacheRead < 0 || u.CacheWrite < 0 || u.Total() < 0) {
				t.Errorf("lie %d: recorded usage %+v", i, *u)
			}
		}
		m := &Metered{Model: judge, By: ByMiner, Budget: NewBudget(Caps{}, nil)}
		reply, err := m.Complete(t.Context(), Prompt{User: "u"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(reply); err != nil {
			t.Errorf("lie %d: %v", i, err)
		}
	}
}

// A true bill is not cancelled by a lie beside it.
func TestALieDoesNotCancelATrueBill(t *testing.T) {
	n := 0
	agent := agentFunc(func(context.Context, Task) (Attempt, error) {
		n++
		a := Attempt{Answer: "no", Usage: &Usage{Input: 500}, CostUSD: ptr(5.0)}
		if n == 3 {
			a.Usage, a.CostUSD = &Usage{Input: -500}, ptr(-5.0)
		}
		return a, nil
	})
	b := NewBudget(Caps{}, nil)
	e := &Evaluator{Agent: agent, Grader: new(Checks), Budget: b, MaxRetries: 2}
	if _, err := e.Run(t.Context(), jobsOf(testCases(1))); err != nil {
		t.Fatal(err)
	}
	if s := b.Spent(); s.TokensIn != 1000 {
		t.Errorf("spent %+v, want 1000 tokens", s)
	}
}

// What was used beyond the estimate is said with its numbers, and by how much a
// cap was exceeded.
func TestBudgetSaysWhatItDidNotExpect(t *testing.T) {
	b := NewBudget(Caps{Tokens: 1000, CostUSD: 1}, nil)
	settle := func(est, took int64, usd float64) {
		t.Helper()
		r, err := b.Reserve(ByAgent, Cost{Usage: &Usage{Input: est}, USD: ptr(0.1)})
		if err != nil {
			t.Fatal(err)
		}
		r.Settle(Cost{Usage: &Usage{Input: took}, USD: &usd})
	}
	settle(400, 420, 0.1)
	if ws := b.Warnings(); len(ws) != 0 {
		t.Errorf("a call near its estimate is warned of: %q", ws)
	}
	settle(300, 3000, 0.1)
	ws := b.Warnings()
	if len(ws) != 1 {
		t.Fatalf("warnings %q, want one", ws)
	}
	for _, part := range []string{"--max-tokens 1000 was exceeded by 2420", "2 calls took 2720 tokens more", "one of them 3000 where 300"} {
		if !strings.Contains(ws[0], part) {
			t.Errorf("%q does not say %q", ws[0], part)
		}
	}
	b = NewBudget(Caps{CostUSD: 1}, nil)
	settle(1, 1, 0.9)
	if ws := b.Warnings(); len(ws) != 1 || !strings.Contains(ws[0], "$0.80 more") || strings.Contains(ws[0], "exceeded by") {
		t.Errorf("warnings %q, want one that says $0.80 more, and of no cap exceeded", ws)
	}
}

// A call that counts no tokens at all was not counted: a cap on tokens holds it
// by an estimate, and that is said.
func TestUsageOfNothingIsNoUsage(t *testing.T) {
	b := NewBudget(Caps{Tokens: 10_000}, nil)
	b.Charge(ByAgent, Cost{Usage: &Usage{}})
	if ws := b.Warnings(); len(ws) != 1 || !strings.Contains(ws[0], "1 calls reported no usage: --max-tokens counted 4000 tokens for them") {
		t.Errorf("warnings %q", ws)
	}
	if left := b.Remaining().Tokens; left != 6000 || b.Spent().TokensIn != 0 {
		t.Errorf("%d tokens left of 10000, spent %+v: want 4000 to count, and none to be spent", left, b.Spent())
	}
}

// The time that is left ends tries that are made again, too.
func TestRetriesEndWithTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		down := func() error {
			calls++
			return &InfraError{Kind: RateLimited, RetryAfter: 9 * time.Minute, Err: errors.New("later")}
		}
		b := NewBudget(Caps{}, time.Now)
		sub := b.Sub(Caps{Duration: 20 * time.Minute})
		begun := time.Now()
		m := &Metered{By: ByMutator, Budget: sub, Model: modelFunc(func(context.Context, Prompt) (Completion, error) { return Completion{}, down() })}
		if _, err := m.Complete(t.Context(), Prompt{User: "u"}); !errors.As(err, new(*BudgetError)) {
			t.Errorf("err = %v, want a BudgetError", err)
		}
		if took := time.Since(begun); took > 20*time.Minute || calls != 3 {
			t.Errorf("%d calls in %v, the cap is 20m", calls, took)
		}
		calls, begun = 0, time.Now()
		e := &Evaluator{Agent: agentFunc(func(context.Context, Task) (Attempt, error) { return Attempt{}, down() }), Grader: new(Checks),
			Budget: NewBudget(Caps{Duration: 20 * time.Minute}, time.Now)}
		if _, err := e.Run(t.Context(), jobsOf(testCases(1))); !errors.As(err, new(*BudgetError)) {
			t.Errorf("err = %v, want a BudgetError", err)
		}
		if took := time.Since(begun); took > 20*time.Minute || calls != 3 {
			t.Errorf("%d calls in %v, the cap is 20m", calls, took)
		}
	})
}
