package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/record"
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
		tokens, cost, plain.Duration(s.WallMS))
}

// unknownCost returns why a cost is not known.
func unknownCost(s eval.Spent) string {
	if s.Uncounted > 0 {
		return plain.Counted(int(s.Uncounted), "call") + " reported no usage"
	}
	return "no price for this model"
}

// SpentSoFar adds up the records of a run that has not reported yet, or was killed before it
// could; zero for a run without records.
func SpentSoFar(ctx context.Context, db *store.Store, id string) (eval.Spent, error) {
	var mined struct {
		Mined eval.Spent `json:"mined"`
	}
	run, err := db.Run(ctx, id)
	switch {
	case err == nil:
		if err := json.Unmarshal(run.Config, &mined); err != nil {
			return eval.Spent{}, fmt.Errorf("read run %s: %w", id, err)
		}
	case errors.Is(err, store.ErrNotFound):
		run = &record.Run{ID: id}
	default:
		return eval.Spent{}, err
	}
	// A budget without caps adds up in the same way as the run's own.
	budget := eval.NewBudget(eval.Caps{}, nil)
	if err := campaign.ChargeMining(ctx, db, id, mined.Mined, budget); err != nil {
		return eval.Spent{}, err
	}
	for _, by := range []eval.Spender{eval.ByMutator, eval.ByJudge, eval.ByAgent} {
		replies, err := db.Recorded(ctx, id, by)
		if err != nil {
			return eval.Spent{}, err
		}
		if err := budget.ChargeRecorded(by, replies); err != nil {
			return eval.Spent{}, err
		}
	}
	rollouts, err := db.Rollouts(ctx, store.RolloutFilter{Run: id})
	if err != nil {
		return eval.Spent{}, err
	}
	out, took := budget.Spent(), report.Took(rollouts)
	out.Rollouts, out.AgentCalls, out.JudgeCalls = out.Rollouts+took.Rollouts, out.AgentCalls+took.AgentCalls, out.JudgeCalls+took.JudgeCalls
	out.TokensIn, out.TokensOut, out.CostUSD = out.TokensIn+took.TokensIn, out.TokensOut+took.TokensOut, out.CostUSD+took.CostUSD
	out.CostKnown, out.Simulated = out.CostKnown && took.CostKnown, took.Simulated
	used, err := db.RunTime(ctx, id)
	if err != nil {
		return eval.Spent{}, err
	}
	out.WallMS = max(run.Spent.WallMS, used.Milliseconds())
	if (out == eval.Spent{CostKnown: true}) {
		return eval.Spent{}, nil
	}
	return out, nil
}
