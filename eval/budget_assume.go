package eval

import "github.com/skill-evolve/evolve/mutate/skill"

// A call that answers and reports no usage, or an impossible one, was not free. Its
// usage stays unknown (nil, and no part of the reported spending), but its estimate
// counts against the caps: otherwise a cap would not limit a backend that reports
// nothing.

// firstOutput is the expected length of a reply, in tokens, before one of its spender
// was counted.
const firstOutput = 1_000

// Assumed is what counts against caps in addition to reported usage: an estimate for
// the calls that reported none.
type Assumed struct {
	Tokens int64   `json:"tokens"`
	USD    float64 `json:"usd"`
}

// Add returns the sum of a and c.
func (a Assumed) Add(c Assumed) Assumed { return Assumed{a.Tokens + c.Tokens, a.USD + c.USD} }

// Assumed is what b counts against its caps in addition to Spent.
func (b *Budget) Assumed() Assumed {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.assumed
}

// SetPrice sets the price of by's tokens, for calls that report no cost. If it is not
// set, or p is nil, such a call is expected to cost what others of by did, or $0.02.
func (b *Budget) SetPrice(by Spender, p *Price) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.learned[by.index()].price = p
}

// Apart returns a share of b for agent calls that take other amounts than b's own, those of
// another model, with the price of their tokens: neither is estimated by the other.
func (b *Budget) Apart(p *Price) *Budget {
	b.mu.Lock()
	learned := *b.learned
	b.mu.Unlock()
	learned[ByAgent.index()] = experience{price: p}
	sub := b.Sub(Caps{})
	sub.learned = &learned
	return sub
}

// used is what counts against b's caps: reported usage, and the estimates for calls
// that reported nothing. Callers hold the lock.
func (b *Budget) used() (tokens int64, usd float64) {
	return b.spent.TokensIn + b.spent.TokensOut + b.assumed.Tokens, b.spent.CostUSD + b.assumed.USD
}

// silent is the assumed usage of one call with a prompt of that many tokens: the prompt
// and an average reply so far, and no less than the average of counted calls of its
// spender. prompt is 0 if it is not known.
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

// costs is the assumed cost of u, if no cost was reported.
func (x *experience) costs(u Usage) float64 {
	switch {
	case x.price != nil:
		return *x.price.USD(&u)
	case x.priced > 0:
		return x.usd / float64(x.priced)
	}
	return firstUSD
}

// assume computes the estimates for the calls of t that reported nothing. What is known
// of them (Lost) is counted in addition.
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
			// They reported their usage, and no price is known.
			told := Usage{l.usage.Input / counted, l.usage.CacheRead / counted, l.usage.CacheWrite / counted, l.usage.Output / counted, 0}
			usd = x.costs(told)
		}
		l.assumed = Assumed{uncounted * u.Total(), float64(unpriced) * usd}
	}
}

// judgeOverhead is what a judge reads beside the request, in tokens: its instructions,
// the rubric and the answer.
const judgeOverhead = firstOutput + 500

// tokens estimates the billed input of a prompt.
func (p *Prompt) tokens() int64 { return int64(skill.Tokens(p.System) + skill.Tokens(p.User)) }

// tokens estimates the billed input of a request, without the skill.
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
