package sleep

import (
	"slices"
	"testing"
	"time"

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

// The caps of a night hold with the kernel probes that it had answered, but for that on rollouts;
// what is left for further probes is never mistaken for no cap.
func TestProbesWithinTheCaps(t *testing.T) {
	n := &Night{Caps: Caps{Rollouts: 10, Tokens: 100, CostUSD: 1, Duration: time.Minute}, Steps: []Step{
		{Kind: Search, Stage: Done, Spent: eval.Spent{Rollouts: 5, TokensIn: 30, CostUSD: .25, WallMS: 10_000}, Result: &Result{Probed: eval.Spent{Rollouts: 20, TokensOut: 20, CostUSD: .25, WallMS: 10_000}}}}}
	if c, ok := n.left(); !ok || c != (Caps{Rollouts: 5, Tokens: 50, CostUSD: .5, Duration: 40 * time.Second}) || n.spare() != (Caps{Tokens: 50, CostUSD: .5, Duration: 40 * time.Second}) {
		t.Errorf("left %+v, %v, for probes %+v", c, ok, n.spare())
	}
	n.Steps = append(n.Steps, Step{Kind: Install, Stage: Done, Spent: eval.Spent{Rollouts: 4, TokensIn: 60, CostUSD: .5, WallMS: 40_000}})
	if _, ok := n.left(); ok || n.spare() != (Caps{Tokens: -1, CostUSD: -1, Duration: -1}) {
		t.Errorf("used up: %v, for probes %+v", ok, n.spare())
	}
	if got := n.exceeded(); len(got) != 1 || got[0] != "the night's --max-tokens 100 was exceeded by 10" {
		t.Errorf("%q", got)
	}
	if got := (&Night{}).spare(); got != (Caps{}) {
		t.Errorf("no cap at all: %+v", got)
	}
}
