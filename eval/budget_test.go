package eval

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func tokens(n int64) Cost { return Cost{Usage: &Usage{Input: n}} }

func TestBudgetReserveSettle(t *testing.T) {
	b := NewBudget(Caps{Rollouts: 3, Tokens: 100}, nil)
	first, err := b.Reserve(ByAgent, tokens(60))
	if err != nil {
		t.Fatal(err)
	}
	var full *BudgetError
	if _, err := b.Reserve(ByAgent, tokens(50)); !errors.As(err, &full) || full.Error() != "budget: --max-tokens is used up" {
		t.Fatalf("err = %v, want max-tokens", err)
	}
	first.Settle(tokens(30))
	first.Settle(tokens(30)) // once is enough
	first.Release()
	if s := b.Spent(); s.TokensIn != 30 || s.Rollouts != 1 || s.AgentCalls != 1 {
		t.Fatalf("spent = %+v", s)
	}
	for range 2 {
		r, err := b.Reserve(ByAgent, tokens(1))
		if err != nil {
			t.Fatal(err)
		}
		r.Settle(tokens(1))
	}
	if _, err := b.Reserve(ByAgent, tokens(1)); !errors.As(err, &full) || full.Cap != "max-rollouts" {
		t.Fatalf("err = %v, want max-rollouts", err)
	}
	// The cap on rollouts counts agent attempts only.
	if _, err := b.Reserve(ByJudge, tokens(1)); err != nil {
		t.Fatalf("a judge's call needs a rollout: %v", err)
	}
	if got := b.Remaining(); got.Rollouts != -1 || got.Tokens != 68 || got.CostUSD != 0 {
		t.Errorf("remaining = %+v", got)
	}
}

func TestBudgetLearns(t *testing.T) {
	b := NewBudget(Caps{Tokens: 1000}, nil)
	// The first call is let through although its usage is unknown, and reserves
	// everything that is left.
	first, err := b.Reserve(ByMutator, Cost{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Reserve(ByMutator, Cost{}); err == nil {
		t.Fatal("a second call of unknown size fits beside the first")
	}
	first.Settle(tokens(400))
	second, err := b.Reserve(ByMutator, Cost{}) // about 400
	if err != nil {
		t.Fatal(err)
	}
	second.Settle(tokens(300))
	if _, err := b.Reserve(ByMutator, Cost{}); err == nil {
		t.Fatal("300 are left, 350 are expected, and it fits")
	}
	// Another spender has learned nothing yet, and gets what is left.
	if _, err := b.Reserve(ByJudge, Cost{}); err != nil {
		t.Fatal(err)
	}
}

func TestBudgetWaitsForEstimates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(Caps{Tokens: 100}, nil)
		first, err := b.Reserve(ByAgent, tokens(90))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(time.Minute)
			first.Settle(tokens(5))
		}()
		begun := time.Now()
		second, err := b.Acquire(t.Context(), ByAgent, tokens(90))
		if err != nil {
			t.Fatalf("refused because of an estimate: %v", err)
		}
		if waited := time.Since(begun); waited != time.Minute {
			t.Errorf("waited %v", waited)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := b.Acquire(ctx, ByAgent, tokens(90)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("err = %v, want ctx's", err)
		}
		second.Settle(tokens(90))
		if _, err := b.Acquire(t.Context(), ByAgent, tokens(90)); !errors.As(err, new(*BudgetError)) {
			t.Errorf("err = %v, want a BudgetError: waiting would not help", err)
		}
	})
}

func TestBudgetDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(Caps{Duration: time.Hour}, time.Now)
		b.ChargeTime(30 * time.Minute) // before it was interrupted
		time.Sleep(29 * time.Minute)
		if _, err := b.Reserve(ByAgent, Cost{}); err != nil {
			t.Fatal(err)
		}
		if left := b.Remaining().Duration; left != time.Minute {
			t.Errorf("%v left", left)
		}
		time.Sleep(time.Minute)
		var full *BudgetError
		if _, err := b.Reserve(ByAgent, Cost{}); !errors.As(err, &full) || full.Cap != "max-duration" {
			t.Errorf("err = %v, want max-duration", err)
		}
		if ms := b.Spent().WallMS; ms != 3_600_000 {
			t.Errorf("wall = %d ms", ms)
		}
	})
}

