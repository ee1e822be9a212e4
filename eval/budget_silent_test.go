package eval

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// silences are the ways in which a backend tells nothing of a call that it has
// answered.
var silences = map[string]Cost{
	"null":                 {},
	"zero":                 {Usage: &Usage{}},
	"zero, and its price":  {Usage: &Usage{}, USD: ptr(0.0)},
	"negative":             {Usage: &Usage{Input: -500, Output: -20}, USD: ptr(-0.0005)},
	"negative, to nothing": {Usage: &Usage{Input: -20, Output: 20}, USD: ptr(0.0)},
}

// However a backend is silent, caps hold what its calls are expected to take, and
// what is reported as spent stays unknown.
func TestCapsHoldSilentBackends(t *testing.T) {
	price := &Price{Input: 1, Output: 1}
	for name, silence := range silences {
		for _, caps := range []Caps{{CostUSD: 0.01}, {Tokens: 10_000}} {
			var made atomic.Int64
			agent := agentFunc(func(context.Context, Task) (Attempt, error) {
				made.Add(1)
				return Attempt{Answer: "no", Usage: silence.Usage, CostUSD: silence.USD}, nil
			})
			b := NewBudget(caps, time.Now)
			b.SetPrice(ByAgent, price)
			e := &Evaluator{Agent: agent, Grader: new(Checks), Budget: b, Concurrency: 4}
			cases := testCases(300)
			for _, c := range cases {
				c.Prompt = strings.Repeat("make it so, ", 300) // 900 tokens
			}
			_, err := e.Run(t.Context(), jobsOf(cases))
			calls := made.Load()
			// 10,000 tokens, of which a call has 900 and about 1,000 for its answer.
			if !errors.As(err, new(*BudgetError)) || calls < 4 || calls > 6 {
				t.Errorf("%s, %+v: %d calls, %v", name, caps, calls, err)
			}
			s := b.Spent()
			if s.CostKnown || s.CostUSD != 0 || s.Uncounted != calls {
				t.Errorf("%s, %+v: spent %+v, which nobody has told", name, caps, s)
			}
			if a := b.Assumed(); caps.Tokens > 0 && a.Tokens > caps.Tokens || caps.CostUSD > 0 && a.USD > caps.CostUSD {
				t.Errorf("%s: %+v exceeds %+v", name, a, caps)
			}
			ws := b.Warnings()
			if len(ws) != 1 || !strings.Contains(ws[0], fmt.Sprintf("%d calls reported no usage: --max-", calls)) || strings.Contains(ws[0], "price") {
				t.Errorf("%s, %+v: warnings %q", name, caps, ws)
			}
		}
	}
}

// A model that never tells is held, too, and a run that reads its replies back
// has no more left than the one that paid for them.
func TestSilentRepliesCountOnceMore(t *testing.T) {
	calls := 0
	model := modelFunc(func(context.Context, Prompt) (Completion, error) {
		calls++
		return Completion{Text: "a reply", Finish: "stop"}, nil
	})
	rec := newMemory(true)
	var left [2]Caps
	for pass := range left {
		b := NewBudget(Caps{Tokens: 10_000}, time.Now)
		m := &Metered{Model: model, By: ByMutator, Budget: b, Recorder: rec}
		for n := 0; ; n++ {
			_, err := m.Complete(t.Context(), Prompt{User: fmt.Sprint(n, strings.Repeat(" word", 1000))})
			if errors.As(err, new(*BudgetError)) {
				break
			} else if err != nil || n > 100 {
				t.Fatalf("%d replies, %v", n, err)
			}
		}
		left[pass] = b.Remaining()
	}
	if calls != 4 || left[0] != left[1] { // of 1,251 and 1,000 tokens
		t.Errorf("%d calls; %+v is left, and %+v after a resumption", calls, left[0], left[1])
	}
}

// Where a spender's other calls were counted, a silent one counts as they did.
func TestASilentCallCountsAsTheOthers(t *testing.T) {
	b := NewBudget(Caps{Tokens: 100_000, CostUSD: 10}, nil)
	b.Charge(ByAgent, Cost{Usage: &Usage{Input: 29_000, Output: 1_000}, USD: ptr(3.0)})
	b.Charge(ByAgent, Cost{})
	if a := b.Assumed(); a.Tokens != 30_000 || a.USD != 3 {
		t.Errorf("assumed %+v", a)
	}
	// What it tells though it cannot be is no less than it took.
	b.Charge(ByAgent, Cost{Usage: &Usage{Input: 50_000, Output: -1}, USD: ptr(1.0)})
	if s := b.Spent(); s.TokensIn != 79_000 || s.CostUSD != 4 || s.Uncounted != 2 {
		t.Errorf("spent %+v", s)
	}
}

// Small amounts of dollars are written with more digits.
func TestFewDollars(t *testing.T) {
	for v, want := range map[float64]string{0: "$0", 0.005: "$0.005", 0.00002: "$2e-05", 0.0421: "$0.0421", 0.42: "$0.42", 0.9999: "$1.00", 1.2102: "$1.21"} {
		if got := FormatUSD(v); got != want {
			t.Errorf("FormatUSD(%v) = %s, want %s", v, got, want)
		}
	}
	b := NewBudget(Caps{CostUSD: 0.01}, nil)
	b.SetPrice(ByAgent, &Price{Input: 1, Output: 1})
	r, err := b.Reserve(ByAgent, Cost{USD: ptr(0.01)})
	if err != nil {
		t.Fatal(err)
	}
	r.Settle(Cost{Usage: &Usage{Input: 15_000}, USD: ptr(0.015)})
	if ws := b.Warnings(); len(ws) != 1 || !strings.Contains(ws[0], "--max-cost-usd $0.01 was exceeded by $0.005") {
		t.Errorf("warnings %q", ws)
	}
}
