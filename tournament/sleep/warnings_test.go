package sleep

import (
	"slices"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

// What runs warned of is said once each, with the skills that it is about; a cap
// that all of them together exceeded is said of the night. What silent calls are
// assumed to have taken leaves less for the steps to come.
func TestNightWarnings(t *testing.T) {
	n := &Night{Caps: Caps{CostUSD: 0.03, Tokens: 1000}, Steps: []Step{
		{Kind: Search, Skill: "a", Warnings: []string{"too few", "dear"}, Spent: eval.Spent{CostUSD: 0.02, TokensIn: 100, Rollouts: 1}},
		{Kind: Continue, Skill: "b", Warnings: []string{"too few", "too few"}, Assumed: eval.Assumed{USD: 0.005, Tokens: 850}},
		{Kind: Watch, Skill: "c"},
	}}
	if got, want := n.Warnings(), []string{"a, b: too few", "a: dear"}; !slices.Equal(got, want) {
		t.Errorf("warnings %q, want %q", got, want)
	}
	if c, ok := n.left(); !ok || c.Tokens != 50 || c.CostUSD > 0.0051 {
		t.Errorf("left %+v, %v; what is assumed counts", c, ok)
	}
	n.Steps[1].Spent = eval.Spent{CostUSD: 0.0056, TokensIn: 51}
	want := []string{"the night's --max-tokens 1000 was exceeded by 1", "the night's --max-cost-usd $0.03 was exceeded by $0.0006", "a, b: too few", "a: dear"}
	if got := n.Warnings(); !slices.Equal(got, want) {
		t.Errorf("warnings %q, want %q", got, want)
	}
	if _, ok := n.left(); ok {
		t.Error("something is left of caps that were exceeded")
	}
}
