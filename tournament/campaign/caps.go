package campaign

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/expect"
)

const (
	// Where dollars cannot be counted, the cap is the tokens of so many median sessions,
	// and at least so many tokens: sessions without tools are small, and a mutator's
	// requests are not.
	capSessions = 40
	capTokens   = 4_000_000
)

// defaultCaps are the caps of a run, or a night, whose owner has chosen neither dollars
// nor tokens: the dollars of d where they can be counted, else its tokens, of which 0 is
// those of 40 median recorded sessions. A negative amount is no cap. Who is simulated, or
// answers by hand, has none.
func (r *Runner) defaultCaps(ctx context.Context, db *store.Store, f *Config, d eval.Caps) (eval.Caps, error) {
	switch {
	case f.Simulated() || f.ByHand():
		return eval.Caps{}, nil
	case f.Priced() == nil:
		return eval.Caps{CostUSD: max(0, d.CostUSD)}, nil
	case d.Tokens != 0:
		return eval.Caps{Tokens: max(0, d.Tokens)}, nil
	}
	s, err := expect.Read(ctx, db, "", "")
	return eval.Caps{Tokens: max(capTokens, int64(capSessions*s.MedianSession()))}, err
}

// held are caps that the owner of a run has not chosen.
type held struct{ byDefault, policy eval.Caps }

// Default are those that evolve has by default.
func (h held) Default() eval.Caps { return h.byDefault }

// Hold gives a configuration the default caps, of a night or else of a run or comparison,
// and returns them, with what it had: the policy of a machine, which nobody may exceed.
func (r *Runner) Hold(ctx context.Context, db *store.Store, f *Config, night bool) (h held, err error) {
	if r.Default == nil {
		return h, nil
	}
	d, err := r.Default(night)
	if d == nil || err != nil {
		return h, err
	}
	h.policy = f.Caps()
	h.byDefault, err = r.defaultCaps(ctx, db, f, *d)
	caps := f.Caps().Within(h.byDefault)
	f.MaxCostUSD, f.MaxTokens = caps.CostUSD, caps.Tokens
	return h, err
}

// A BeyondError is a forecast that is more than a default cap.
type BeyondError struct {
	About, Cap, Allowing string    // what is forecast, the cap, and one that would do
	Flag                 string    // that allows it
	Fits                 int64     // rollouts that the cap is likely to suffice for; 0 for none
	caps                 eval.Caps // that allow it
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

// An estimate is what a forecast compares with caps: expectations with their upper bounds.
type estimate struct {
	usd                 *float64 // nil is unknown
	tokens              float64
	highUSD, highTokens float64
	rollouts            int64
}

// beyond compares an estimate, and what is spent already, with caps of which some are by
// default; nil if it is within those, or no more may be spent anyway.
func (h held) beyond(caps eval.Caps, spent eval.Spent, e estimate) *BeyondError {
	tokens := float64(spent.TokensIn + spent.TokensOut)
	allow, byDefault := caps, h.byDefault
	switch {
	case byDefault.CostUSD > 0 && e.usd != nil && *e.usd+spent.CostUSD > caps.CostUSD:
		allow.CostUSD = math.Ceil(max(*e.usd, e.highUSD) + spent.CostUSD)
		if allow = allow.Within(h.policy); allow.CostUSD <= caps.CostUSD {
			return nil
		}
		return &BeyondError{About: eval.FormatUSD(*e.usd + spent.CostUSD), Cap: eval.FormatUSD(caps.CostUSD), Allowing: eval.FormatUSD(allow.CostUSD),
			Flag: fmt.Sprintf("--max-cost-usd %g", allow.CostUSD), Fits: fits(e.rollouts, caps.CostUSD-spent.CostUSD, *e.usd), caps: allow}
	case byDefault.Tokens > 0 && e.tokens+tokens > float64(caps.Tokens):
		allow.Tokens = int64(max(e.tokens, e.highTokens) + tokens)
		if allow = allow.Within(h.policy); allow.Tokens <= caps.Tokens {
			return nil
		}
		return &BeyondError{About: plain.Thousands(int64(e.tokens+tokens)) + " tokens", Cap: plain.Thousands(caps.Tokens) + " tokens", Allowing: plain.Thousands(allow.Tokens) + " tokens",
			Flag: fmt.Sprintf("--max-tokens %d", allow.Tokens), Fits: fits(e.rollouts, float64(caps.Tokens)-tokens, e.tokens), caps: allow}
	}
	return nil
}

// fits is how many rollouts of a forecast a cap suffices for.
func fits(rollouts int64, left, takes float64) int64 {
	return int64(max(0, float64(rollouts)*left/takes))
}

// Beyond compares the forecast with the default caps; nil if it is within them, or was not
// made.
func (c *Campaign) Beyond() *BeyondError {
	if c.forecast == nil {
		return nil
	}
	return c.beyondOf(c.forecast)
}

func (c *Campaign) beyondOf(fc *Forecast) *BeyondError {
	if fc.Rollouts == 0 {
		return nil // nothing is known of it, and the cap holds
	}
	return c.held.beyond(c.Config.Caps(), c.budget.Spent(), fc.estimate(fc.Rollouts))
}

// Allow raises the caps of the run to what allows the forecast; nothing for nil.
func (c *Campaign) Allow(ctx context.Context, e *BeyondError) error {
	if e == nil {
		return nil
	}
	c.Config.MaxCostUSD, c.Config.MaxTokens = e.caps.CostUSD, e.caps.Tokens
	c.budget.Allow(c.Config.Caps())
	if c.run.Config == nil { // its cases are not known yet
		return nil
	}
	raw, err := json.Marshal(&c.Config)
	if err != nil {
		return fmt.Errorf("encode run: %w", err)
	}
	c.run.Config = raw
	return c.build(ctx)
}

// capWords says which cap holds the run that its owner has not chosen, or that none does.
func (c *Campaign) capWords(fc *Forecast) string {
	return capWords(&c.Config, c.held.byDefault, c.options.DryRun && c.beyondOf(fc) != nil)
}

func capWords(f *Config, byDefault eval.Caps, asks bool) string {
	words := ""
	switch {
	case f.Simulated() || f.ByHand():
		return ""
	case f.MaxCostUSD == 0 && f.MaxTokens == 0:
		return "none on dollars and tokens"
	case byDefault.CostUSD > 0:
		words = eval.FormatUSD(f.MaxCostUSD) + " by default"
	case byDefault.Tokens > 0:
		words = plain.Thousands(f.MaxTokens) + " tokens by default, as no price is known"
	default:
		return ""
	}
	if asks {
		words += "; the forecast is more, so that you would be asked first"
	}
	return words
}
