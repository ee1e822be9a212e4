package pi

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

func TestRoute(t *testing.T) {
	for name, c := range map[string]struct {
		model, base string
		credentials []string
		provider    string
		id          string
		env         string // the variable that is handed on
		host        string
		params      string
		err         string
	}{
		"the key that is there": {credentials: []string{"OPENAI_API_KEY=k\n"}, provider: "openai", env: "OPENAI_API_KEY=k", host: "api.openai.com:443"},
		"the first of two":      {credentials: []string{"OPENAI_API_KEY=k", "ANTHROPIC_API_KEY=k"}, provider: "anthropic", env: "ANTHROPIC_API_KEY=k"},
		"an empty key is none":  {credentials: []string{"ANTHROPIC_API_KEY=", "OPENAI_API_KEY=k"}, provider: "openai"},
		"a bare model":          {model: "gpt-5", credentials: []string{"OPENAI_API_KEY=k"}, provider: "openai", id: "gpt-5"},
		"a named provider":      {model: "openai/gpt-5", credentials: []string{"ANTHROPIC_API_KEY=k", "OPENAI_API_KEY=k"}, provider: "openai", id: "gpt-5", env: "OPENAI_API_KEY=k"},
		"an aggregator":         {model: "anthropic/claude-x", credentials: []string{"OPENROUTER_API_KEY=k"}, provider: "openrouter", id: "anthropic/claude-x"},
		"named aggregator":      {model: "openrouter/anthropic/claude-x", credentials: []string{"OPENROUTER_API_KEY=k"}, provider: "openrouter", id: "anthropic/claude-x"},
		"no key":                {err: "export ANTHROPIC_API_KEY="},
		"no key for it":         {model: "groq/llama", credentials: []string{"OPENAI_API_KEY=k"}, err: "export GROQ_API_KEY="},
		"no such provider":      {model: "grog/llama", credentials: []string{"OPENAI_API_KEY=k"}, err: `no provider "grog"`},
		"own server": {model: "org/llama:7b", base: "http://127.0.0.1:8080/v1/", provider: custom, id: "org/llama:7b", host: "127.0.0.1:8080",
			params: "provider=custom base=127.0.0.1:8080/v1/ api=openai-completions"},
		"own server's key": {model: "m", base: "https://models.example/v1", credentials: []string{"GROQ_API_KEY=g", "OPENAI_API_KEY=k"},
			provider: custom, id: "m", env: "OPENAI_API_KEY=k", host: "models.example:443"},
		"anthropic's wire": {model: "anthropic/claude-x", base: "https://proxy.example/a/v1", credentials: []string{"OPENAI_API_KEY=k", "ANTHROPIC_API_KEY=a"},
			provider: custom, id: "claude-x", env: "ANTHROPIC_API_KEY=a", params: "provider=custom base=proxy.example/a api=anthropic-messages"},
		"a base without a model":  {base: "http://127.0.0.1:8080", err: "needs the name of a model"},
		"a base with a password":  {model: "m", base: "http://u:p@127.0.0.1:8080", err: "no password"},
		"a base that is no URL":   {model: "m", base: "localhost:8080", err: "not an http"},
		"a base of another sort":  {model: "m", base: "ftp://x", err: "not an http"},
		"a base that holds a key": {model: "m", base: "http://x?key=1", err: "no password and no query"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := routeOf(replay.Config{Model: c.model, BaseURL: c.base, Credentials: c.credentials})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("err = %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if r.provider != c.provider || r.model != c.id ||
				c.env != "" && !slices.Equal(r.env, []string{c.env}) ||
				c.host != "" && !slices.Equal(r.hosts, []string{c.host}) ||
				c.params != "" && r.params() != c.params {
				t.Errorf("route = %+v, params %q", r, r.params())
			}
		})
	}
}

// The key is passed on in the environment and is never written to disk.
func TestConfigHoldsNoKey(t *testing.T) {
	const secret = "sk-0123456789"
	for _, c := range []replay.Config{
		{Model: "m", BaseURL: "http://127.0.0.1:1/v1", Credentials: []string{"OPENAI_API_KEY=" + secret}},
		{Model: "m", BaseURL: "http://127.0.0.1:1/v1"},
		{Model: "openai/gpt-5:high", Credentials: []string{"OPENAI_API_KEY=" + secret}},
	} {
		r, err := routeOf(c)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "pi")
		if err := r.writeConfig(dir, 77); err != nil {
			t.Fatal(err)
		}
		var models struct {
			Providers map[string]struct {
				APIKey         string                    `json:"apiKey"`
				Models         []map[string]any          `json:"models"`
				ModelOverrides map[string]map[string]any `json:"modelOverrides"`
			} `json:"providers"`
		}
		text, err := os.ReadFile(filepath.Join(dir, "models.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &models); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), secret) {
			t.Errorf("the key stands in %s", text)
		}
		p := models.Providers[r.provider]
		switch {
		case r.base == nil && p.ModelOverrides["gpt-5"]["maxTokens"] != 77.0,
			r.base != nil && (len(p.Models) != 1 || p.Models[0]["maxTokens"] != 77.0),
			r.base != nil && len(r.env) > 0 && p.APIKey != "$OPENAI_API_KEY",
			r.base != nil && len(r.env) == 0 && p.APIKey != "none":
			t.Errorf("models.json = %s", text)
		}
	}
}

func TestCredentialsAreDistinct(t *testing.T) {
	seen := make(map[string]bool)
	for _, name := range Credentials {
		if seen[name] || name == "" {
			t.Errorf("%q is named twice", name)
		}
		seen[name] = true
	}
	for _, p := range providers {
		if !strings.HasSuffix(p.host, ":443") || len(p.keys) == 0 {
			t.Errorf("provider %+v", p)
		}
	}
}

// A missing key is another error than a missing program, because each needs another
// hint.
func TestNoKeyIsAuth(t *testing.T) {
	for _, model := range []string{"", "groq/llama"} {
		_, err := routeOf(replay.Config{Model: model})
		if infra := new(eval.InfraError); !errors.As(err, &infra) || infra.Kind != eval.Auth {
			t.Errorf("model %q: %v", model, err)
		}
	}
}
