package main

import (
	"errors"
	"testing"

	"github.com/skill-evolve/evolve/tournament/sleep"
)

// TestEditedSinceThePlan: a step that was planned for another text than the live one
// spends nothing, and is no failure.
func TestEditedSinceThePlan(t *testing.T) {
	a := testApp(t)
	db, err := a.store(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := nightWork(t, a, db)
	defer s.Close()
	var overtaken *sleep.Overtaken
	r, err := s.Parts().Try(t.Context(), sleep.Task{Kind: sleep.Search, Skill: "dataviz", Run: "20261121-000000-aaaaaa", Incumbent: "another text"})
	if !errors.As(err, &overtaken) || r.Spent.AgentCalls+r.Spent.MinerCalls != 0 {
		t.Errorf("%v, spent %+v; want it overtaken by the edit", err, r.Spent)
	}
	if _, err = s.Parts().Try(t.Context(), sleep.Task{Kind: sleep.Search, Skill: "gone", Run: "20261121-000000-bbbbbb", Incumbent: "x"}); !errors.As(err, &overtaken) {
		t.Errorf("a skill that is gone: %v", err)
	}
}
