package campaign

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/caps"
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

// Hold gives a configuration the default caps, of a night or else of a run or comparison,
// and returns them, with what it had: the caps of the machine's policy, which no flag exceeds.
func (r *Runner) Hold(ctx context.Context, db *store.Store, f *Config, night bool) (h caps.Held, err error) {
	if r.Default == nil {
		return h, nil
	}
	d, err := r.Default(night)
	if d == nil || err != nil {
		return h, err
	}
	h.Policy = f.Caps()
	h.ByDefault, err = r.defaultCaps(ctx, db, f, *d)
	both := f.Caps().Within(h.ByDefault)
	f.MaxCostUSD, f.MaxTokens = both.CostUSD, both.Tokens
	return h, err
}

// Purse is the budget of a command that asks a model about what is stored; answers: it has an
// agent and its judge answer requests, too.
func (r *Runner) Purse(ctx context.Context, spec agent.Spec, chosen eval.Caps, answers bool) (*caps.Purse, error) {
	db, err := r.Store(ctx)
	if err != nil {
		return nil, err
	}
	spec.TextOnly = !answers
	back, err := r.Backends(ctx, &spec) // which completes spec
	if err != nil {
		return nil, err
	}
	defer back.Close() // what stays behind does no harm
	f := Config{Spec: spec, MaxCostUSD: chosen.CostUSD, MaxTokens: chosen.Tokens, MaxDuration: chosen.Duration}
	if !answers {
		f.Agent, f.Model, f.JudgeAgent, f.JudgeModel = f.ReflectAgent, f.ReflectModel, f.ReflectAgent, f.ReflectModel
	}
	h, err := r.Hold(ctx, db, &f, false)
	if err != nil {
		return nil, err
	}
	if d, err := r.perPrice(&f, h); err != nil {
		return nil, err
	} else if d > 0 {
		h.ByDefault.CostUSD, f.MaxCostUSD = d, f.Caps().Within(eval.Caps{CostUSD: d}).CostUSD
	}
	p := caps.New(f.Caps(), h, r.Now)
	spec.SetPrices(p.Budget)
	return p, nil
}

// perPrice are the default dollars beside the default tokens, if every model has a price
// although some of them do not report what they use; 0 for none.
func (r *Runner) perPrice(f *Config, h caps.Held) (float64, error) {
	if h.ByDefault.Tokens == 0 || slices.ContainsFunc(f.Roles(), func(x agent.Role) bool { return f.Price(x.Model) == nil }) {
		return 0, nil
	}
	d, err := r.Default(false)
	if d == nil || err != nil {
		return 0, err
	}
	return max(0, d.CostUSD), nil
}

// Beyond compares the forecast with the default caps; nil if it is within them, or was not
// made.
func (c *Campaign) Beyond() *caps.BeyondError {
	if c.forecast == nil {
		return nil
	}
	return c.beyondOf(c.forecast)
}

func (c *Campaign) beyondOf(fc *Forecast) *caps.BeyondError {
	if fc.Rollouts == 0 {
		return nil // nothing is known of it, and the cap holds
	}
	return c.held.Beyond(c.Config.Caps(), c.budget.Spent(), fc.estimate(fc.Rollouts))
}

// Allow raises the caps of the run to what allows the forecast; nothing for nil.
func (c *Campaign) Allow(ctx context.Context, e *caps.BeyondError) error {
	if e == nil {
		return nil
	}
	c.Config.MaxCostUSD, c.Config.MaxTokens = e.Caps.CostUSD, e.Caps.Tokens
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
	return capWords(&c.Config, c.held.ByDefault, c.options.DryRun && c.beyondOf(fc) != nil)
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
