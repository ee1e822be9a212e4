package campaign

import (
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest/outgoing"
)

// A CompareForecast is what a comparison may take at most.
type CompareForecast struct {
	Schema   int      `json:"schema"`
	Skill    string   `json:"skill"`
	Backends string   `json:"backends"`
	Cases    int      `json:"cases"`
	Rollouts int64    `json:"rollouts"`  // without retries
	AtMost   int64    `json:"at_most"`   // with every retry used
	Calls    int64    `json:"calls"`     // with the judge's, without retries
	Tokens   int64    `json:"tokens"`    // estimated
	CostUSD  *float64 `json:"cost_usd"`  // nil is unknown
	Free     bool     `json:"simulated"` // no model is asked
	// Sends are who gets how much text.
	Sends []outgoing.Send `json:"sends,omitempty"`
}

func (c *Comparison) forecast() *CompareForecast {
	f := &c.config
	n := int64(2 * c.options.Trials)
	fc := &CompareForecast{Schema: 1, Skill: c.Report.Skill, Backends: f.Describe(), Cases: len(c.cases),
		Rollouts: n * int64(len(c.cases)), Free: agent.KindOf(f.Agent).Simulated && agent.KindOf(f.JudgeAgent).Simulated}
	fc.AtMost = fc.Rollouts * int64(1+f.MaxRetries)
	prompt, checks := sizes(c.cases)
	judged, cases := n*int64(checks), int64(len(c.cases))
	fc.Tokens = n*(int64(prompt)+cases*answerTokens) + n/2*cases*int64(c.Report.A.Tokens+c.Report.B.Tokens) + judged*tokensJudge
	fc.Calls = fc.Rollouts + judged
	fc.CostUSD = f.USD(f.Model, float64(fc.Tokens))
	return fc
}

// String formats the forecast in one line.
func (fc *CompareForecast) String() string {
	line := fmt.Sprintf("forecast: %d cases in two arms, %d rollouts (at most %d with retries), about %d calls and %s tokens, %s; %s",
		fc.Cases, fc.Rollouts, fc.AtMost, fc.Calls, plain.Thousands(fc.Tokens), costWords(fc.CostUSD, fc.Free), fc.Backends)
	return strings.Join(append([]string{line}, outgoing.Lines(fc.Sends)...), "\n")
}
