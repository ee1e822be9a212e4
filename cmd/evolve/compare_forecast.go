package main

import (
	"fmt"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// compareForecast is what a comparison may take at most.
type compareForecast struct {
	Schema   int      `json:"schema"`
	Skill    string   `json:"skill"`
	Backends string   `json:"backends"`
	Cases    int      `json:"cases"`
	Rollouts int64    `json:"rollouts"`  // without retries
	AtMost   int64    `json:"at_most"`   // with every retry used
	Calls    int64    `json:"calls"`     // with the judge's, without retries
	Tokens   int64    `json:"tokens"`    // estimated
	CostUSD  *float64 `json:"cost_usd"`  // nil is unknown
	Free     bool     `json:"simulated"` // nobody is asked
}

func (c *comparison) forecast() *compareForecast {
	n := int64(2 * c.trials)
	fc := &compareForecast{Schema: 1, Skill: c.out.Skill, Backends: c.Describe(), Cases: len(c.cases),
		Rollouts: n * int64(len(c.cases)), Free: c.Agent == "simulated" && c.JudgeAgent == "simulated"}
	fc.AtMost = fc.Rollouts * int64(1+c.MaxRetries)
	judged := int64(0)
	for _, k := range c.cases {
		for _, check := range k.Checks {
			if check.Type == eval.Judge {
				judged += n
			}
		}
		fc.Tokens += n*int64(skill.Tokens(k.Prompt)+answerTokens) + n/2*int64(c.out.A.Tokens+c.out.B.Tokens)
	}
	fc.Calls, fc.Tokens = fc.Rollouts+judged, fc.Tokens+judged*tokensJudge
	fc.CostUSD = c.USD(c.Model, float64(fc.Tokens))
	return fc
}

// String is the forecast in one line.
func (fc *compareForecast) String() string {
	cost := "cost unknown without --price-in and --price-out"
	switch {
	case fc.Free:
		cost = eval.FreeSimulated
	case fc.CostUSD != nil:
		cost = "about " + eval.FormatUSD(*fc.CostUSD)
	}
	return fmt.Sprintf("forecast: %d cases in two arms, %d rollouts (at most %d with retries), about %d calls and %s tokens, %s; %s",
		fc.Cases, fc.Rollouts, fc.AtMost, fc.Calls, plain.Thousands(fc.Tokens), cost, fc.Backends)
}
