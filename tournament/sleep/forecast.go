package sleep

import (
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/probes"
	"github.com/skill-evolve/evolve/tournament/expect"
)

// A Forecast is what a night may take at most, estimated before it begins.
type Forecast struct {
	Rollouts int64     `json:"rollouts"` // at most; 0: no cap
	Reading  []Reading `json:"reading"`
	// Tokens and CostUSD are estimates over all calls, by what earlier runs on the
	// same agent took if there are any; null if that is not known.
	Tokens  *int64   `json:"tokens"`
	CostUSD *float64 `json:"cost_usd"`
	// From is what they rest on; the ranges hold 90 % of such nights, and are nil unless
	// recorded turns tell.
	From        string        `json:"from"`
	TokensRange *expect.Range `json:"tokens_range,omitempty"`
	CostRange   *expect.Range `json:"cost_usd_range,omitempty"`

	// Probes are what kernel probes may take besides the rollouts; nil for nothing.
	Probes *probes.Takes `json:"kernel_probes,omitempty"`

	// Sends are who gets how much text, a line each.
	Sends []string `json:"sends,omitempty"`

	Free  bool   `json:"-"` // simulated
	First bool   `json:"-"` // nothing recorded tells what a rollout takes: Tokens is a guess
	Bound string `json:"-"` // in words, what holds it besides the rollouts
}

// A Reading is the cost of turning the corrections of one skill into checks.
type Reading struct {
	Skill  string `json:"skill"`
	Calls  int    `json:"calls"`
	Later  int    `json:"later"` // calls left to later nights
	Tokens int64  `json:"tokens"`
}

// Takes formats the forecast in one line.
func (fc *Forecast) Takes() string {
	most := "no cap on rollouts"
	if fc.Rollouts > 0 {
		most = "at most " + plain.Counted(int(fc.Rollouts), "rollout")
	}
	if fc.TokensRange != nil {
		most += fmt.Sprintf(", about %s tokens, %s", fc.TokensRange.Words(), fc.From)
	} else if fc.Tokens != nil {
		most += fmt.Sprintf(", about %s tokens", plain.Thousands(*fc.Tokens))
		if fc.First {
			most += " (a guess: nothing recorded tells)"
		}
	}
	usd := ""
	if fc.CostRange != nil {
		usd = fc.CostRange.USD()
	} else if fc.CostUSD != nil {
		usd = eval.FormatUSD(*fc.CostUSD)
	}
	switch {
	case fc.Free:
		return most + ", " + eval.FreeSimulated
	case fc.CostUSD != nil && fc.Bound != "":
		return fmt.Sprintf("%s, about %s, held by %s", most, usd, fc.Bound)
	case fc.CostUSD != nil:
		return fmt.Sprintf("%s, about %s; --max-cost-usd would hold it to what you name", most, usd)
	case fc.Bound != "":
		return fmt.Sprintf("%s; no price is known, %s holds it", most, fc.Bound)
	}
	return most + "; no price is known, and nothing else holds it: --max-tokens would"
}

// Reads describes what is read, of few skills apart and of many together; ""
// for nothing.
func (fc *Forecast) Reads() string {
	all := fc.Reading
	if len(all) > ShownSkills {
		sum := Reading{Skill: plain.Counted(len(all), "skill") + ","}
		for _, r := range all {
			sum.Calls, sum.Later, sum.Tokens = sum.Calls+r.Calls, sum.Later+r.Later, sum.Tokens+r.Tokens
		}
		all = []Reading{sum}
	}
	var out []string
	for _, r := range all {
		one := fmt.Sprintf("%s %s, %s tokens", r.Skill, plain.Counted(r.Calls, "call"), plain.Thousands(r.Tokens))
		if r.Later > 0 {
			one += fmt.Sprintf(" (%d left for later nights)", r.Later)
		}
		out = append(out, one)
	}
	return strings.Join(out, "; ")
}

// ShownSkills is the number of waiting skills that are named.
const ShownSkills = 4
