package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/report/reporttest"
)

// TestSpendingByKind: the records of each kind, the rest if one of them is
// incomplete, and no guess if several are.
func TestSpendingByKind(t *testing.T) {
	reply := func(tokens int64, usd *float64) eval.Completion {
		return eval.Completion{Usage: &eval.Usage{Input: tokens}, CostUSD: usd}
	}
	r := reporttest.Rollout("a", "c", 0, 1)
	r.JudgeCalls, r.JudgeUsage, r.JudgeUSD = 1, &eval.Usage{Input: 50}, reporttest.Ptr(0.001)
	d := &report.Data{Rollouts: []eval.Rollout{r}, Replies: map[eval.Spender][]eval.Completion{
		eval.ByJudge: {reply(10, reporttest.Ptr(0.002))}, eval.ByMutator: {reply(1000, reporttest.Ptr(0.1))}, eval.ByMiner: {reply(200, nil)}}}
	d.Run.Spent = eval.Spent{Rollouts: 1, AgentCalls: 1, JudgeCalls: 2, MutatorCalls: 1, MinerCalls: 1, TokensIn: 1380, CostUSD: 0.105, CostKnown: false}
	text := func(s []report.Spending) string {
		var out []string
		for _, k := range s {
			tokens := "unknown"
			if k.Tokens != nil {
				tokens = fmt.Sprint(*k.Tokens)
			}
			out = append(out, fmt.Sprintf("%s %d %s %s", k.Kind, k.Calls, tokens, report.USD(k.CostUSD)))
		}
		return strings.Join(out, "; ")
	}
	if got, want := text(reporttest.Model(t, d).Spending), "agent 1 120 $0.002; judge 2 60 $0.003; mutator 1 1000 $0.10; miner 1 200 unknown"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	d.Replies[eval.ByMiner] = nil // purged
	if got, want := text(reporttest.Model(t, d).Spending), "agent 1 120 $0.002; judge 2 60 $0.003; mutator 1 1000 $0.10; miner 1 200 unknown"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	d.Replies[eval.ByMutator] = nil
	if got, want := text(reporttest.Model(t, d).Spending), "agent 1 120 $0.002; judge 2 60 $0.003; mutator 1 unknown unknown; miner 1 unknown unknown; not told apart 0 1200 unknown"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
