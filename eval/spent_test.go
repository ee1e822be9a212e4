package eval

import (
	"context"
	"testing"
)

// TestSimulatedIsNotPaid: the dollars of a simulated agent measure its answers, and are
// on no bill.
func TestSimulatedIsNotPaid(t *testing.T) {
	r := &Rollout{CaseID: "a", Status: Done, Attempts: 2, Agent: Identity{Backend: "simulated", Simulated: true},
		Usage: &Usage{Input: 10}, CostUSD: ptr(1.0), RetryUsage: &Usage{Input: 5}, RetryUSD: ptr(0.5)}
	r.LostUsage, r.LostUSD = &Usage{Input: 1}, ptr(0.1)
	b := NewBudget(Caps{CostUSD: 1}, nil)
	took := billOf(r)
	b.chargeOnce(hash{}, &took)
	s := b.Spent()
	if s.CostUSD != 0 || !s.CostKnown || !s.Simulated || s.TokensIn != 16 || s.AgentCalls != 2 || s.Dollars() != FreeSimulated {
		t.Errorf("%+v: %s", s, s.Dollars())
	}
	if left := b.Remaining().CostUSD; left != 1 {
		t.Errorf("$%v is left of the cap", left)
	}
	if m := Summarise([]*Rollout{r}); m.CostUSD == nil || *m.CostUSD != 1 {
		t.Errorf("the cost objective is %v", m.CostUSD)
	}
	r.Agent.Simulated = false
	took = billOf(r)
	b.chargeOnce(hash{1}, &took)
	if s := b.Spent(); s.CostUSD != 1.6 || s.Dollars() != "$1.60" {
		t.Errorf("%+v: %s", s, s.Dollars())
	}
}

func TestDollars(t *testing.T) {
	for want, s := range map[string]Spent{
		"nothing":          {CostKnown: true},
		"free":             {CostKnown: true, TokensIn: 7},
		"free (simulated)": {CostKnown: true, TokensIn: 7, Simulated: true},
		"$0.0034":          {CostKnown: true, TokensIn: 7, CostUSD: 0.0034, Simulated: true}, // a real mutator
		"at least $1.35":   {TokensIn: 7, CostUSD: 1.3504},
		"cost unknown":     {TokensIn: 7},
	} {
		if got := s.Dollars(); got != want {
			t.Errorf("%+v: %s, want %s", s, got, want)
		}
	}
}

func TestSpentPlus(t *testing.T) {
	s := Spent{}.Plus(Spent{Rollouts: 1, CostUSD: 1, CostKnown: true}).Plus(Spent{})
	if s != (Spent{Rollouts: 1, CostUSD: 1, CostKnown: true}) {
		t.Errorf("%+v", s)
	}
	if s = s.Plus(Spent{Rollouts: 2, Simulated: true}); s.Rollouts != 3 || s.CostKnown || !s.Simulated {
		t.Errorf("%+v", s)
	}
}

// What a simulated model answers is free and simulated without a rollout.
func TestSimulatedModelIsFree(t *testing.T) {
	budget := NewBudget(Caps{}, nil)
	m := &Metered{Model: freeModel{}, By: ByMiner, Budget: budget}
	if _, err := m.Complete(t.Context(), Prompt{User: "x"}); err != nil {
		t.Fatal(err)
	}
	if got := budget.Spent().Dollars(); got != FreeSimulated {
		t.Errorf("it cost %q", got)
	}
}

// A freeModel is simulated and costs nothing.
type freeModel struct{}

func (freeModel) Identity() Identity { return Identity{Backend: "free", Simulated: true} }

func (freeModel) Complete(context.Context, Prompt) (Completion, error) {
	return Completion{Text: "y", Usage: &Usage{Input: 1, Output: 1}, CostUSD: new(float64)}, nil
}
