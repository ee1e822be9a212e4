package eval

import "github.com/skill-evolve/evolve/mutate/skill"

// A call that answers and reports no usage, or an impossible one, has cost
// something all the same. What it took stays unknown (nil, and no part of what
// is reported as spent), but against the caps it counts as much as is expected
// of it: else a cap would not bound a backend that reports nothing.

// firstOutput is how many tokens a reply is expected to have before one of its
// spender was counted.
const firstOutput = 1_000

// Assumed is what counts against caps beside what was reported: an estimate of what
// silent calls took.
type Assumed struct {
	Tokens int64   `json:"tokens"`
	USD    float64 `json:"usd"`
}

// Add returns the sum of a and c.
func (a Assumed) Add(c Assumed) Assumed { return Assumed{a.Tokens + c.Tokens, a.USD + c.USD} }

// Assumed is what b counts against its caps beside what is Spent.
func (b *Budget) Assumed() Assumed {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.assumed
}

// SetPrice tells what by's tokens cost, for the calls that report no usage: if
// it is not set, or p is nil, such a call is expected to cost what others of by
// did, or $0.02.
func (b *Budget) SetPrice(by Spender, p *Price) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.learned[by.index()].price = p
}

// used is what counts against b's caps: what was reported, and what is assumed of
// the calls that reported nothing. Callers hold the lock.
func (b *Budget) used() (tokens int64, usd float64) {
	return b.spent.TokensIn + b.spent.TokensOut + b.assumed.Tokens, b.spent.CostUSD + b.assumed.USD
}

// silent is what one call with a prompt of that many tokens is assumed to have
// taken: by its text and the replies seen so far, and no less than counted calls
// of its spender took on average. prompt is 0 if it is not known.
func (x *experience) silent(prompt int64) (u Usage, usd float64) {
	u.Output = firstOutput
	var mean int64
	if x.counted > 0 {
		u.Output = max(1, x.output/x.counted)
		mean = x.tokens / x.counted
	}
	u.Input = max(prompt, mean-u.Output)
	if prompt == 0 && x.counted == 0 {
		u.Input = firstTokens - firstOutput
	}
	return u, x.costs(u)
}

// costs is what u is assumed to have cost, if no cost was reported.
func (x *experience) costs(u Usage) float64 {
	switch {
	case x.price != nil:
		return *x.price.USD(&u)
	case x.priced > 0:
		return x.usd / float64(x.priced)
	}
	return firstUSD
}

// assume works out what the calls of t that reported nothing are counted as. What is
// known of them (Lost) is counted beside it.
func (b *Budget) assume(t *bill) {
	for i := range t.lines {
		l := &t.lines[i]
		uncounted, unpriced := l.answered-l.counted, l.answered-l.priced
		if uncounted == 0 && unpriced == 0 {
			continue
		}
		x := &b.learned[l.by.index()]
		u, usd := x.silent(l.prompt)
		if counted := l.counted; counted > 0 && unpriced > uncounted {
			// They reported what they took, and no price is known.
			told := Usage{l.usage.Input / counted, l.usage.CacheRead / counted, l.usage.CacheWrite / counted, l.usage.Output / counted, 0}
			usd = x.costs(told)
		}
		l.assumed = Assumed{uncounted * u.Total(), float64(unpriced) * usd}
	}
}

// judgeOverhead is what a judge reads beside the request, in tokens: what it is
// to do, the rubric and the answer.
const judgeOverhead = firstOutput + 500

// tokens estimates what of a prompt is billed as input.
func (p *Prompt) tokens() int64 { return int64(skill.Tokens(p.System) + skill.Tokens(p.User)) }

// tokens estimates what of a request is billed as input, without the skill.
func (c *Case) tokens() int64 {
	n := skill.Tokens(c.Prompt)
	for _, m := range c.Context {
		n += skill.Tokens(m.Text)
	}
	for _, text := range c.Files {
		n += skill.Tokens(text)
	}
	return int64(n)
}

// tokens estimates what the skill adds to a request.
func (v *Variant) tokens() int64 {
	if v.Doc == nil {
		return 0
	}
	return int64(skill.Tokens(string(v.Doc.Body())))
}
