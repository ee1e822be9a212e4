package report

import "github.com/skill-evolve/evolve/eval"

// A bill sums up one kind of call.
type bill struct {
	calls, told int64 // told: calls whose record is kept
	tokens      int64
	usd         float64
	unpriced    bool
}

func (b *bill) add(calls int, u *eval.Usage, usd *float64) {
	b.told += int64(calls)
	if u != nil {
		b.tokens += u.Total()
	}
	if usd != nil {
		b.usd += *usd
	} else if calls > 0 {
		b.unpriced = true
	}
}

// spending divides the run's bill by kind of call. Rollouts record what the
// agent and its judge took, recorded replies the rest. If the records of one
// kind are incomplete (a reply that was purged), the rest of the bill is its;
// of several, it cannot be divided.
func spending(d *Data) []Spending {
	sp := d.Run.Spent
	kinds := []struct {
		by eval.Spender
		bill
	}{{eval.ByAgent, bill{calls: sp.AgentCalls}}, {eval.ByJudge, bill{calls: sp.JudgeCalls}},
		{eval.ByMutator, bill{calls: sp.MutatorCalls}}, {eval.ByMiner, bill{calls: sp.MinerCalls}}}
	for i := range d.Rollouts {
		r := &d.Rollouts[i]
		kinds[0].add(min(1, r.Attempts), r.Usage, r.Paid(r.CostUSD))
		kinds[0].add(max(0, r.Attempts-1), r.RetryUsage, r.Paid(r.RetryUSD))
		kinds[0].add(0, r.LostUsage, r.Paid(r.LostUSD))
		kinds[1].add(r.JudgeCalls, r.JudgeUsage, r.JudgeUSD)
	}
	rest := bill{tokens: sp.TokensIn + sp.TokensOut, usd: sp.CostUSD, unpriced: !sp.CostKnown}
	short := -1
	several := false
	for i := range kinds {
		k := &kinds[i]
		for _, c := range d.Replies[k.by] {
			k.add(1, c.Usage, c.CostUSD)
		}
		rest.tokens, rest.usd = rest.tokens-k.tokens, rest.usd-k.usd
		if i > 0 && k.told < k.calls {
			several = several || short >= 0
			short = i
		}
	}
	left := rest.tokens > 0 || rest.usd > 1e-9
	if left && short >= 0 && !several {
		k := &kinds[short]
		k.tokens, k.usd, k.unpriced = k.tokens+max(0, rest.tokens), k.usd+max(0, rest.usd), k.unpriced || rest.unpriced
		left = false
	}
	var out []Spending
	for i := range kinds {
		k := &kinds[i]
		line := Spending{Kind: string(k.by), Calls: k.calls}
		if !several || k.told >= k.calls {
			line.Tokens = &k.tokens
			if !k.unpriced {
				line.CostUSD = &k.usd
			}
		}
		if i < 2 || k.calls > 0 {
			out = append(out, line)
		}
	}
	if left && several {
		tokens, usd := max(0, rest.tokens), max(0, rest.usd)
		line := Spending{Kind: "not told apart", Tokens: &tokens}
		if !rest.unpriced {
			line.CostUSD = &usd
		}
		out = append(out, line)
	}
	return out
}
