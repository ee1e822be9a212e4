package status

import (
	"fmt"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/tournament/report"
)

// Spent formats what a run took, in one line.
func Spent(s eval.Spent) string {
	cost := s.Dollars()
	if s.Nothing() {
		return cost
	}
	if !s.CostKnown {
		cost += " (" + unknownCost(s) + ")"
	}
	tokens := plain.Thousands(s.TokensIn+s.TokensOut) + " tokens"
	if s.TokensIn+s.TokensOut == 0 && s.Rollouts > 0 {
		tokens = "tokens unknown" // no attempt takes none: nobody told
	}
	miner := ""
	if s.MinerCalls > 0 {
		miner = fmt.Sprintf(", %d to read your corrections", s.MinerCalls)
	}
	return fmt.Sprintf("%d rollouts, %d mutator and %d judge calls%s, %s, %s, %s", s.Rollouts, s.MutatorCalls, s.JudgeCalls, miner,
		tokens, cost, report.Duration(s.WallMS))
}

// unknownCost returns why a cost is not known.
func unknownCost(s eval.Spent) string {
	if s.Uncounted > 0 {
		return plain.Counted(int(s.Uncounted), "call") + " reported no usage"
	}
	return "no price for this model"
}
