package eval

import (
	"context"
	"testing"
)

// A keeper is an Executor to which an answer comes too late.
type keeper struct {
	Local
	late []Cost
}

func (k *keeper) Recorded(string) {}

func (k *keeper) Late() []Cost {
	late := k.late
	k.late = nil
	return late
}

func (k *keeper) Begin(ctx context.Context, t Task, w Work) (Place, error) {
	return k.Local.Begin(ctx, t, w)
}

// TestLateAnswersAreBooked: what was paid for an answer that nobody waited for any more counts,
// also if no rollout is recorded afterwards.
func TestLateAnswersAreBooked(t *testing.T) {
	usd := 0.25
	k := &keeper{late: []Cost{{&Usage{Input: 70, Output: 30}, &usd}}}
	b := NewBudget(Caps{}, nil)
	e := &Evaluator{Agent: sleeping{}, Grader: &Checks{}, Executor: k, Budget: b}
	if _, err := e.Run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if s := b.Spent(); s.TokensIn+s.TokensOut != 100 || s.CostUSD != usd {
		t.Errorf("spent %+v, want the 100 tokens and $0.25 of the late answer", s)
	}
}

type sleeping struct{}

func (sleeping) Identity() Identity                         { return Identity{Backend: "sleeping"} }
func (sleeping) Run(context.Context, Task) (Attempt, error) { return Attempt{}, nil }
