package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
)

// with returns an app whose environment is env and whose PATH holds nothing but
// the named programs.
func with(t *testing.T, env map[string]string, programs ...string) *app {
	t.Helper()
	bin := t.TempDir()
	for _, p := range programs {
		if err := os.WriteFile(filepath.Join(bin, p), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	a := newApp(nil, nil, nil)
	home := t.TempDir()
	a.Getenv = func(name string) string {
		if name == "EVOLVE_HOME" {
			return home
		}
		return env[name]
	}
	return a
}

// Where no agent is named, the first that works is taken: a program with a key,
// or a server that was named; never the simulated one, never a key alone.
func TestChoice(t *testing.T) {
	key := map[string]string{"OPENAI_API_KEY": "sk-x"}
	for _, c := range []struct {
		name     string
		flags    backendFlags
		env      map[string]string
		programs []string
		want     string // the agent, or the error
	}{
		{"nothing", backendFlags{}, nil, nil, "no agent works yet"},
		{"a key without a model", backendFlags{}, key, nil, "the openai backend needs --model"},
		{"a key and a model", backendFlags{Spec: agent.Spec{Model: "gpt-5-mini"}}, key, nil, "openai"},
		{"a server", backendFlags{Spec: agent.Spec{Model: "m", BaseURL: "http://127.0.0.1:1/v1"}}, nil, []string{"claude"}, "openai"},
		{"claude without a key", backendFlags{}, nil, []string{"claude"}, "without a key: claude"},
		{"claude and its key", backendFlags{}, map[string]string{"ANTHROPIC_API_KEY": "x"}, []string{"claude", "pi"}, "claude"},
		{"claude's token", backendFlags{}, map[string]string{"CLAUDE_CODE_OAUTH_TOKEN": "x"}, []string{"claude"}, "claude"},
		{"a key of OpenAI, a model of Anthropic", backendFlags{Spec: agent.Spec{Model: "sonnet"}},
			map[string]string{"OPENAI_API_KEY": "x", "ANTHROPIC_API_KEY": "y"}, []string{"claude"}, "claude"},
		{"named", backendFlags{Spec: agent.Spec{Agent: "simulated"}}, key, []string{"claude"}, "simulated"},
		{"mistyped", backendFlags{Spec: agent.Spec{Agent: "cluade"}}, key, nil, `unknown backend "cluade"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := with(t, c.env, c.programs...)
			b := c.flags
			err := b.resolve(a)
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

// What the configuration says of a model is about its own agent.
func TestConfiguredBackends(t *testing.T) {
	for _, c := range []struct {
		flags, want backendFlags
	}{
		{backendFlags{}, backendFlags{Spec: agent.Spec{Agent: "claude", Model: "claude-sonnet-5", JudgeAgent: "openai", JudgeModel: "gpt-5-mini"}}},
		{backendFlags{Spec: agent.Spec{Agent: "pi"}}, backendFlags{Spec: agent.Spec{Agent: "pi", JudgeAgent: "openai", JudgeModel: "gpt-5-mini"}}},
		{backendFlags{Spec: agent.Spec{Model: "opus"}}, backendFlags{Spec: agent.Spec{Agent: "claude", Model: "opus", JudgeAgent: "openai", JudgeModel: "gpt-5-mini"}}},
	} {
		a := with(t, nil)
		path, err := a.configFile()
		if err != nil {
			t.Fatal(err)
		}
		text := "agent: claude\nmodel: claude-sonnet-5\njudge_agent: openai\njudge_model: gpt-5-mini\nbase_url: http://127.0.0.1:9/v1\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		b := c.flags
		if err := b.resolve(a); err != nil {
			t.Fatal(err)
		}
		if b.Agent != c.want.Agent || b.Model != c.want.Model || b.JudgeAgent != c.want.JudgeAgent || b.JudgeModel != c.want.JudgeModel {
			t.Errorf("%+v became %+v, want %+v", c.flags, b, c.want)
		}
	}
}

// A run's prices are those of the day it began, resumed or not.
func TestPricesAreFrozen(t *testing.T) {
	b := backendFlags{Spec: agent.Spec{Agent: "openai", Model: "gpt-5-mini", BaseURL: "http://127.0.0.1:9/v1",
		Prices: map[string]eval.Price{"gpt-5-mini": {Input: 1, Output: 2}}}}
	if err := b.resolve(with(t, nil)); err != nil {
		t.Fatal(err)
	}
	if p := b.Price("gpt-5-mini"); p == nil || p.Input != 1 {
		t.Errorf("price = %+v, want the one that the run began with", p)
	}
	b = backendFlags{Spec: agent.Spec{Agent: "openai", Model: "gpt-5-mini", BaseURL: "http://127.0.0.1:9/v1"}}
	if err := b.resolve(with(t, nil)); err != nil {
		t.Fatal(err)
	}
	if p := b.Price("gpt-5-mini"); p == nil || b.PricesOf == "" || b.Price("other") != nil {
		t.Errorf("price = %+v of %q, other %v, want the table's, with its date, and none for another model", p, b.PricesOf, b.Price("other"))
	}
}
