package main

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/store/datadir"
)

// TestNightKnowsItsKeys: what a night stores is free of the keys of the backends that it
// has opened, whatever they are made of and however their variables are named.
func TestNightKnowsItsKeys(t *testing.T) {
	const key = "zq81-plain-key-of-no-form-77"
	t.Setenv("LLM_AUTH", key)
	a := testApp(t)
	getenv := a.Getenv
	a.Getenv = func(name string) string {
		if name == "LLM_AUTH" {
			return key
		}
		return getenv(name)
	}
	a.access = datadir.Writes
	db, err := a.store(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := nightWork(t, a, db)
	back, err := s.Runner.Backends(t.Context(), &agent.Spec{Agent: "simulated", APIKeyEnv: "LLM_AUTH"})
	if err != nil {
		t.Fatal(err)
	}
	defer back.Close()
	if got, _ := s.Ingester.Redactor.Redact("my key is " + key); strings.Contains(got, key) {
		t.Errorf("cases and forecasts would hold %q", got)
	}
}
