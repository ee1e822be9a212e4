// Package caps are the caps that an owner has not chosen, and the budget of a command that
// asks models in several parts.
package caps

import (
	"fmt"
	"math"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
)

// Held are caps that the owner of a run has not chosen: evolve's defaults, and those of the
// machine's policy, which no flag exceeds.
type Held struct{ ByDefault, Policy eval.Caps }

// A BeyondError is a forecast that is more than a default cap.
type BeyondError struct {
	About, Cap, Allowing string    // what is forecast, the cap, and one that would do
	Flag                 string    // that allows it
	Fits                 int64     // rollouts that the cap is likely to suffice for; 0 for none
	Caps                 eval.Caps // that allow it
}

func (e *BeyondError) Error() string {
	return fmt.Sprintf("the forecast, about %s, is more than the default cap of %s", e.About, e.Cap)
}

// Hint says what to type to allow it.
func (e *BeyondError) Hint() string {
	hint := e.Flag + " allows it"
	if e.Fits > 0 {
		hint += fmt.Sprintf(", --max-rollouts %d is likely to fit", e.Fits)
	}
	return hint + ", and --yes does not ask"
}

// An Estimate is what a forecast compares with caps: expectations with their upper bounds.
type Estimate struct {
	USD                 *float64 // nil is unknown
	Tokens              float64
	HighUSD, HighTokens float64
	Rollouts            int64
}

// Beyond compares an estimate, and what is spent already, with caps of which some are by
// default; nil if it is within those, or no more may be spent anyway.
func (h Held) Beyond(caps eval.Caps, spent eval.Spent, e Estimate) *BeyondError {
	tokens := float64(spent.TokensIn + spent.TokensOut)
	allow := caps
	if h.ByDefault.CostUSD > 0 && e.USD != nil && *e.USD+spent.CostUSD > caps.CostUSD {
		allow.CostUSD = math.Ceil(max(*e.USD, e.HighUSD) + spent.CostUSD)
		if allow = allow.Within(h.Policy); allow.CostUSD > caps.CostUSD {
			return &BeyondError{About: eval.FormatUSD(*e.USD + spent.CostUSD), Cap: eval.FormatUSD(caps.CostUSD), Allowing: eval.FormatUSD(allow.CostUSD),
				Flag: fmt.Sprintf("--max-cost-usd %g", allow.CostUSD), Fits: fits(e.Rollouts, caps.CostUSD-spent.CostUSD, *e.USD), Caps: allow}
		}
	}
	if h.ByDefault.Tokens > 0 && e.Tokens+tokens > float64(caps.Tokens) {
		allow.CostUSD, allow.Tokens = caps.CostUSD, int64(max(e.Tokens, e.HighTokens)+tokens)
		if allow = allow.Within(h.Policy); allow.Tokens > caps.Tokens {
			return &BeyondError{About: plain.Thousands(int64(e.Tokens+tokens)) + " tokens", Cap: plain.Thousands(caps.Tokens) + " tokens", Allowing: plain.Thousands(allow.Tokens) + " tokens",
				Flag: fmt.Sprintf("--max-tokens %d", allow.Tokens), Fits: fits(e.Rollouts, float64(caps.Tokens)-tokens, e.Tokens), Caps: allow}
		}
	}
	return nil
}

// fits is how many rollouts of a forecast a cap suffices for.
func fits(rollouts int64, left, takes float64) int64 {
	return int64(max(0, float64(rollouts)*left/takes))
}

// A Purse is the budget of a command that asks models in several parts, under one set of caps:
// what one part spends, the next one has not.
type Purse struct {
	Budget *eval.Budget
	held   Held
	caps   eval.Caps
}

// New is a purse with caps of which some may be by default.
func New(caps eval.Caps, held Held, now func() time.Time) *Purse {
	return &Purse{eval.NewBudget(caps, now), held, caps}
}

// Part is the budget of one part, which counts what that part spends.
func (p *Purse) Part() *eval.Budget { return p.Budget.Sub(eval.Caps{}) }

// Caps are those of all parts.
func (p *Purse) Caps() eval.Caps { return p.caps }

// Approve asks for a part that is expected to take so much, and raises the default caps that it
// exceeds. ask is called for each cap that is exceeded, or once without any.
func (p *Purse) Approve(usd *float64, tokens int64, ask func(*BeyondError) error) error {
	for asked := false; ; asked = true {
		beyond := p.held.Beyond(p.caps, p.Budget.Spent(), Estimate{USD: usd, Tokens: float64(tokens)})
		if beyond == nil && asked {
			return nil
		}
		if err := ask(beyond); err != nil || beyond == nil {
			return err
		}
		p.caps = beyond.Caps
		p.Budget.Allow(p.caps)
	}
}

// Spent says what the parts so far have spent, for a part that is not begun.
func (p *Purse) Spent() string {
	s := p.Budget.Spent()
	if s.Nothing() {
		return "nothing was spent"
	}
	return fmt.Sprintf("nothing more was spent than before it: %s", Words(s))
}

// Words are the tokens and the cost of what was spent.
func Words(s eval.Spent) string {
	return fmt.Sprintf("%s tokens, %s", plain.Thousands(s.TokensIn+s.TokensOut), s.Dollars())
}
