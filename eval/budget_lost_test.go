package eval

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// What a call took before it failed is on the bill, though the call is made
// again; what another call does not tell cancels nothing of what is known.
func TestNothingKnownIsLostFromTheBill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		agent := agentFunc(func(context.Context, Task) (Attempt, error) {
			calls++
			a := Attempt{Answer: "no", Usage: &Usage{Input: 100}, CostUSD: ptr(1.0)}
			switch calls {
			case 1, 3: // it took something, and then the server failed
				return a, &InfraError{Kind: ServerError, Err: errors.New("overloaded")}
			case 4: // the first work retry is known, the second is not
				a.Usage, a.CostUSD = &Usage{Input: 5000}, ptr(50.0)
			case 5:
				a.Usage, a.CostUSD = nil, nil
			case 6:
				a.Usage, a.CostUSD = &Usage{Input: 7000}, nil
			}
			return a, nil
		})
		asked := 0
		judge := modelFunc(func(context.Context, Prompt) (Completion, error) {
			asked++
			c := Completion{Text: `{"score":0,"reason":"r"}`, Finish: "stop", Usage: &Usage{Input: 10}, CostUSD: ptr(0.1)}
			if asked%3 == 0 {
				c.Usage, c.CostUSD = nil, nil
			}
			if asked == 2 { // the first answer to this grading is paid for, and asked for again
				return c, &InfraError{Kind: ServerError, Err: errors.New("overloaded")}
			}
			return c, nil
		})
		c := &Case{ID: "c", Skill: "s", Prompt: "p", Checks: []Check{{Type: Judge, Rubric: "r"}, {Type: Judge, Rubric: "q"}}}
		rec := newMemory(true)
		b := NewBudget(Caps{Tokens: 12_000, CostUSD: 53}, time.Now)
		e := &Evaluator{Agent: agent, Grader: &Checks{Judge: judge}, Budget: b, MaxRetries: 3, Recorder: rec}
		out, err := e.Run(t.Context(), []Job{{Case: c}})
		if err != nil || calls != 6 || asked != 10 {
			t.Fatalf("%d attempts, %d questions, %v", calls, asked, err)
		}
		// 3 × 100, 5000 and 7000 of the agent; 7 × 10 of the judge.
		s := b.Spent()
		if s.TokensIn != 12_370 || s.CostUSD < 53.6999 || s.CostUSD > 53.7001 || s.CostKnown {
			t.Errorf("spent %+v", s)
		}
		if *out[0].Usage != (Usage{Input: 100}) || *out[0].CostUSD != 1 {
			t.Errorf("the objective is %+v, %v: it is the first attempt's alone", *out[0].Usage, *out[0].CostUSD)
		}
		if len(b.Warnings()) != 4 {
			t.Errorf("warnings %q: both caps were exceeded, and some calls told nothing", b.Warnings())
		}
		// A resumed run finds the same on record.
		again := NewBudget(Caps{}, time.Now)
		e = &Evaluator{Agent: agent, Grader: &Checks{Judge: judge}, Budget: again, MaxRetries: 3, Recorder: rec}
		if _, err := e.Run(t.Context(), []Job{{Case: c}}); err != nil || calls != 6 {
			t.Fatalf("%d attempts, %v", calls, err)
		}
		if r := again.Spent(); r.TokensIn != s.TokensIn || r.CostUSD != s.CostUSD {
			t.Errorf("resumed: spent %+v, want %+v", r, s)
		}
	})
}

// A model's reply that fails after it took something counts, too, each time.
func TestFailedRepliesAreOnTheBill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(Caps{}, time.Now)
		m := &Metered{By: ByMutator, Budget: b, InfraTries: 3, Model: modelFunc(func(context.Context, Prompt) (Completion, error) {
			return Completion{Usage: &Usage{Output: 40}, CostUSD: ptr(0.25)}, &InfraError{Kind: ServerError, Err: errors.New("overloaded")}
		})}
		if _, err := m.Complete(t.Context(), Prompt{User: "u"}); err == nil {
			t.Fatal("no error")
		}
		if s := b.Spent(); s.MutatorCalls != 3 || s.TokensOut != 120 || s.CostUSD != 0.75 {
			t.Errorf("spent %+v", s)
		}
	})
}

