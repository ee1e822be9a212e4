package eval

import "math"

// A bill is the actual cost of one reservation; for a rollout, of all calls of agent
// and judge together.
type bill struct {
	rollouts  int64 // agent attempts that ended in an answer or a failure
	simulated bool  // the agent or model
	lines     [2]billLine
}

// A billLine is one spender's calls on a bill.
type billLine struct {
	by Spender
	// calls are all calls, answered those that used tokens. The others failed in the
	// infrastructure and are assumed to have been free.
	calls, answered int64
	counted, priced int64 // answered calls whose usage, whose cost is known
	usage           Usage
	usd             float64
	most            peak    // of one call
	prompt          int64   // estimated tokens of a call's prompt; 0 is unknown
	assumed         Assumed // of the calls that reported nothing: see Budget.assume
}

// add puts n answered calls on the line, which cost c together.
func (l *billLine) add(n int64, c Cost) {
	l.known(atLeast(c))
	c = c.believable() // an old record may hold values that are no longer recorded
	l.calls += n
	l.answered += n
	if c.Usage != nil {
		l.counted += n
		l.usage = l.usage.Add(*c.Usage)
	}
	if c.USD != nil {
		l.priced += n
		l.usd += *c.USD
	}
	l.most = l.most.or(peakOf(n, c))
}

// The most that one call is believed to have used. No model's call comes near it, and a
// million of them can be added without overflow.
const (
	mostTokens = 1e12
	mostUSD    = 1e9
)

func (u *Usage) sane() *Usage {
	sane := func(n int64) int64 { return min(max(n, 0), mostTokens) }
	return &Usage{sane(u.Input), sane(u.CacheRead), sane(u.CacheWrite), sane(u.Output), sane(u.Reasoning)}
}

func (u *Usage) negative() bool {
	return min(u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning) < 0
}

// atLeast is the lower bound that an impossible report of usage still gives; nothing
// for any other report.
func atLeast(c Cost) (rest Lost) {
	if c.Usage != nil && c.Usage.negative() {
		rest.lose(Cost{c.Usage.sane(), c.USD})
	}
	return rest
}

// believable is a backend's report without its impossible parts: usage below zero, or
// of no token at all, is unknown, and so are its price and a price that is no amount of
// money. No report may give money back.
func believable(u *Usage, usd *float64) (*Usage, *float64) {
	if u != nil {
		if u.negative() {
			return nil, nil
		}
		if u = u.sane(); u.Total() == 0 {
			u = nil
			if usd != nil && *usd == 0 { // a price of 0 for usage that was not counted
				usd = nil
			}
		}
	}
	switch {
	case usd == nil:
	case math.IsNaN(*usd), math.IsInf(*usd, 0), *usd < 0:
		usd = nil
	case *usd > mostUSD:
		most := float64(mostUSD)
		usd = &most
	}
	return u, usd
}

// believable is c without its impossible parts.
func (c Cost) believable() Cost {
	c.Usage, c.USD = believable(c.Usage, c.USD)
	return c
}

// takes is what the bill counts against the caps once it is booked.
func (t *bill) takes() (tokens int64, usd float64) {
	for i := range t.lines {
		l := &t.lines[i]
		tokens += l.usage.Total() + l.assumed.Tokens
		usd += l.usd + l.assumed.USD
	}
	return tokens, usd
}

func oneCall(by Spender, c Cost) bill {
	b := bill{lines: [2]billLine{{by: by}}}
	b.lines[0].add(1, c)
	if by == ByAgent {
		b.rollouts = 1
	}
	return b
}

// billOf is the bill of r, read from its record: a rollout has the same bill when it
// ends and when a resumed run finds it.
func billOf(r *Rollout) bill {
	b := bill{rollouts: int64(r.Attempts), simulated: r.Agent.Simulated, lines: [2]billLine{{by: ByAgent}, {by: ByJudge}}}
	agent, judge := &b.lines[0], &b.lines[1]
	agent.calls = int64(r.InfraRetries)
	if r.Attempts > 0 {
		agent.add(1, Cost{r.Usage, r.Paid(r.CostUSD)})
	}
	if r.Attempts > 1 {
		agent.add(int64(r.Attempts-1), Cost{r.RetryUsage, r.Paid(r.RetryUSD)})
	}
	agent.known(Lost{r.LostUsage, r.Paid(r.LostUSD)})
	if r.JudgeCalls > 0 {
		judge.add(int64(r.JudgeCalls), Cost{r.JudgeUsage, r.JudgeUSD})
	}
	return b
}

// book adds t to b and to its parents, and updates their estimates. Callers hold the
// lock.
func (b *Budget) book(t *bill) {
	b.assume(t)
	for i := range t.lines {
		l := &t.lines[i]
		if l.calls == 0 {
			continue
		}
		in, out := l.usage.Total()-l.usage.Output, l.usage.Output
		x := &b.learned[l.by.index()]
		x.answered += l.answered
		x.counted += l.counted
		x.tokens += in + out
		x.output += out
		x.priced += l.priced
		x.usd += l.usd
		x.assumed = x.assumed.Add(l.assumed)
		x.most = x.most.or(l.most.beyond(l.prompt))
		for p := b; p != nil; p = p.parent {
			*p.spent.calls(l.by) += l.calls
			p.spent.TokensIn += in
			p.spent.TokensOut += out
			p.spent.CostUSD += l.usd
			p.spent.Uncounted += l.answered - l.counted
			p.assumed = p.assumed.Add(l.assumed)
			p.unpriced += l.answered - l.priced
			p.spent.CostKnown = p.unpriced == 0
		}
	}
	for p := b; p != nil; p = p.parent {
		p.spent.Rollouts += t.rollouts
		p.spent.Simulated = p.spent.Simulated || t.simulated
	}
}

const spenders = 4

// index numbers the spenders. A name that is none of the four is a bug in the calling
// code.
func (s Spender) index() int {
	switch s {
	case ByAgent:
		return 0
	case ByMutator:
		return 1
	case ByJudge:
		return 2
	case ByMiner:
		return 3
	}
	panic("eval: unknown spender " + string(s))
}

// calls is the counter of by's calls.
func (s *Spent) calls(by Spender) *int64 {
	return [spenders]*int64{&s.AgentCalls, &s.MutatorCalls, &s.JudgeCalls, &s.MinerCalls}[by.index()]
}
