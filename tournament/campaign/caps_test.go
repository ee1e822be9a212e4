package campaign

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/expect"
)

// A run whose owner has chosen no cap gets one in dollars, or in tokens; none if nobody has
// to be paid.
func TestHold(t *testing.T) {
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var d *eval.Caps
	r := &Runner{Default: func(bool) (*eval.Caps, error) { return d, nil }}
	priced, unpriced := agent.Spec{Agent: "test-table", ReflectAgent: "test-table", JudgeAgent: "test-table", PriceIn: 1, PriceOut: 2}, agent.Spec{Agent: "test-table", ReflectAgent: "test-table", JudgeAgent: "test-table"}
	agent.Register(&agent.Kind{Name: "test-table", Dollars: agent.ByTable}, &agent.Kind{Name: "test-free", Simulated: true})
	free := agent.Spec{Agent: "test-free", ReflectAgent: "test-free", JudgeAgent: "test-free"}
	hold := func(f Config) Config {
		t.Helper()
		if _, err := r.Hold(t.Context(), db, &f, false); err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, c := range []struct {
		name   string
		f      Config
		d      *eval.Caps
		usd    float64
		tokens int64
	}{
		{"dollars", Config{Spec: priced}, &eval.Caps{CostUSD: 5}, 5, 0},
		{"no dollars", Config{Spec: priced}, &eval.Caps{}, 0, 0},
		{"a lower policy", Config{Spec: priced, MaxCostUSD: 2}, &eval.Caps{CostUSD: 5}, 2, 0},
		{"no sessions", Config{Spec: unpriced}, &eval.Caps{CostUSD: 5}, 0, 4_000_000},
		{"tokens of config.yaml", Config{Spec: unpriced}, &eval.Caps{CostUSD: 5, Tokens: 9}, 0, 9},
		{"no tokens", Config{Spec: unpriced}, &eval.Caps{CostUSD: 5, Tokens: -1}, 0, 0},
		{"chosen", Config{Spec: priced, MaxTokens: 7}, nil, 0, 7},
		{"free", Config{Spec: free}, &eval.Caps{CostUSD: 5}, 0, 0},
	} {
		d = c.d
		if got := hold(c.f); got.MaxCostUSD != c.usd || got.MaxTokens != c.tokens {
			t.Errorf("%s: $%v and %d tokens, want $%v and %d", c.name, got.MaxCostUSD, got.MaxTokens, c.usd, c.tokens)
		}
	}
	for i, n := range []int64{100_000, 300_000, 900_000} {
		s := &harvest.Session{ID: string(rune('a' + i)), Path: "p", Agent: "pi", Started: time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC),
			Turns: []harvest.Turn{{Prompt: "x", Usage: &eval.Usage{Input: n}}}}
		if err := db.SaveSession(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	d = &eval.Caps{CostUSD: 5}
	if got := hold(Config{Spec: unpriced}); got.MaxTokens != 40*300_000 {
		t.Errorf("%d tokens, want those of 40 median sessions", got.MaxTokens)
	}
}

// A forecast beyond a default cap names what would do; reading that was paid for counts.
func TestBeyond(t *testing.T) {
	usd := 4.0
	takes := Takes{CostUSD: &usd, Tokens: 900, CostRange: &expect.Range{Low: 3, Expected: 4, High: 6.5}}
	byDefault := eval.Caps{CostUSD: 5}
	by := held{byDefault: byDefault}
	// Nobody allows more than the policy of the machine.
	if e := (held{byDefault, eval.Caps{CostUSD: 8}}).beyond(byDefault, eval.Spent{CostUSD: 2}, takes.estimate(40)); e == nil || e.caps.CostUSD != 8 {
		t.Errorf("a policy of $8: %+v", e)
	}
	if e := (held{byDefault, byDefault}).beyond(byDefault, eval.Spent{CostUSD: 2}, takes.estimate(40)); e != nil {
		t.Errorf("a policy of $5, which holds anyway: %+v", e)
	}
	if e := by.beyond(byDefault, eval.Spent{}, takes.estimate(40)); e != nil {
		t.Errorf("$4 of $5: %v", e)
	}
	if e := (held{}).beyond(eval.Caps{CostUSD: 3}, eval.Spent{}, takes.estimate(40)); e != nil {
		t.Errorf("a cap that was chosen: %v", e)
	}
	e := by.beyond(byDefault, eval.Spent{CostUSD: 2}, takes.estimate(40))
	if e == nil || e.Error() != "the forecast, about $6.00, is more than the default cap of $5.00" || e.caps.CostUSD != 9 || e.Fits != 30 {
		t.Fatalf("with $2 of reading: %+v", e)
	}
	if got, want := e.Hint(), "--max-cost-usd 9 allows it, --max-rollouts 30 is likely to fit, and --yes does not ask"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	e = held{byDefault: eval.Caps{Tokens: 800}}.beyond(eval.Caps{Tokens: 800}, eval.Spent{TokensIn: 50, TokensOut: 50}, takes.estimate(40))
	if e == nil || e.caps.Tokens != 1000 || e.Flag != "--max-tokens 1000" {
		t.Errorf("tokens: %+v", e)
	}
}