func TestBudgetSub(t *testing.T) {
	b := NewBudget(Caps{Rollouts: 10}, nil)
	search := b.Sub(Caps{Rollouts: 6}) // 4 are set aside
	for range 6 {
		r, err := search.Reserve(ByAgent, Cost{})
		if err != nil {
			t.Fatal(err)
		}
		r.Settle(Cost{})
	}
	if _, err := search.Reserve(ByAgent, Cost{}); err == nil {
		t.Fatal("the search got into what was set aside")
	}
	if got := b.Remaining().Rollouts; got != 4 {
		t.Errorf("%d rollouts left for the gate, want 4", got)
	}
	gate := b.Sub(Caps{})
	if got := gate.Remaining(); got.Rollouts != 4 || got.Tokens != 0 {
		t.Errorf("a share without caps of its own has %+v left, want what the whole has", got)
	}
	for range 4 {
		r, err := gate.Reserve(ByAgent, Cost{})
		if err != nil {
			t.Fatal(err)
		}
		r.Settle(Cost{})
	}
	if _, err := gate.Reserve(ByAgent, Cost{}); err == nil {
		t.Fatal("a share without caps exceeds the whole")
	}
	if s := b.Spent(); s.Rollouts != 10 || search.Spent().Rollouts != 6 || gate.Spent().Rollouts != 4 {
		t.Errorf("spent = %+v", s)
	}
}

func TestBudgetUnknownCost(t *testing.T) {
	b := NewBudget(Caps{CostUSD: 1, Tokens: 1000}, nil)
	b.Charge(ByAgent, Cost{USD: ptr(0.25), Usage: &Usage{Input: 1}})
	if ws := b.Warnings(); len(ws) != 0 || !b.Spent().CostKnown {
		t.Fatalf("warnings = %q", ws)
	}
	b.Charge(ByAgent, tokens(10))
	if s := b.Spent(); s.CostKnown || s.CostUSD != 0.25 {
		t.Errorf("spent = %+v, want a lower bound that says so", s)
	}
	if ws := b.Warnings(); len(ws) != 1 || !strings.Contains(ws[0], "1 calls reported no cost: --max-cost-usd counted $0.25 for them") {
		t.Errorf("warnings = %q", ws)
	}
	b.Charge(ByAgent, Cost{USD: ptr(-5.0), Usage: &Usage{Input: -100}})
	b.Charge(ByAgent, Cost{USD: ptr(math.NaN())})
	if s := b.Spent(); s.CostUSD != 0.25 || s.TokensIn != 11 {
		t.Errorf("a backend's nonsense gave something back: %+v", s)
	}
}

// Whatever the schedule, settled amounts never exceed a cap if estimates were right, in
// the budget or a share of it, and nothing is lost.
func TestBudgetHoldsUnderConcurrency(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		caps := Caps{
			Rollouts: rapid.Int64Range(1, 40).Draw(t, "rollouts"),
			Tokens:   rapid.Int64Range(1, 2000).Draw(t, "tokens"),
			CostUSD:  rapid.Float64Range(0.01, 5).Draw(t, "usd"),
		}
		b := NewBudget(caps, nil)
		share := Caps{Rollouts: 1 + caps.Rollouts/2}
		sub := b.Sub(share)
		type call struct {
			by      Spender
			tokens  int64
			usd     float64
			in      *Budget
			wait    bool
			release bool
		}
		calls := make([][]call, 4)
		for i := range calls {
			for range rapid.IntRange(0, 20).Draw(t, "calls") {
				calls[i] = append(calls[i], call{
					by:     rapid.SampledFrom([]Spender{ByAgent, ByMutator, ByJudge, ByMiner}).Draw(t, "by"),
					tokens: rapid.Int64Range(1, 100).Draw(t, "n"), usd: rapid.Float64Range(0, 0.3).Draw(t, "c"),
					in: rapid.SampledFrom([]*Budget{b, sub}).Draw(t, "in"), wait: rapid.Bool().Draw(t, "wait"),
					release: rapid.IntRange(0, 5).Draw(t, "release") == 0,
				})
			}
		}
		var wg sync.WaitGroup
		var mu sync.Mutex
		var settled, tokensSum int64
		for _, mine := range calls {
			wg.Go(func() {
				for _, c := range mine {
					cost := Cost{Usage: &Usage{Output: c.tokens}, USD: &c.usd}
					var r *Reservation
					var err error
					if c.wait {
						r, err = c.in.Acquire(context.Background(), c.by, cost)
					} else {
						r, err = c.in.Reserve(c.by, cost)
					}
					if err != nil {
						continue
					}
					if c.release {
						r.Release()
						continue
					}
					r.Settle(cost)
					mu.Lock()
					settled++
					tokensSum += c.tokens
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		s := b.Spent()
		if s.Rollouts > caps.Rollouts || s.TokensIn+s.TokensOut > caps.Tokens || s.CostUSD > caps.CostUSD+1e-9 {
			t.Fatalf("caps %+v are exceeded: %+v", caps, s)
		}
		if sub.Spent().Rollouts > share.Rollouts {
			t.Fatalf("share %+v is exceeded: %+v", share, sub.Spent())
		}
		if n := s.AgentCalls + s.MutatorCalls + s.JudgeCalls + s.MinerCalls; n != settled || s.TokensOut != tokensSum {
			t.Fatalf("%d calls with %d tokens were settled, %d with %d are booked", settled, tokensSum, n, s.TokensOut)
		}
		if b.inFlight != 0 || sub.inFlight != 0 || b.held != (demand{}) {
			t.Fatalf("something is still held: %+v", b.held)
		}
	})
}
