package openai

import (
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/agenttest"
)

func TestConformance(t *testing.T) {
	agenttest.Run(t, agenttest.Harness{
		New: func(t *testing.T, s *agenttest.Server, key string) eval.Agent {
			t.Helper()
			c, err := New(Config{BaseURL: s.URL, APIKey: key, Model: "scripted", HTTPClient: s.Client})
			if err != nil {
				t.Fatal(err)
			}
			return c
		},
	})
}

func TestModelConformance(t *testing.T) {
	agenttest.RunModel(t, func(t *testing.T, s *agenttest.Server, key string) eval.Model {
		t.Helper()
		c, err := New(Config{BaseURL: s.URL, APIKey: key, Model: "scripted", HTTPClient: s.Client})
		if err != nil {
			t.Fatal(err)
		}
		return c
	})
}
