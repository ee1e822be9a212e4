package campaign

import (
	"context"
	"fmt"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/caps"
	"github.com/skill-evolve/evolve/tournament/expect"
)

// Recorded are the owner's recorded turns, as far as they tell what a replay takes.
type Recorded struct {
	*expect.Sample
	price  *eval.Price // of the model that answers; nil is unknown
	search *eval.Price // of the one that answers in a search
}

// Recorded reads the recorded turns for the replays of a skill's cases, "" for any skill;
// nil if they tell nothing: there are none, no session of such an agent is ever recorded, as it
// has no tools or is the owner's own program, or trigger cases are tried, which end where the
// skill is loaded or not.
func (r *Runner) Recorded(ctx context.Context, db *store.Store, f *Config, name string) (*Recorded, error) {
	k := agent.KindOf(f.Agent)
	if k.Sessions == "" || f.Evolve == skill.Description {
		return nil, nil
	}
	s, err := expect.Read(ctx, db, name, k.Sessions)
	if err != nil || !s.Known() {
		return nil, err
	}
	out := &Recorded{Sample: s, price: f.Price(f.Model)}
	if out.price == nil && f.Model == "" && k.Dollars == agent.Reported && r.PriceOf != nil { // the agent's own model
		out.price = r.PriceOf(s.Model)
	}
	if out.search = out.price; f.models()[0] != f.Model {
		out.search = f.Price(f.SearchModel)
	}
	return out, nil
}

// Takes is an estimate of what all calls take.
type Takes struct {
	Tokens  int64    `json:"tokens"`
	CostUSD *float64 `json:"cost_usd"` // nil is unknown
	// From is what the estimate rests on, in words: earlier runs, recorded turns or a guess.
	From string `json:"from"`
	// TokensRange and CostRange hold 90 % of what comes; nil unless recorded turns tell.
	TokensRange *expect.Range `json:"tokens_range,omitempty"`
	CostRange   *expect.Range `json:"cost_usd_range,omitempty"`
}

// byTurns estimates from recorded turns what n replays of so many cases take, of which so
// large a share is the search's, with calls of the judge and the mutator of so many tokens.
func (t *Takes) byTurns(f *Config, turns *Recorded, n int64, cases int, judge, mutator, searched float64) {
	if of := turns.Tokens(n, cases); of != nil {
		of := of.Plus(judge + mutator)
		t.TokensRange, t.Tokens = &of, int64(of.Expected)
	}
	if of := turns.dollars(n, cases, searched); of != nil {
		of := of.Plus(f.cost(turns.price, judge, mutator))
		t.CostRange, t.CostUSD = &of, &of.Expected
	}
}

// dollars are what n replays of so many cases cost, a share of them in the search; nil is
// unknown.
func (r *Recorded) dollars(n int64, cases int, searched float64) *expect.Range {
	switch {
	case searched == 0 || r.search == r.price:
		return r.USD(r.price, n, cases)
	case searched == 1:
		return r.USD(r.search, n, cases)
	}
	return r.USD(r.search, n, cases).Mix(r.USD(r.price, n, cases), searched)
}

// Estimate is what n replays of so many cases take by recorded turns, with read tokens of
// the mutator that read corrections, and its calls in a search.
func (f *Config) Estimate(turns *Recorded, n int64, cases int, read float64) (t Takes) {
	t.byTurns(f, turns, n, cases, 0, read+float64(n)*mutatorShare*tokensMutator, 0) // a night may only continue trials
	return t
}

// estimate is t for caps.
func (t *Takes) estimate(rollouts int64) caps.Estimate {
	e := caps.Estimate{USD: t.CostUSD, Tokens: float64(t.Tokens), Rollouts: rollouts}
	if t.CostRange != nil {
		e.HighUSD = t.CostRange.High
	}
	if t.TokensRange != nil {
		e.HighTokens = t.TokensRange.High
	}
	return e
}

// tokenWords formats the tokens.
func (t *Takes) tokenWords() string {
	if t.TokensRange != nil {
		return t.TokensRange.Words()
	}
	return plain.Thousands(t.Tokens)
}

// costWords formats the cost; free: no model is asked.
func (t *Takes) costWords(free bool) string {
	if t.CostRange != nil && !free {
		return "about " + t.CostRange.USD()
	}
	return CostWords(t.CostUSD, free)
}

// cost estimates the dollars of calls of the judge and the mutator, by the price of the
// agent for a model without one.
func (f *Config) cost(agent *eval.Price, judge, mutator float64) (usd float64) {
	for model, tokens := range map[*string]float64{&f.JudgeModel: judge, &f.ReflectModel: mutator} {
		p := f.Price(*model)
		if p == nil {
			p = agent
		}
		usd += *p.USD(&eval.Usage{Input: int64(tokens * 2 / 3), Output: int64(tokens / 3)})
	}
	return usd
}

// RestsOn says what a forecast rests on; "" if nothing has to be paid.
func (f *Config) RestsOn(past PastRate, turns *Recorded) string {
	switch {
	case agent.KindOf(f.Agent).Simulated:
		return ""
	case past.Tokens > 0:
		return fmt.Sprintf("from %s of earlier runs", plain.Counted(past.Rollouts, "rollout"))
	case turns != nil:
		return turns.String()
	}
	return "a guess: nothing recorded tells what a rollout takes"
}
