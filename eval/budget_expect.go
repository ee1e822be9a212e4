package eval

import "math"

// An experience is the usage of one spender's settled calls.
type experience struct {
	answered int64
	counted  int64 // with known usage
	tokens   int64
	output   int64 // of tokens
	priced   int64 // with known cost
	usd      float64
	most     peak    // input and tokens beyond the prompts
	assumed  Assumed // of the others
	price    *Price  // nil if it is not known
}

// A peak is the maximum, for each quantity, over single calls.
type peak struct {
	input, output, tokens int64
	usd                   float64
}

func (p peak) or(q peak) peak {
	return peak{max(p.input, q.input), max(p.output, q.output), max(p.tokens, q.tokens), max(p.usd, q.usd)}
}

// beyond is p without the tokens of the prompt.
func (p peak) beyond(prompt int64) peak {
	p.input, p.tokens = max(0, p.input-prompt), max(0, p.tokens-prompt)
	return p
}

// peakOf estimates the largest single call among n calls that cost c in total: the
// mean.
func peakOf(n int64, c Cost) (p peak) {
	each := func(sum int64) int64 { return (sum + n - 1) / n }
	if c.Usage != nil {
		p.output, p.tokens = each(c.Usage.Output), each(c.Usage.Total())
		p.input = each(c.Usage.Total() - c.Usage.Output)
	}
	if c.USD != nil {
		p.usd = *c.USD / float64(n)
	}
	return p
}

// Before the first call of a spender is settled, one call is expected to use this much,
// or what is left of the cap if that is less: a first call is let through, unless its
// prompt alone exceeds that, and the next ones wait for its result.
const (
	firstTokens = 4_000
	firstUSD    = 0.02
)

// steady is how many calls of a spender have to be counted before the largest of them
// is a good bound for others. If all calls are alike, a share of 1/(n+1) of new ones is
// expected to be larger than the largest of n.
const steady = 20

// A demand is the amount that a reservation needs within the caps.
type demand struct {
	rollouts int64
	tokens   int64
	usd      float64
	// What the calls may use beyond that, if nothing limits them. No call begins beside
	// them if it would leave less room: so a cap is exceeded by the error of one
	// reservation, and not by that of all calls in flight.
	spareTokens int64
	spareUSD    float64
}

// plus is the sum of d and e.
func (d demand) plus(e demand) demand {
	return demand{d.rollouts + e.rollouts, d.tokens + e.tokens, d.usd + e.usd, d.spareTokens + e.spareTokens, d.spareUSD + e.spareUSD}
}

// minus is the difference of d and e.
func (d demand) minus(e demand) demand {
	return d.plus(demand{-e.rollouts, -e.tokens, -e.usd, -e.spareTokens, -e.spareUSD})
}

// A question is what is known of a call before it is made, in tokens; 0 is unknown.
type question struct {
	prompt int64 // estimated
	limit  int64 // of the reply's output, if the request sets one
}

// expect estimates one call. Callers hold the lock.
func (b *Budget) expect(by Spender, est Cost, q question) demand {
	var d demand
	if by == ByAgent {
		d.rollouts = 1
	}
	x := b.typical(by, q).atLeast(b, by, q.prompt)
	est = est.believable()
	if est.Usage != nil && est.Usage.Total() > 0 {
		x.tokens, x.spareTokens, x.guessedTokens = float64(est.Usage.Total()), 0, false
	}
	if est.USD != nil {
		x.usd, x.spareUSD, x.guessedUSD = *est.USD, 0, false
	}
	return b.limitGuess(d, x)
}

// expectRollout estimates a rollout with that many agent attempts and judge
// calls. Callers hold the lock.
func (b *Budget) expectRollout(attempts, judges int, asked prompts) demand {
	x := b.typical(ByAgent, question{prompt: asked.ask}).times(attempts).atLeast(b, ByAgent, asked.ask)
	if judges > 0 {
		j := b.typical(ByJudge, question{prompt: asked.judge}).times(judges)
		x = x.atLeast(b, ByJudge, asked.judge-judgeOverhead)
		x.tokens += j.tokens
		x.usd += j.usd
		x.spareTokens += j.spareTokens
		x.spareUSD += j.spareUSD
		x.guessedTokens, x.guessedUSD = x.guessedTokens || j.guessedTokens, x.guessedUSD || j.guessedUSD
	}
	return b.limitGuess(demand{rollouts: int64(attempts)}, x)
}

