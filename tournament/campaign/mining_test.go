package campaign

import (
	"testing"

	"github.com/skill-evolve/evolve/eval"
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
