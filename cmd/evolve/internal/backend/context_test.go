package backend

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// Replays load what their owner's agent does, unless the owner wants none of it: only the agent
// that replays, not the models, and the replays' keys depend on it.
func TestContext(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for name, text := range map[string]string{".claude/CLAUDE.md": strings.Repeat("be brief ", 50), ".claude.json": `{"mcpServers":{"github":{}}}`} {
		at := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open := func(s agent.Spec, config string) (*agent.Backends, agent.Spec) {
		t.Helper()
		o := with(t, map[string]string{"ANTHROPIC_API_KEY": "sk-x"}, config, "claude")
		o.Keys, o.Layout = new(redact.Keys), &skill.Layout{Getenv: func(string) string { return "" }}
		program := filepath.Join(os.Getenv("PATH"), "claude")
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho 2.1.329\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		s.Agent, s.Model, s.SearchModel, s.Searches, s.Sandbox = "claude", "m", "cheap", true, agent.SandboxNone
		b, err := o.Backends(t.Context(), &s)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		return b, s
	}
	own, spec := open(agent.Spec{}, "")
	bare, bareSpec := open(agent.Spec{Context: agent.ContextBare}, "")
	configured, _ := open(agent.Spec{}, "context: bare\n")
	if spec.Context != agent.ContextOwner || own.Owner == nil || spec.OwnerTokens != 113 || bareSpec.OwnerTokens != 0 || bare.Owner != nil || configured.Owner != nil {
		t.Errorf("context %q, set-up %v of %d tokens, bare %v of %d, configured %v", spec.Context, own.Owner, spec.OwnerTokens, bare.Owner, bareSpec.OwnerTokens, configured.Owner)
	}
	if got := own.Lacks(nil); !slices.Equal(got, []string{"replayed without: 1 MCP server (github)"}) {
		t.Errorf("the owner's replays lack %q", got)
	}
	if got := bare.Lacks(nil); len(got) != 1 || !strings.Contains(got[0], "--context bare") {
		t.Errorf("bare replays lack %q", got)
	}
	if a, b := own.Agent.Identity(), bare.Agent.Identity(); a == b || b != configured.Agent.Identity() || own.Search.Identity() == bare.Search.Identity() {
		t.Errorf("identities %+v and %+v, %+v", a, b, configured.Agent.Identity())
	}
	if a, b := own.Mutator.Identity(), bare.Mutator.Identity(); a != b {
		t.Errorf("the mutator is %+v with the set-up and %+v without", a, b)
	}
	if err := os.WriteFile(filepath.Join(home, ".claude", "CLAUDE.md"), []byte("be long"), 0o600); err != nil {
		t.Fatal(err)
	}
	if changed, _ := open(agent.Spec{}, ""); changed.Agent.Identity() == own.Agent.Identity() {
		t.Error("the set-up has changed, and the identity has not")
	}
	s := agent.Spec{Agent: "simulated", Context: agent.ContextOwner}
	if err := with(t, nil, "").Resolve(&s); err != nil || s.Context != "" {
		t.Errorf("an agent that loads nothing of its owner: context %q, %v", s.Context, err)
	}
	s = agent.Spec{Agent: "simulated", Context: "some"}
	if err := with(t, nil, "").Resolve(&s); err == nil || !strings.Contains(err.Error(), `unknown --context "some"`) {
		t.Errorf("err = %v", err)
	}
	if _, err := parseConfig([]byte("context: some\n")); err == nil {
		t.Error("config.yaml may hold any context")
	}
}

// What the agent loads of its owner goes to the agent's own vendor, and elsewhere only if the
// owner agreed to that.
func TestSetupElsewhere(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	at := filepath.Join(home, ".claude", "CLAUDE.md")
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte("my own words"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		server string
		agreed []string
		sent   bool
	}{
		"its own vendor":       {"", nil, true},
		"this machine":         {"http://127.0.0.1:9", nil, true},
		"another":              {"https://cheap.example.com", []string{agent.Replay}, false},
		"another that may":     {"https://cheap.example.com", []string{agent.Replay, agent.Setup}, true},
		"all kinds, unnamed":   {"https://cheap.example.com", agent.Requests, false},
		"its own, by its name": {"https://api.anthropic.com/v1", nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			o := with(t, map[string]string{"ANTHROPIC_API_KEY": "sk-x"}, "", "claude")
			o.Keys, o.Layout = new(redact.Keys), &skill.Layout{Getenv: func(string) string { return "" }}
			o.Control = &outgoing.Control{File: filepath.Join(t.TempDir(), "projects.json")}
			if err := outgoing.Agree(o.Control.File, "cheap.example.com", c.agreed...); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(os.Getenv("PATH"), "claude"), []byte("#!/bin/sh\necho 2.1.329\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			s := agent.Spec{Agent: "claude", Model: "m", BaseURL: c.server, Sandbox: agent.SandboxNone}
			b, err := o.Backends(t.Context(), &s)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			lacks := strings.Join(b.Lacks(nil), "\n")
			if b.Owner.Sent() != c.sent || strings.Contains(lacks, "not agreed for cheap.example.com") == c.sent {
				t.Errorf("set-up %+v; %s", b.Owner, lacks)
			}
		})
	}
}
