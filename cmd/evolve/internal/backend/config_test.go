package backend

import (
	"errors"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

func TestConfig(t *testing.T) {
	c, err := parseConfig([]byte(`
agent: claude
model: claude-sonnet-5
confirm_over_usd: 0
prices:
  date: "2026-11-01"
  models:
    claude-sonnet-5: {input: 7, output: 8}
    house-model: {input: 0.5, output: 1, cache_read: 0.05}
`))
	if err != nil {
		t.Fatal(err)
	}
	if c.Agent != "claude" || c.Model != "claude-sonnet-5" || c.ConfirmOverUSD == nil || *c.ConfirmOverUSD != 0 {
		t.Errorf("config = %+v", c)
	}
	if got := c.Prices.price("claude-sonnet-5"); got == nil || *got != (eval.Price{Input: 7, Output: 8}) {
		t.Errorf("the file's own price = %+v, want it over the built-in one", got)
	}
	if c.Prices.Date != "2026-11-01" || c.Prices.price("gpt-5-mini") == nil {
		t.Errorf("prices of %s; gpt-5-mini %v, want the built-in ones beside the file's", c.Prices.Date, c.Prices.price("gpt-5-mini"))
	}
}

func TestConfigRefused(t *testing.T) {
	for _, c := range []struct{ text, want, near string }{
		{"agnet: claude\n", `line 1: unknown key "agnet"`, "agent"},
		{"agent: claude\nprices:\n  models:\n    m: {inptu: 3}\n", `line 4: unknown key "inptu"`, "input"},
		{"prices: {models: {m: {input: -1}}}\n", "no price", ""},
		{"prices: {models: {m: {input: .inf}}}\n", "no price", ""},
		{"sandbox: off\n", `sandbox: "off" is neither on nor none`, ""},
		{"concurrency: 1000\n", "not between", ""},
		{"agent: [claude]\n", "cannot unmarshal", ""},
		{"agent: claude\n---\nagent: pi\n", "more than one document", ""},
		{"- agent\n", "cannot unmarshal", ""},
	} {
		_, err := parseConfig([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: err = %v, want %q", c.text, err, c.want)
			continue
		}
		var unknown *unknownKey
		if errors.As(err, &unknown) && unknown.near != c.near {
			t.Errorf("%q: nearest %q, want %q", c.text, unknown.near, c.near)
		}
	}
}

func FuzzConfig(f *testing.F) {
	f.Add("agent: claude\nprices: {date: x, models: {m: {input: 1}}}\n")
	f.Add("a: &a [*a]\n")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := parseConfig([]byte(text)); err == nil && (c.Prices.price("gpt-5-mini") == nil || c.Prices.Date == "") {
			t.Errorf("%q lost the built-in prices", text)
		}
	})
}

// A model is priced by its own name alone: another model's price would
// silently make a forecast wrong.
func TestPrice(t *testing.T) {
	c, err := parseConfig(nil)
	if err != nil {
		t.Fatal(err)
	}
	for model, known := range map[string]bool{
		"gpt-5-mini": true, "openai/gpt-5-mini": true, "gpt-5-mini-2025-08-07": true, "claude-haiku-4-5-20251001": true,
		"gpt-5-latest": true, "gpt-5-pro": false, "gpt-5-mini-turbo": false, "gpt": false, "": false, "claude-sonnet-5-preview": false,
	} {
		if got := c.Prices.price(model); (got != nil) != known {
			t.Errorf("price(%q) = %v, want one: %v", model, got, known)
		}
	}
}
