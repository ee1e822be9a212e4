package campaign

import (
	"context"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/tournament/caps"
)

// A CompareForecast is what a comparison may take at most.
type CompareForecast struct {
	Schema   int    `json:"schema"`
	Skill    string `json:"skill"`
	Backends string `json:"backends"`
	Cases    int    `json:"cases"`
	Rollouts int64  `json:"rollouts"` // without retries
	AtMost   int64  `json:"at_most"`  // with every retry used
	Calls    int64  `json:"calls"`    // with the judge's, without retries
	Takes           // without retries
	Free     bool   `json:"simulated"` // no model is asked
	// Cap is as in Forecast.
	Cap string `json:"cap,omitempty"`
	// Sends are who gets how much text.
	Sends []outgoing.Send `json:"sends,omitempty"`
}

// hold gives the comparison the default caps; in a night it has a budget already.
func (c *Comparison) hold(ctx context.Context) (err error) {
	if c.options.Budget == nil {
		c.held, err = c.runner.Hold(ctx, c.texts.Store, &c.config, false)
	}
	return err
}

// plan forecasts from earlier runs or recorded turns.
func (c *Comparison) plan(ctx context.Context) (*CompareForecast, error) {
	runs, err := c.texts.Store.Runs(ctx, c.Report.Skill)
	if err != nil {
		return nil, err
	}
	turns, err := c.runner.Recorded(ctx, c.texts.Store, &c.config, c.Report.Skill)
	if err != nil {
		return nil, err
	}
	fc := c.forecast(PastRateOf(runs, &c.config), turns)
	fc.Cap = capWords(&c.config, c.held.ByDefault, false)
	return fc, nil
}

// Beyond compares a forecast with the default caps; nil if it is within them.
func (c *Comparison) Beyond(fc *CompareForecast) *caps.BeyondError {
	return c.held.Beyond(c.config.Caps(), eval.Spent{}, fc.estimate(fc.AtMost))
}

// Allow raises the caps to what allows the forecast; nothing for nil.
func (c *Comparison) Allow(e *caps.BeyondError) {
	if e != nil {
		c.config.MaxCostUSD, c.config.MaxTokens = e.Caps.CostUSD, e.Caps.Tokens
	}
}

func (c *Comparison) forecast(past PastRate, turns *Recorded) *CompareForecast {
	f := &c.config
	n := int64(2 * c.options.Trials)
	fc := &CompareForecast{Schema: 1, Skill: c.Report.Skill, Backends: f.Describe(), Cases: len(c.cases),
		Rollouts: n * int64(len(c.cases)), Free: agent.KindOf(f.Agent).Simulated && agent.KindOf(f.JudgeAgent).Simulated}
	fc.AtMost = fc.Rollouts * int64(1+f.MaxRetries)
	prompt, checks := sizes(c.cases)
	judged, cases := n*int64(checks), int64(len(c.cases))
	fc.Tokens = n*(int64(prompt)+cases*int64(answerTokens+f.OwnerTokens)) + n/2*cases*int64(c.Report.A.Tokens+c.Report.B.Tokens) + judged*tokensJudge
	fc.Calls = fc.Rollouts + judged
	fc.CostUSD = f.USD(f.Model, float64(fc.Tokens))
	fc.From = f.RestsOn(past, turns)
	switch {
	case past.Tokens > 0:
		share := float64(fc.Rollouts) / float64(past.Rollouts)
		fc.Tokens = int64(share * float64(past.Tokens))
		if past.Priced {
			usd := share * past.USD
			fc.CostUSD = &usd
		} else {
			fc.CostUSD = f.USD(f.Model, float64(fc.Tokens))
		}
	case turns != nil:
		fc.byTurns(f, turns, fc.Rollouts, fc.Cases, float64(judged*tokensJudge), 0, 0)
	}
	return fc
}

// String formats the forecast in one line.
func (fc *CompareForecast) String() string {
	line := fmt.Sprintf("forecast: %d cases with two texts, %d rollouts (at most %d with retries), about %d calls and %s tokens, %s; %s",
		fc.Cases, fc.Rollouts, fc.AtMost, fc.Calls, fc.tokenWords(), fc.costWords(fc.Free), fc.Backends)
	if fc.From != "" {
		line += "; " + fc.From
	}
	if fc.Cap != "" {
		line += "\ncap: " + fc.Cap
	}
	return strings.Join(append([]string{line}, outgoing.Lines(fc.Sends)...), "\n")
}
