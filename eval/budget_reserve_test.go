package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
)

// However suddenly calls take more than those before, a cap is exceeded by what one
// reply took at most, with eight at a time.
func TestCapIsExceededByOneReplyAtMost(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	for name, output := range map[string]func(n int) int64{
		"grows after three": func(n int) int64 {
			if n > 3 {
				return 900
			}
			return 20
		},
		"grows after six": func(n int) int64 {
			if n > 6 {
				return 1500
			}
			return 20
		},
		"one in eight is large": func(n int) int64 {
			if n%8 == 0 {
				return 2000
			}
			return 20
		},
		"doubles late": func(n int) int64 {
			if n > 40 {
				return 160
			}
			return 20
		},
		"varies": func(int) int64 { return rnd.Int64N(1000) },
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var calls int
			var served, most int64
			agent := agentFunc(func(context.Context, Task) (Attempt, error) {
				mu.Lock()
				calls++
				u := &Usage{Input: 50, Output: output(calls)}
				served, most = served+u.Total(), max(most, u.Total())
				mu.Unlock()
				time.Sleep(2 * time.Millisecond)
				return Attempt{Answer: "a", Usage: u}, nil
			})
			const limit = 5000
			b := NewBudget(Caps{Tokens: limit}, time.Now)
			e := &Evaluator{Agent: agent, Grader: new(Checks), Budget: b, Concurrency: 8}
			if _, err := e.Run(t.Context(), jobsOf(testCases(300))); !errors.As(err, new(*BudgetError)) {
				t.Fatal(err)
			}
			t.Logf("%s: %d calls, %d tokens, one of them %d", name, calls, served, most)
			if served > limit+most || served < limit/2 {
				t.Errorf("%s: %d tokens were served under a cap of %d, at most %d by one call", name, served, limit, most)
			}
		})
	}
}

// Far from the cap, calls that are all alike run as many at a time as may.
func TestCallsRunTogetherFarFromTheCap(t *testing.T) {
	var mu sync.Mutex
	now, most := 0, 0
	agent := agentFunc(func(context.Context, Task) (Attempt, error) {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		time.Sleep(2 * time.Millisecond)
		mu.Lock()
		now--
		mu.Unlock()
		return Attempt{Answer: "a", Usage: &Usage{Input: 500, Output: 500}}, nil
	})
	b := NewBudget(Caps{Tokens: 200_000}, time.Now)
	e := &Evaluator{Agent: agent, Grader: new(Checks), Budget: b, Concurrency: 8}
	if _, err := e.Run(t.Context(), jobsOf(testCases(180))); err != nil {
		t.Fatal(err)
	}
	if most != 8 {
		t.Errorf("%d at a time", most)
	}
}

// A request that limits its output reserves that much: from the second call on, no
// reply within its limit exceeds the cap.
func TestALimitIsReserved(t *testing.T) {
	b := NewBudget(Caps{Tokens: 20_000}, time.Now)
	m := &Metered{By: ByMutator, Budget: b, Model: modelFunc(func(_ context.Context, p Prompt) (Completion, error) {
		out := int64(p.MaxTokens)
		if p.User == "0" {
			out = 10 // the first one says nothing about the others
		}
		return Completion{Text: "r", Finish: "stop", Usage: &Usage{Input: 100, Output: out}}, nil
	})}
	n := 0
	for ; ; n++ {
		_, err := m.Complete(t.Context(), Prompt{User: fmt.Sprint(n), MaxTokens: 6000})
		if errors.As(err, new(*BudgetError)) {
			break
		} else if err != nil || n > 10 {
			t.Fatalf("%d calls, %v", n, err)
		}
	}
	if s := b.Spent(); n != 4 || s.TokensIn+s.TokensOut > 20_000 || len(b.Warnings()) > 0 {
		t.Errorf("%d calls, spent %+v, warnings %q", n, s, b.Warnings())
	}
}

// A first call is not sent if its prompt alone is more than what is left.
func TestAPromptBeyondTheCapIsNotSent(t *testing.T) {
	long := strings.Repeat("draw the weeks on a log scale ", 2000)
	for name, caps := range map[string]Caps{"tokens": {Tokens: 5000}, "dollars": {CostUSD: 0.01}} {
		for spender, ask := range map[string]func(t *testing.T, b *Budget, prompt string) error{
			"model": func(t *testing.T, b *Budget, prompt string) error {
				m := &Metered{By: ByMiner, Budget: b, Model: modelFunc(func(_ context.Context, p Prompt) (Completion, error) {
					if len(p.User) == len(long) {
						t.Error("it was sent")
					}
					return Completion{Text: "r", Finish: "stop", Usage: &Usage{Input: 10, Output: 10}}, nil
				})}
				_, err := m.Complete(t.Context(), Prompt{User: prompt, MaxTokens: 1000})
				return err
			},
			"agent": func(t *testing.T, b *Budget, prompt string) error {
				agent := agentFunc(func(context.Context, Task) (Attempt, error) {
					if len(prompt) == len(long) {
						t.Error("it was sent")
					}
					return Attempt{Answer: "a", Usage: &Usage{Input: 10, Output: 10}}, nil
				})
				cs := testCases(1)
				cs[0].Prompt = prompt
				_, err := (&Evaluator{Agent: agent, Grader: new(Checks), Budget: b, MaxRetries: 9}).Run(t.Context(), jobsOf(cs))
				return err
			},
		} {
			t.Run(name+"/"+spender, func(t *testing.T) {
				whole := NewBudget(caps, time.Now)
				for _, by := range []Spender{ByMiner, ByAgent} {
					whole.SetPrice(by, &Price{Input: 3, Output: 15})
				}
				for _, b := range []*Budget{whole, whole.Sub(Caps{Rollouts: 5})} {
					if err := ask(t, b, long); !errors.As(err, new(*BudgetError)) {
						t.Errorf("error %v", err)
					}
				}
				if err := ask(t, whole, "draw"); err != nil {
					t.Errorf("a short one: %v", err)
				}
			})
		}
	}
}

// A share for another model is not estimated by what calls of the first one took, and the
// other way round; both count against the same caps.
func TestBudgetApart(t *testing.T) {
	dear, cheap := &Price{Input: 100, Output: 100}, &Price{Input: 1, Output: 1}
	b := NewBudget(Caps{CostUSD: 10}, nil)
	b.SetPrice(ByAgent, dear)
	apart := b.Apart(cheap)
	for range 30 {
		r, err := apart.Reserve(ByAgent, Cost{})
		if err != nil {
			t.Fatal(err)
		}
		r.Settle(Cost{Usage: &Usage{Input: 10_000}, USD: ptr(0.01)})
	}
	if got := b.Spent(); math.Abs(got.CostUSD-0.3) > 1e-9 || got.AgentCalls != 30 {
		t.Errorf("the whole has spent %+v, want the 0.30 of its share", got)
	}
	one := func(b *Budget) float64 {
		r, err := b.Reserve(ByAgent, Cost{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Release()
		return r.demand.usd
	}
	if got := one(b); got < 0.1 {
		t.Errorf("a call of the dear model reserves %v, as if it were the cheap one", got)
	}
	b.Charge(ByAgent, Cost{Usage: &Usage{Input: 10_000}, USD: ptr(1.0)})
	if got := one(apart); got > 0.02 {
		t.Errorf("a call of the cheap model reserves %v, as if it were the dear one", got)
	}
	b.Charge(ByAgent, Cost{USD: ptr(8.7)})
	if _, err := apart.Reserve(ByAgent, Cost{}); err == nil {
		t.Error("the cap is used up, and the share goes on")
	}
}
