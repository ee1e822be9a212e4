package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// boundsOf are the policy of a night that goes on and what its caps leave, in words.
func boundsOf(n *sleep.Night) string {
	left, _ := n.Left()
	out := []string{string(cmp.Or(n.Policy, sleep.Staging))}
	if n.Caps.Rollouts > 0 {
		out = append(out, counted(int(left.Rollouts), "rollout")+" left")
	}
	if n.Caps.CostUSD > 0 {
		out = append(out, fmt.Sprintf("$%.2f left", left.CostUSD))
	}
	if n.Caps.Tokens > 0 {
		out = append(out, thousands(left.Tokens)+" tokens left")
	}
	if n.Caps.Duration > 0 {
		out = append(out, duration(left.Duration.Milliseconds())+" left")
	}
	return strings.Join(out, ", ")
}

// spent adds up what the records of a run tell, for a killed process told nothing;
// zero for a run that has not begun.
func (s *sleeper) spent(ctx context.Context, id string) (eval.Spent, error) {
	out := eval.Spent{CostKnown: true}
	run, err := s.db.Run(ctx, id)
	var mined struct {
		Mined eval.Spent `json:"mined"`
	}
	switch {
	case err == nil:
		if err := json.Unmarshal(run.Config, &mined); err != nil {
			return out, fmt.Errorf("read run %s: %w", id, err)
		}
		out.WallMS = run.Spent.WallMS
	case !errors.Is(err, store.ErrNotFound):
		return out, err
	}
	add := func(calls int, u *eval.Usage, usd *float64) {
		if u != nil {
			out.TokensIn += u.Total() - u.Output
			out.TokensOut += u.Output
		}
		if usd != nil {
			out.CostUSD += *usd
		} else if calls > 0 {
			out.CostKnown = false
		}
	}
	if m := mined.Mined; m.MinerCalls > 0 {
		out.MinerCalls = m.MinerCalls
		add(int(m.MinerCalls), &eval.Usage{Input: m.TokensIn, Output: m.TokensOut}, &m.CostUSD)
		out.CostKnown = m.CostKnown
	}
	rollouts, err := s.db.Rollouts(ctx, store.RolloutFilter{Run: id})
	if err != nil {
		return out, err
	}
	took := report.Took(rollouts)
	out.Rollouts, out.AgentCalls, out.JudgeCalls = took.Rollouts, took.AgentCalls, took.JudgeCalls
	out.TokensIn, out.TokensOut, out.CostUSD = out.TokensIn+took.TokensIn, out.TokensOut+took.TokensOut, out.CostUSD+took.CostUSD
	out.CostKnown = out.CostKnown && took.CostKnown
	replies, err := s.db.Completions(ctx, id, eval.ByMutator)
	if err != nil {
		return out, err
	}
	for _, c := range replies {
		out.MutatorCalls++
		add(1, c.Usage, c.CostUSD)
	}
	if (out == eval.Spent{CostKnown: true}) {
		return eval.Spent{}, nil
	}
	return out, nil
}
