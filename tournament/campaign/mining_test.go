package campaign

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
)

// A resumed run is charged what mining took before, to the token, and none of
// its calls passes for one that reported nothing.
func TestResumedMiningIsCharged(t *testing.T) {
	b := eval.NewBudget(eval.Caps{Tokens: 10_000, CostUSD: 5}, nil)
	for _, c := range perCall(eval.Spent{MinerCalls: 7, TokensIn: 1003, TokensOut: 58, CostUSD: 0.7, CostKnown: true}) {
		b.Charge(eval.ByMiner, c)
	}
	s := b.Spent()
	if s.MinerCalls != 7 || s.TokensIn != 1003 || s.TokensOut != 58 || s.CostUSD < 0.6999 || s.CostUSD > 0.7001 || !s.CostKnown {
		t.Errorf("spent %+v", s)
	}
	if ws := b.Warnings(); len(ws) != 0 {
		t.Errorf("warnings %q", ws)
	}
	if len(perCall(eval.Spent{})) != 0 {
		t.Error("a call of nothing")
	}
}

// A failing model fails every call whose prompt does not say that it lives.
type failing struct{}

func (failing) Identity() eval.Identity { return eval.Identity{} }

func (failing) Complete(_ context.Context, q eval.Prompt) (eval.Completion, error) {
	if q.User == "lives" {
		return eval.Completion{Text: "yes"}, nil
	}
	return eval.Completion{}, &eval.InfraError{Kind: eval.ServerError, Err: errors.New("overloaded")}
}

// A run that --max-duration ends while it mines tells the calls it made, although they
// failed and reported nothing.
func TestFailedCallsAreSpent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := eval.NewBudget(eval.Caps{Duration: 2 * time.Second}, time.Now)
		c := &Campaign{back: &agent.Backends{Miner: failing{}}, budget: budget}
		miner := &eval.Metered{Model: c.reader(), By: eval.ByMiner, Budget: budget}
		if got := c.SpentReading(); got != "nothing was spent" {
			t.Errorf("before a call: %s", got)
		}
		if _, err := miner.Complete(t.Context(), eval.Prompt{User: "a"}); !errors.As(err, new(*eval.BudgetError)) {
			t.Fatalf("%v, want the end of the time", err)
		}
		if got := c.SpentReading(); !strings.HasSuffix(got, " to read corrections failed without reporting their usage") {
			t.Errorf("after a call that failed: %s", got)
		}
	})
	budget := eval.NewBudget(eval.Caps{}, nil)
	c := &Campaign{back: &agent.Backends{Miner: failing{}}, budget: budget}
	miner := &eval.Metered{Model: c.reader(), By: eval.ByMiner, Budget: budget, InfraTries: 1}
	for _, user := range []string{"a", "lives"} {
		_, _ = miner.Complete(t.Context(), eval.Prompt{User: user})
	}
	if got := c.SpentReading(); got != "1 call to read corrections and 0 tokens were spent; 1 more failed without reporting their usage" {
		t.Errorf("one that failed and one that did not: %s", got)
	}
}
