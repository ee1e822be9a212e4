package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/report"
)

// Spent adds up the records of a run whose process was killed before it could
// report; zero for a run without records.
func (s *Worker) Spent(ctx context.Context, id string) (eval.Spent, error) {
	var mined struct {
		Mined eval.Spent `json:"mined"`
	}
	run, err := s.Store.Run(ctx, id)
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
	budget := eval.NewBudget(eval.Caps{}, s.Runner.Now)
	if err := campaign.ChargeMining(ctx, s.Store, id, mined.Mined, budget); err != nil {
		return eval.Spent{}, err
	}
	for _, by := range []eval.Spender{eval.ByMutator, eval.ByJudge, eval.ByAgent} {
		replies, err := s.Store.Recorded(ctx, id, by)
		if err != nil {
			return eval.Spent{}, err
		}
		if err := budget.ChargeRecorded(by, replies); err != nil {
			return eval.Spent{}, err
		}
	}
	rollouts, err := s.Store.Rollouts(ctx, store.RolloutFilter{Run: id})
	if err != nil {
		return eval.Spent{}, err
	}
	out, took := budget.Spent(), report.Took(rollouts)
	out.Rollouts, out.AgentCalls, out.JudgeCalls = out.Rollouts+took.Rollouts, out.AgentCalls+took.AgentCalls, out.JudgeCalls+took.JudgeCalls
	out.TokensIn, out.TokensOut, out.CostUSD = out.TokensIn+took.TokensIn, out.TokensOut+took.TokensOut, out.CostUSD+took.CostUSD
	out.CostKnown, out.Simulated = out.CostKnown && took.CostKnown, took.Simulated
	used, err := s.Store.RunTime(ctx, id)
	if err != nil {
		return eval.Spent{}, err
	}
	out.WallMS = max(run.Spent.WallMS, used.Milliseconds())
	if (out == eval.Spent{CostKnown: true}) {
		return eval.Spent{}, nil
	}
	return out, nil
}
