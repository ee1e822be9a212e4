package backend

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/spf13/pflag"
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
		{"agent: [claude]\n", "line 1: agent takes one value", ""},
		{"\nmax_cost_usd: abc\n", `line 2: max_cost_usd takes a number, not "abc"`, ""},
		{"keep_days: 1.5\n", `line 1: keep_days takes a whole number, not "1.5"`, ""},
		{"targets: claude\n", "line 1: targets takes a list", ""},
		{"targets: [claude, [codex]]\n", "line 1: each of targets takes one value", ""},
		{"setup: npm ci\n", "line 1: setup takes keys with values", ""},
		{"hooks: {record_prompts: maybe}\n", `line 1: record_prompts takes true or false, not "maybe"`, ""},
		{"moments: [all]\n", "line 1: moments takes one value", ""},
		{"moments: some\n", `moments: "some" is none of off, commands, all`, ""},
		{"model: a\nmodel: b\n", "line 2: model is there twice: it is in line 1, too", ""},
		{"model: a: b\n", "line 1: this or the next line is no YAML", ""},
		{"objectives: [quality, speed]\n", `objectives: "speed" is none of quality`, ""},
		{"objectives: [cost]\n", "quality must be one of them", ""},
		{"sandbox_limits: {memory_gb: 0.01}\n", "sandbox_limits: memory_gb: 0.01 is not between 0.1 and 1000000", ""},
		{"sandbox_limits: {processes: many}\n", `line 1: processes takes a whole number, not "many"`, ""},
		{"sandbox_limits: {memory: 4}\n", `line 1: unknown key "memory"`, "memory_gb"},
		{"policy: install\n", `policy: "install" is neither stage nor auto`, ""},
		{"agent: claude\n---\nagent: pi\n", "more than one document", ""},
		{"- agent\n", "line 1: the file takes keys with values", ""},
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

// Every key is explained with an example, and the examples are a configuration.
func TestConfigHelp(t *testing.T) {
	for f := range reflect.TypeFor[Config]().Fields() {
		if name := f.Tag.Get("yaml"); name != "demo" && (f.Tag.Get("help") == "" || f.Tag.Get("example") == "") {
			t.Errorf("%s has no help or no example", name)
		}
	}
	_, example, _ := strings.Cut(ConfigHelp(), "optional.\n")
	c, err := parseConfig([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	for f, v := range reflect.ValueOf(c).Elem().Fields() {
		if f.Name != "Demo" && v.IsZero() {
			t.Errorf("the example of %s sets nothing", f.Tag.Get("yaml"))
		}
	}
}

// A flag that is given overrides the configuration.
// TestConfigPage: docs/config.md lists the keys that config.yaml may have, and no others, in
// the words of `evolve help config`.
func TestConfigPage(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(page), "|---|---|---|\n")
	table, _, end := strings.Cut(table, "\n\n")
	if !ok || !end {
		t.Fatal("docs/config.md has no table")
	}
	var want []string
	for f := range reflect.TypeFor[Config]().Fields() {
		if help := f.Tag.Get("help"); help != "" {
			want = append(want, fmt.Sprintf("| `%s` | %s | `%s` |", f.Tag.Get("yaml"), help, f.Tag.Get("example")))
		}
	}
	if got := strings.Split(table, "\n"); !slices.Equal(got, want) {
		t.Errorf("docs/config.md has\n%s\nwant\n%s", table, strings.Join(want, "\n"))
	}
}

func TestDefaults(t *testing.T) {
	c, err := parseConfig([]byte("objectives: [quality, retries]\npolicy: auto\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct {
		typed              []string
		objectives, policy string
	}{{nil, "[quality,retries]", "auto"}, {[]string{"--objectives", "quality", "--policy", "stage"}, "[quality]", "stage"}} {
		fl := pflag.NewFlagSet("", pflag.ContinueOnError)
		fl.StringSlice("objectives", nil, "")
		fl.String("policy", "stage", "")
		if err := fl.Parse(k.typed); err != nil {
			t.Fatal(err)
		}
		if err := c.Defaults(fl); err != nil {
			t.Fatal(err)
		}
		if o, p := fl.Lookup("objectives").Value.String(), fl.Lookup("policy").Value.String(); o != k.objectives || p != k.policy {
			t.Errorf("typed %q: objectives %s, policy %s", k.typed, o, p)
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
