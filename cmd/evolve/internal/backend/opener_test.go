package backend

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store/datadir"
)

// with returns an Opener whose environment is env, whose PATH holds nothing but the
// named programs and whose configuration is text.
func with(t *testing.T, env map[string]string, text string, programs ...string) *Opener {
	t.Helper()
	bin := t.TempDir()
	for _, p := range programs {
		if err := os.WriteFile(filepath.Join(bin, p), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return &Opener{Getenv: func(name string) string { return env[name] }, Config: func() (*Config, error) { return ReadConfig(path) }}
}

// Where no agent is named, the first that works is taken: a program with a key,
// or a server that was named; never the simulated one, never a key alone.
func TestChoice(t *testing.T) {
	key := map[string]string{"OPENAI_API_KEY": "sk-x"}
	for _, c := range []struct {
		name     string
		spec     agent.Spec
		env      map[string]string
		programs []string
		want     string // the agent, or the error
	}{
		{"nothing", agent.Spec{}, nil, nil, "no agent works yet"},
		{"a key without a model", agent.Spec{}, key, nil, "the openai backend needs --model"},
		{"a key and a model", agent.Spec{Model: "gpt-5-mini"}, key, nil, "openai"},
		{"a server", agent.Spec{Model: "m", BaseURL: "http://127.0.0.1:1/v1"}, nil, []string{"claude"}, "openai"},
		{"claude without a key", agent.Spec{}, nil, []string{"claude"}, "without a key: claude"},
		{"claude and its key", agent.Spec{}, map[string]string{"ANTHROPIC_API_KEY": "x"}, []string{"claude", "pi"}, "claude"},
		{"claude's token", agent.Spec{}, map[string]string{"CLAUDE_CODE_OAUTH_TOKEN": "x"}, []string{"claude"}, "claude"},
		{"a key of OpenAI, a model of Anthropic", agent.Spec{Model: "sonnet"},
			map[string]string{"OPENAI_API_KEY": "x", "ANTHROPIC_API_KEY": "y"}, []string{"claude"}, "claude"},
		{"named", agent.Spec{Agent: "simulated"}, key, []string{"claude"}, "simulated"},
		{"mistyped", agent.Spec{Agent: "cluade"}, key, nil, `unknown backend "cluade"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := c.spec
			err := with(t, c.env, "", c.programs...).Resolve(&b)
			switch got := b.Agent; {
			case err != nil && !strings.Contains(err.Error(), c.want):
				t.Errorf("err = %v, want %q", err, c.want)
			case err == nil && got != c.want:
				t.Errorf("agent %q, want %q", got, c.want)
			case err == nil && (b.ReflectAgent == "" || b.JudgeAgent == ""):
				t.Errorf("mutator %q, judge %q, want both", b.ReflectAgent, b.JudgeAgent)
			}
		})
	}
}

// The configuration's model belongs to its own agent.
func TestConfiguredBackends(t *testing.T) {
	for _, c := range []struct {
		spec, want agent.Spec
	}{
		{agent.Spec{}, agent.Spec{Agent: "claude", Model: "claude-sonnet-5", JudgeAgent: "openai", JudgeModel: "gpt-5-mini"}},
		{agent.Spec{Agent: "pi"}, agent.Spec{Agent: "pi", JudgeAgent: "openai", JudgeModel: "gpt-5-mini"}},
		{agent.Spec{Model: "opus"}, agent.Spec{Agent: "claude", Model: "opus", JudgeAgent: "openai", JudgeModel: "gpt-5-mini"}},
	} {
		b := c.spec
		if err := with(t, nil, "agent: claude\nmodel: claude-sonnet-5\njudge_agent: openai\njudge_model: gpt-5-mini\nbase_url: http://127.0.0.1:9/v1\n").Resolve(&b); err != nil {
			t.Fatal(err)
		}
		if b.Agent != c.want.Agent || b.Model != c.want.Model || b.JudgeAgent != c.want.JudgeAgent || b.JudgeModel != c.want.JudgeModel {
			t.Errorf("%+v became %+v, want %+v", c.spec, b, c.want)
		}
	}
}

// A run's prices are those of the day it began, resumed or not.
func TestPricesAreFrozen(t *testing.T) {
	b := agent.Spec{Agent: "openai", Model: "gpt-5-mini", BaseURL: "http://127.0.0.1:9/v1",
		Prices: map[string]eval.Price{"gpt-5-mini": {Input: 1, Output: 2}}}
	if err := with(t, nil, "").Resolve(&b); err != nil {
		t.Fatal(err)
	}
	if p := b.Price("gpt-5-mini"); p == nil || p.Input != 1 {
		t.Errorf("price = %+v, want the one that the run began with", p)
	}
	b = agent.Spec{Agent: "openai", Model: "gpt-5-mini", BaseURL: "http://127.0.0.1:9/v1"}
	if err := with(t, nil, "").Resolve(&b); err != nil {
		t.Fatal(err)
	}
	if p := b.Price("gpt-5-mini"); p == nil || b.PricesOf == "" || b.Price("other") != nil {
		t.Errorf("price = %+v of %q, other %v, want the table's, with its date, and none for another model", p, b.PricesOf, b.Price("other"))
	}
}

// config.yaml's model of the search belongs to its agent, and to commands that may search:
// a run that is resumed has its own choice. The owner's model is none.
func TestConfiguredSearchModel(t *testing.T) {
	const text = "agent: claude\nmodel: claude-opus-4-6\nsearch_model: claude-haiku-4-5\n"
	for _, c := range []struct {
		spec agent.Spec
		want string
	}{
		{agent.Spec{Searches: true}, "claude-haiku-4-5"},
		{agent.Spec{Searches: true, SearchModel: "sonnet"}, "sonnet"},
		{agent.Spec{Searches: true, Model: "claude-haiku-4-5"}, ""},
		{agent.Spec{Searches: true, Agent: "pi"}, ""},
		{agent.Spec{}, ""},
		{agent.Spec{SearchModel: "sonnet"}, "sonnet"},
	} {
		b := c.spec
		if err := with(t, nil, text).Resolve(&b); err != nil {
			t.Fatal(err)
		}
		if b.SearchModel != c.want || (len(b.Roles()) == 4) != (c.want != "") {
			t.Errorf("%+v searches with %q, want %q; %d roles", c.spec, b.SearchModel, c.want, len(b.Roles()))
		}
		if c.want == "claude-haiku-4-5" && b.Price(c.want) == nil {
			t.Errorf("%+v: no price is frozen for the model of the search", c.spec)
		}
	}
}

// Whoever gets the requests of either model of the agent has to be allowed.
func TestSearchModelIsSentTo(t *testing.T) {
	o := with(t, map[string]string{"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "b"}, "")
	o.Keys = new(redact.Keys)
	to := o.Recipients(&agent.Spec{Agent: "pi", Model: "anthropic/claude-opus-4-6", SearchModel: "openai/gpt-5-mini",
		ReflectAgent: "simulated", JudgeAgent: "simulated"})
	var vendors []string
	for _, r := range to[agent.Replay] {
		vendors = append(vendors, r.Vendor)
	}
	if want := []string{"anthropic", "openai"}; !slices.Equal(vendors, want) {
		t.Errorf("replays go to %v, want %v", vendors, want)
	}
}

// A forecast assumes an agent where none works. Nothing can be asked of it, and who is to
// answer gets an error as before.
func TestForecastAssumesAnAgent(t *testing.T) {
	o := with(t, map[string]string{"HOME": t.TempDir()}, "")
	o.Keys, o.Control, o.Layout = new(redact.Keys), new(outgoing.Control), &skill.Layout{Getenv: o.Getenv}
	told := ""
	o.Assume = func(name string) { told = name }
	spec := agent.Spec{Context: agent.ContextBare, Sandbox: agent.SandboxNone}
	b := spec
	if _, err := o.Backends(t.Context(), &b); err == nil || !strings.Contains(err.Error(), "no agent works yet") || told != "" {
		t.Errorf("a command that asks: %v, assumed %q", err, told)
	}
	o.Access = datadir.Tries
	b = spec
	back, err := o.Backends(t.Context(), &b)
	if err != nil {
		t.Fatal(err)
	}
	defer back.Close()
	if told != "claude" || b.Agent != "claude" || back.Agent.Identity().Backend != "claude" {
		t.Errorf("told %q, %+v", told, b)
	}
	if _, err := back.Agent.Run(t.Context(), eval.Task{Case: &eval.Case{}}); err == nil {
		t.Error("an assumed agent answered")
	}
	if _, err := back.Mutator.Complete(t.Context(), eval.Prompt{}); err == nil {
		t.Error("an assumed model answered")
	}
}

// What is asked for text alone opens its writer and nobody else, with a sandbox or without.
func TestTextOnlyOpensTheWriter(t *testing.T) {
	o := with(t, nil, "")
	o.Keys, o.Control = new(redact.Keys), new(outgoing.Control)
	b := agent.Spec{Agent: "claude", ReflectAgent: "simulated", Context: agent.ContextBare}
	if _, err := o.Backends(t.Context(), &b); err == nil {
		t.Error("an agent that is not there was opened for replays")
	}
	b.TextOnly = true
	back, err := o.Backends(t.Context(), &b)
	if err != nil {
		t.Fatal(err)
	}
	defer back.Close()
	if !back.Mutator.Identity().Simulated {
		t.Errorf("the writer is %+v", back.Mutator.Identity())
	}
	if _, err := back.Agent.Run(t.Context(), eval.Task{Case: &eval.Case{}}); err == nil {
		t.Error("an agent that was opened for nothing answered")
	}
}

// Without a sandbox an agent's own program answers text, for which it has no tools; it replays
// nothing, and a program that evolve does not know answers nothing.
func TestTextNeedsNoSandbox(t *testing.T) {
	o := with(t, map[string]string{"OPENAI_API_KEY": "sk-x"}, "") // bwrap is not on its PATH
	if process.Available() == nil {
		t.Skip("a sandbox works without a program on the PATH")
	}
	o.Keys, o.Control, o.Layout = new(redact.Keys), new(outgoing.Control), &skill.Layout{Getenv: o.Getenv}
	program := filepath.Join(t.TempDir(), "codex")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho codex-cli 0.169.0\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(program))
	for _, c := range []struct {
		spec agent.Spec
		want string // in the error, "" for none
	}{
		{agent.Spec{Agent: "codex"}, "no sandbox works here"},
		{agent.Spec{Agent: "codex", TextOnly: true}, ""},
		{agent.Spec{Agent: "command", Command: []string{program}, TextOnly: true}, "bwrap"},
	} {
		b := c.spec
		b.Context = agent.ContextBare
		back, err := o.Backends(t.Context(), &b)
		if err == nil {
			err = back.Close()
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.spec, err, c.want)
		}
	}
}
