package campaign

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/store"
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

// Of a command whose models have prices, but do not all report what they use, dollars are
// capped beside tokens. Only the roles that are asked count.
func TestPurse(t *testing.T) {
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	agent.Register(&agent.Kind{Name: "purse-table", Dollars: agent.ByTable}, &agent.Kind{Name: "purse-unknown", Dollars: agent.Unknown})
	d := &eval.Caps{CostUSD: 5}
	r := &Runner{Default: func(bool) (*eval.Caps, error) { return d, nil }, Now: time.Now,
		Store:    func(context.Context) (*store.Store, error) { return db, nil },
		Backends: func(context.Context, *agent.Spec) (*agent.Backends, error) { return &agent.Backends{}, nil }}
	mixed := agent.Spec{Agent: "purse-unknown", ReflectAgent: "purse-table", ReflectModel: "m", JudgeAgent: "purse-unknown", Prices: map[string]eval.Price{"m": {Input: 1, Output: 2}}}
	priced := mixed
	priced.PriceIn, priced.PriceOut = 1, 2
	for _, c := range []struct {
		name    string
		spec    agent.Spec
		answers bool
		want    eval.Caps
	}{
		{"who writes has a price", mixed, false, eval.Caps{CostUSD: 5}},
		{"who answers has none", mixed, true, eval.Caps{Tokens: 4_000_000}},
		{"all have one", priced, true, eval.Caps{CostUSD: 5, Tokens: 4_000_000}},
	} {
		p, err := r.Purse(t.Context(), c.spec, eval.Caps{}, c.answers)
		if err != nil || p.Caps() != c.want {
			t.Errorf("%s: %+v, %v", c.name, p.Caps(), err)
		}
	}
	d = nil
	if p, err := r.Purse(t.Context(), priced, eval.Caps{CostUSD: 7}, true); err != nil || p.Caps() != (eval.Caps{CostUSD: 7}) {
		t.Errorf("a cap that was chosen: %+v, %v", p, err)
	}
}
