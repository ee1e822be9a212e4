package eval

import "math"

// A bill is what one reservation came to in the end; for a rollout, the calls
// of agent and judge together.
type bill struct {
	rollouts int64 // agent attempts that ended in an answer or a failure
	lines    [2]billLine
}

// A billLine is the calls of one spender on a bill.
type billLine struct {
	by Spender
	// calls are all calls, answered those that took something. The others
	// failed in the infrastructure and are taken to have been free.
	calls, answered int64
	counted, priced int64 // answered calls whose usage, whose cost is known
	usage           Usage
	usd             float64
}

// add puts n answered calls on the line, which took c together.
func (l *billLine) add(n int64, c Cost) {
	c = c.believable() // a record may be older than what is recorded now
	l.calls += n
	l.answered += n
	if c.Usage != nil && c.Usage.Total() > 0 { // a call of no token at all was not counted
		l.counted += n
		l.usage = l.usage.Add(*c.Usage)
	}
	if c.USD != nil {
		l.priced += n
		l.usd += *c.USD
	}
}

// The most that one call is believed to have taken. No model's call comes near
// it, and a million of them can be added up.
const (
	mostTokens = 1e12
	mostUSD    = 1e9
)

// believable is what a backend reported, as far as it makes sense: counts below
// zero count as none, a price that is no amount of money is unknown. Nothing
// that a backend says may give money back.
func believable(u *Usage, usd *float64) (*Usage, *float64) {
	if u != nil {
		sane := func(n int64) int64 { return min(max(n, 0), mostTokens) }
		u = &Usage{sane(u.Input), sane(u.CacheRead), sane(u.CacheWrite), sane(u.Output), sane(u.Reasoning)}
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

// believable is c as far as it makes sense.
func (c Cost) believable() Cost {
	c.Usage, c.USD = believable(c.Usage, c.USD)
	return c
}

// takes is what the bill counts against the caps.
func (t *bill) takes() (tokens int64, usd float64) {
	for i := range t.lines {
		u := &t.lines[i].usage
		tokens += u.Total()
		usd += t.lines[i].usd
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

// billOf is what r cost, read from its record: a live rollout and the same one
// found by a resumed run come to the same.
func billOf(r *Rollout) bill {
	b := bill{rollouts: int64(r.Attempts), lines: [2]billLine{{by: ByAgent}, {by: ByJudge}}}
	agent, judge := &b.lines[0], &b.lines[1]
	agent.calls = int64(r.InfraRetries)
	if r.Attempts > 0 {
		agent.add(1, Cost{r.Usage, r.CostUSD})
	}
	if r.Attempts > 1 {
		agent.add(int64(r.Attempts-1), Cost{r.RetryUsage, r.RetryUSD})
	}
	agent.known(r.Lost)
	if r.JudgeCalls > 0 {
		judge.add(int64(r.JudgeCalls), Cost{r.JudgeUsage, r.JudgeUSD})
	}
	return b
}

// book adds t to b and all above it, and learns from it. Callers hold the lock.
func (b *Budget) book(t *bill) {
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
		x.priced += l.priced
		x.usd += l.usd
		for p := b; p != nil; p = p.parent {
			*p.spent.calls(l.by) += l.calls
			p.spent.TokensIn += in
			p.spent.TokensOut += out
			p.spent.CostUSD += l.usd
			p.uncounted += l.answered - l.counted
			p.unpriced += l.answered - l.priced
			p.spent.CostKnown = p.unpriced == 0
		}
	}
	for p := b; p != nil; p = p.parent {
		p.spent.Rollouts += t.rollouts
	}
}

const spenders = 4

// index numbers the spenders. A name that is none of the four is a bug in the
// calling code.
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

// An experience is what the settled calls of one spender took.
type experience struct {
	answered int64
	counted  int64 // with known usage
	tokens   int64
	priced   int64 // with known cost
	usd      float64
}

// Before the first call of a spender is settled, one call is expected to take
// this much, or what is left of the cap where that is less: a first call is
// always let through, and the next ones wait for what it teaches.
const (
	firstTokens = 4_000
	firstUSD    = 0.02
)

// expect estimates one call. Callers hold the lock.
func (b *Budget) expect(by Spender, est Cost) demand {
	var d demand
	if by == ByAgent {
		d.rollouts = 1
	}
	tokens, usd, guessedTokens, guessedUSD := b.typical(by)
	est = est.believable()
	if est.Usage != nil && est.Usage.Total() > 0 {
		tokens, guessedTokens = float64(est.Usage.Total()), false
	}
	if est.USD != nil {
		usd, guessedUSD = *est.USD, false
	}
	return b.limitGuess(d, tokens, usd, guessedTokens, guessedUSD)
}

// expectRollout estimates a rollout with that many agent attempts and judge
// calls. Callers hold the lock.
func (b *Budget) expectRollout(attempts, judges int) demand {
	d := demand{rollouts: int64(attempts)}
	tokens, usd, guessedTokens, guessedUSD := b.typical(ByAgent)
	tokens *= float64(attempts)
	usd *= float64(attempts)
	if judges > 0 {
		t, u, gt, gu := b.typical(ByJudge)
		tokens += t * float64(judges)
		usd += u * float64(judges)
		guessedTokens, guessedUSD = guessedTokens || gt, guessedUSD || gu
	}
	return b.limitGuess(d, tokens, usd, guessedTokens, guessedUSD)
}

// typical is the mean of by's settled calls, and whether it is a mere guess
// because there are none. A spender whose calls are never priced (or counted)
// is expected to take nothing that a cap could count.
func (b *Budget) typical(by Spender) (tokens, usd float64, guessedTokens, guessedUSD bool) {
	x := &b.learned[by.index()]
	if x.answered == 0 {
		return firstTokens, firstUSD, true, true
	}
	if x.counted > 0 {
		tokens = float64(x.tokens) / float64(x.counted)
	}
	if x.priced > 0 {
		usd = x.usd / float64(x.priced)
	}
	return tokens, usd, false, false
}

// limitGuess fills in d; a guess is cut to what the caps have left.
func (b *Budget) limitGuess(d demand, tokens, usd float64, guessedTokens, guessedUSD bool) demand {
	// At least one: a call with nothing left to spend must not fit.
	d.tokens, d.usd = max(1, int64(math.Ceil(tokens))), max(0, usd)
	for ; b != nil; b = b.parent {
		if left := b.caps.Tokens - b.spent.TokensIn - b.spent.TokensOut; guessedTokens && left > 0 {
			d.tokens = min(d.tokens, left)
		}
		if left := b.caps.CostUSD - b.spent.CostUSD; guessedUSD && left > 0 {
			d.usd = min(d.usd, left)
		}
	}
	return d
}
