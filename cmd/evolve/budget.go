package main

import (
	"fmt"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// budget is the one of a run: its caps, and what silent calls are taken to cost.
func (f *runFlags) budget(now func() time.Time) *eval.Budget {
	caps := f.caps()
	if f.resume != "" {
		caps = sleep.Caps(caps).Within(sleep.Caps(f.atMost)).Eval()
	}
	b := eval.NewBudget(caps, now)
	f.SetPrices(b)
	return b
}

// farBeyond says that a run took more than twice what its forecast had said, where
// no cap on tokens or dollars held it; "" where it did not.
func (f *runFlags) farBeyond(fc *forecast, s eval.Spent) string {
	if fc == nil || f.MaxTokens > 0 || f.MaxCostUSD > 0 || fc.Tokens <= 0 {
		return ""
	}
	took := s.TokensIn + s.TokensOut
	if took <= 2*fc.Tokens {
		return ""
	}
	return fmt.Sprintf("%s tokens were used where about %s were forecast: %.0f times as many; --max-tokens or --max-cost-usd would have held the run",
		plain.Thousands(took), plain.Thousands(fc.Tokens), float64(took)/float64(fc.Tokens))
}
