package eval

// FreeSimulated is the cost of simulated calls, as forecasts and results show it.
const FreeSimulated = "free (simulated)"

// Plus adds up two bills. The cost of an empty one is known: it is zero.
func (s Spent) Plus(t Spent) Spent {
	return Spent{
		Rollouts: s.Rollouts + t.Rollouts, AgentCalls: s.AgentCalls + t.AgentCalls, MutatorCalls: s.MutatorCalls + t.MutatorCalls,
		JudgeCalls: s.JudgeCalls + t.JudgeCalls, MinerCalls: s.MinerCalls + t.MinerCalls,
		TokensIn: s.TokensIn + t.TokensIn, TokensOut: s.TokensOut + t.TokensOut, CostUSD: s.CostUSD + t.CostUSD,
		CostKnown: (s.CostKnown || s == Spent{}) && (t.CostKnown || t == Spent{}),
		WallMS:    s.WallMS + t.WallMS, Uncounted: s.Uncounted + t.Uncounted, Simulated: s.Simulated || t.Simulated,
	}
}

// Nothing reports whether no call was made.
func (s Spent) Nothing() bool {
	return s.Rollouts+s.AgentCalls+s.MutatorCalls+s.JudgeCalls+s.MinerCalls+s.TokensIn+s.TokensOut == 0
}

// Dollars is the cost of a bill in words: "$1.35", "nothing" if no call was made,
// "free" if calls were made and cost nothing, "cost unknown" if no call reported
// its cost.
func (s Spent) Dollars() string {
	free := s.CostUSD == 0
	switch {
	case s.Nothing() && free && s.CostKnown:
		return "nothing"
	case s.CostKnown && free && s.Simulated:
		return FreeSimulated
	case s.CostKnown && free:
		return "free"
	case s.CostKnown:
		return FormatUSD(s.CostUSD)
	case s.CostUSD > 0:
		return "at least " + FormatUSD(s.CostUSD)
	}
	return "cost unknown"
}

// Paid is the money paid for an amount that r's agent reported: nothing for a simulated
// agent, whose dollars only measure the cost objective.
func (r *Rollout) Paid(usd *float64) *float64 {
	if usd == nil || !r.Agent.Simulated {
		return usd
	}
	return new(float64)
}
