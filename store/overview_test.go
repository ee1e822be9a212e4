package store

import (
	"reflect"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament/record"
)

func TestOverview(t *testing.T) {
	s, ctx := open(t), t.Context()
	if n, err := s.CountSessions(ctx); err != nil || n != 0 {
		t.Errorf("%d sessions in an empty store, %v", n, err)
	}
	must(t, s.SaveSession(ctx, session("s1", "/a")))
	must(t, s.SaveSession(ctx, session("s1", "/b"))) // resumed into another file
	if n, err := s.CountSessions(ctx); err != nil || n != 2 {
		t.Errorf("%d sessions, %v", n, err)
	}
	test, dropped := aCase("b"), aCase("c")
	test.Split = eval.Test
	save(t, s, 3, 0, aCase("a"), test, dropped)
	must(t, s.DropCase(ctx, "dataviz", "c"))
	want := map[string]map[eval.Split]int{"dataviz": {aCase("a").Split: 1, eval.Test: 1}}
	if got, err := s.CaseCounts(ctx); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("cases %v, %v; want %v", got, err, want)
	}
	for skill, state := range map[string]record.CandidateState{"held": record.Quarantined, "free": record.Pooled} {
		must(t, s.Journal(skill).SaveRun(ctx, &record.Run{ID: skill, Skill: skill}))
		must(t, s.Journal(skill).SaveCandidate(ctx, &record.Candidate{SHA: skill, Run: skill, State: state}))
	}
	must(t, s.Journal("suggested").SaveRun(ctx, &record.Run{ID: "suggested", Skill: "suggested"}))
	must(t, s.Journal("suggested").SaveCandidate(ctx, &record.Candidate{SHA: "suggested", Run: "suggested", State: record.Pooled, Operator: record.Suggested}))
	if _, err := s.Decide(ctx, Decision{Skill: "said", SHA: "x", Word: Rejected}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Flagged(ctx); err != nil || !reflect.DeepEqual(got, map[string]bool{"held": true, "said": true, "suggested": true}) {
		t.Errorf("flagged %v, %v", got, err)
	}
}