// So does a rollout that is missing in the end.
func TestAMissingRolloutIsOnTheBill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(Caps{}, time.Now)
		agent := agentFunc(func(context.Context, Task) (Attempt, error) {
			return Attempt{Usage: &Usage{Output: 40}, CostUSD: ptr(0.25)}, &InfraError{Kind: ServerError, Err: errors.New("overloaded")}
		})
		e := &Evaluator{Agent: agent, Grader: new(Checks), Budget: b, InfraTries: 4, MaxMissing: 1}
		if _, err := e.Run(t.Context(), jobsOf(testCases(1))); err != nil {
			t.Fatal(err)
		}
		if s := b.Spent(); s.AgentCalls != 4 || s.Rollouts != 0 || s.TokensOut != 160 || s.CostUSD != 1 {
			t.Errorf("spent %+v", s)
		}
	})
}

// No failed call is made again once what it and those before it took uses up a
// cap.
func TestFailedCallsEndWithTheCap(t *testing.T) {
	for _, caps := range []Caps{{Tokens: 1000}, {CostUSD: 1}} {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			cost := Cost{Usage: &Usage{Output: 600}, USD: ptr(0.6)}
			down := &InfraError{Kind: ServerError, Err: errors.New("overloaded")}
			agent := agentFunc(func(context.Context, Task) (Attempt, error) {
				calls++
				return Attempt{Usage: cost.Usage, CostUSD: cost.USD}, down
			})
			b := NewBudget(caps, time.Now)
			rec := newMemory(true)
			e := &Evaluator{Agent: agent, Grader: new(Checks), Budget: b, MaxMissing: 1, Recorder: rec}
			if _, err := e.Run(t.Context(), jobsOf(testCases(3))); !errors.As(err, new(*BudgetError)) || calls != 2 {
				t.Errorf("%+v: %d calls, %v", caps, calls, err)
			}
			if s := b.Spent(); s.TokensOut != 1200 || s.AgentCalls != 2 || len(b.Warnings()) == 0 {
				t.Errorf("%+v: spent %+v, warnings %q", caps, s, b.Warnings())
			}
			for range 2 { // a resumed run counts it, and has nothing left
				calls = 0
				again := NewBudget(caps, time.Now)
				e.Budget = again
				if _, err := e.Run(t.Context(), jobsOf(testCases(3))); !errors.As(err, new(*BudgetError)) || calls != 0 {
					t.Errorf("%+v: resumed: %d calls, %v", caps, calls, err)
				}
				if s := again.Spent(); s.TokensOut != 1200 || s.CostUSD != 1.2 {
					t.Errorf("%+v: resumed: spent %+v", caps, s)
				}
			}
			// With more to spend it loses more, and that adds up.
			more := Caps{Tokens: 2 * caps.Tokens, CostUSD: 2 * caps.CostUSD}
			for _, want := range []int{1, 0} {
				calls = 0
				e.Budget = NewBudget(more, time.Now)
				if _, err := e.Run(t.Context(), jobsOf(testCases(3))); !errors.As(err, new(*BudgetError)) || calls < want || want == 0 && calls != 0 {
					t.Errorf("%+v: resumed with more: %d calls, %v", caps, calls, err)
				}
				if s := e.Budget.Spent(); s.TokensOut != 2400 {
					t.Errorf("%+v: resumed with more: spent %+v", caps, s)
				}
			}
			calls = 0
			b = NewBudget(caps, time.Now)
			m := &Metered{By: ByMutator, Budget: b, Model: modelFunc(func(context.Context, Prompt) (Completion, error) {
				calls++
				return Completion{Usage: cost.Usage, CostUSD: cost.USD}, down
			})}
			if _, err := m.Complete(t.Context(), Prompt{User: "u"}); !errors.As(err, new(*BudgetError)) || calls != 2 {
				t.Errorf("%+v: %d calls of a model, %v", caps, calls, err)
			}
			if s := b.Spent(); s.TokensOut != 1200 || s.MutatorCalls != 2 {
				t.Errorf("%+v: spent %+v", caps, s)
			}
		})
	}
}