// An outlook is the expected usage of one or several calls.
type outlook struct {
	tokens, usd               float64
	spareTokens, spareUSD     float64 // see demand
	guessedTokens, guessedUSD bool    // nothing is known yet, but that
	leastTokens, leastUSD     float64 // of the prompts of one attempt
}

func (x outlook) times(n int) outlook {
	k := float64(n)
	x.tokens, x.usd, x.spareTokens, x.spareUSD = k*x.tokens, k*x.usd, k*x.spareTokens, k*x.spareUSD
	return x
}

// atLeast adds a prompt that will be sent.
func (x outlook) atLeast(b *Budget, by Spender, prompt int64) outlook {
	x.leastTokens += float64(prompt)
	if usd := b.learned[by.index()].price.USD(&Usage{Input: prompt}); usd != nil {
		x.leastUSD += *usd
	}
	return x
}

// typical is the most that a call of by is expected to use, by the largest settled
// calls, its prompt and the limit of its reply; if none of them was counted (or
// priced), by the estimates for them.
func (b *Budget) typical(by Spender, q question) (e outlook) {
	x := &b.learned[by.index()]
	first := outlook{tokens: firstTokens, usd: firstUSD}
	if x.price != nil {
		first.usd = *x.price.USD(&Usage{Input: firstTokens - firstOutput, Output: firstOutput})
	}
	if x.answered == 0 {
		e = first
		e.guessedTokens, e.guessedUSD = true, true
	} else {
		e.tokens, e.usd = float64(x.assumed.Tokens)/float64(x.answered), x.assumed.USD/float64(x.answered)
	}
	if x.counted > 0 {
		e.tokens = max(float64(x.tokens)/float64(x.counted), float64(q.prompt+x.most.tokens))
	}
	if x.priced > 0 {
		e.usd = max(x.usd/float64(x.priced), x.most.usd)
	}
	u, _ := x.silent(q.prompt)
	u.Output = max(u.Output, x.most.output)
	if q.limit > 0 {
		u = Usage{Input: q.prompt + x.most.input, Output: q.limit}
		e.tokens = float64(u.Total())
		if x.price != nil {
			e.usd = *x.price.USD(&u)
			return e
		}
	} else if q.prompt > 0 {
		e.tokens = max(e.tokens, float64(u.Total()))
		if x.price != nil {
			e.usd = max(e.usd, *x.price.USD(&u))
		}
	}
	// It may be twice as much, and without limit if little is known.
	e.spareUSD = e.usd
	if x.priced < steady {
		e.spareUSD = max(e.usd, first.usd-e.usd)
	}
	if q.limit > 0 {
		return e
	}
	e.spareTokens = e.tokens
	if x.counted < steady {
		e.spareTokens = max(e.tokens, first.tokens-e.tokens)
	}
	return e
}

// limitGuess fills in d; a guess is cut to what the caps have left, but to no less than is
// known.
func (b *Budget) limitGuess(d demand, x outlook) demand {
	// At least one: a call with nothing left to spend must not fit.
	d.tokens, d.usd = max(1, int64(math.Ceil(x.tokens))), max(0, x.usd)
	d.spareTokens, d.spareUSD = int64(math.Ceil(x.spareTokens)), max(0, x.spareUSD)
	for ; b != nil; b = b.parent {
		usedTokens, usedUSD := b.used()
		if left := b.caps.Tokens - usedTokens; x.guessedTokens && left > 0 {
			d.tokens = max(min(d.tokens, left), int64(x.leastTokens))
		}
		if left := b.caps.CostUSD - usedUSD; x.guessedUSD && left > 0 {
			d.usd = max(min(d.usd, left), x.leastUSD)
		}
	}
	return d
}
