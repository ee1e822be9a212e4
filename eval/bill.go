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
	prompt          int64   // tokens of a call's prompt, by an estimate; 0 is unknown
	assumed         Assumed // of the calls that told nothing: see Budget.assume
}

// add puts n answered calls on the line, which took c together.
func (l *billLine) add(n int64, c Cost) {
	l.known(atLeast(c))
	c = c.believable() // a record may be older than what is recorded now
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
}

// The most that one call is believed to have taken. No model's call comes near
// it, and a million of them can be added up.
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

// atLeast is what a report of usage that cannot be tells all the same; nothing
// for any other.
func atLeast(c Cost) (rest Lost) {
	if c.Usage != nil && c.Usage.negative() {
		rest.lose(Cost{c.Usage.sane(), c.USD})
	}
	return rest
}

// believable is what a backend reported, as far as it makes sense: usage below
// zero, or of no token at all, is unknown, and so are its price and a price that
// is no amount of money. Nothing that a backend says may give money back.
func believable(u *Usage, usd *float64) (*Usage, *float64) {
	if u != nil {
		if u.negative() {
			return nil, nil
		}
		if u = u.sane(); u.Total() == 0 {
			u = nil
			if usd != nil && *usd == 0 { // a price of nothing, for what was not counted
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

// believable is c as far as it makes sense.
func (c Cost) believable() Cost {
	c.Usage, c.USD = believable(c.Usage, c.USD)
	return c
}

// takes is what the bill counts against the caps, once it is booked.
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
	output   int64 // of tokens
	priced   int64 // with known cost
	usd      float64
	assumed  Assumed // of the others
	price    *Price  // nil where nobody knows
}

// Before the first call of a spender is settled, one call is expected to take
// this much, or what is left of the cap where that is less: a first call is
// always let through, and the next ones wait for what it teaches.
const (
	firstTokens = 4_000
	firstUSD    = 0.02
)

// expect estimates one call. Callers hold the lock.
func (b *Budget) expect(by Spender, est Cost, prompt int64) demand {
	var d demand
	if by == ByAgent {
		d.rollouts = 1
	}
	tokens, usd, guessedTokens, guessedUSD := b.typical(by, prompt)
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
func (b *Budget) expectRollout(attempts, judges int, asked prompts) demand {
	d := demand{rollouts: int64(attempts)}
	tokens, usd, guessedTokens, guessedUSD := b.typical(ByAgent, asked.ask)
	tokens *= float64(attempts)
	usd *= float64(attempts)
	if judges > 0 {
		t, u, gt, gu := b.typical(ByJudge, asked.judge)
		tokens += t * float64(judges)
		usd += u * float64(judges)
		guessedTokens, guessedUSD = guessedTokens || gt, guessedUSD || gu
	}
	return b.limitGuess(d, tokens, usd, guessedTokens, guessedUSD)
}

// typical is the mean of by's settled calls, and whether it is a mere guess
// because there are none; where none of them was counted (or priced), of what was
// assumed of them. A call is expected to take what its prompt has, at least.
func (b *Budget) typical(by Spender, prompt int64) (tokens, usd float64, guessedTokens, guessedUSD bool) {
	x := &b.learned[by.index()]
	switch {
	case x.answered == 0:
		tokens, usd, guessedTokens, guessedUSD = firstTokens, firstUSD, true, true
		if x.price != nil {
			usd = *x.price.USD(&Usage{Input: firstTokens - firstOutput, Output: firstOutput})
		}
	default:
		tokens, usd = float64(x.assumed.Tokens)/float64(x.answered), x.assumed.USD/float64(x.answered)
	}
	if x.counted > 0 {
		tokens = float64(x.tokens) / float64(x.counted)
	}
	if x.priced > 0 {
		usd = x.usd / float64(x.priced)
	}
	if prompt > 0 {
		u, costs := x.silent(prompt)
		tokens = max(tokens, float64(u.Total()))
		if x.price != nil {
			usd = max(usd, costs)
		}
	}
	return tokens, usd, guessedTokens, guessedUSD
}

// limitGuess fills in d; a guess is cut to what the caps have left.
func (b *Budget) limitGuess(d demand, tokens, usd float64, guessedTokens, guessedUSD bool) demand {
	// At least one: a call with nothing left to spend must not fit.
	d.tokens, d.usd = max(1, int64(math.Ceil(tokens))), max(0, usd)
	for ; b != nil; b = b.parent {
		usedTokens, usedUSD := b.used()
		if left := b.caps.Tokens - usedTokens; guessedTokens && left > 0 {
			d.tokens = min(d.tokens, left)
		}
		if left := b.caps.CostUSD - usedUSD; guessedUSD && left > 0 {
			d.usd = min(d.usd, left)
		}
	}
	return d
}
