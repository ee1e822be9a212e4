package release

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// TestScriptNeedsItsOwnersWord: whatever asks for it, a script is put in place only if its owner
// gives the command and has agreed to its very bytes; and put back only at the owner's command.
func TestScriptNeedsItsOwnersWord(t *testing.T) {
	s := newSite(t)
	ctx := t.Context()
	v0, v1 := []byte("#!/bin/sh\ncase $1 in a) exit 2 ;; esac\n"), []byte("#!/bin/sh\ncase $1 in a | b) exit 2 ;; esac\n")
	path := filepath.Join(s.home, "hooks", "guard.sh")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, v0, 0o750)); err != nil {
		t.Fatal(err)
	}
	key := subject.OfHook("~", "hooks/guard.sh").Key()
	open := func() *skill.Live {
		t.Helper()
		live, err := s.in.Layout.Live(key)
		if err != nil {
			t.Fatal(err)
		}
		return live
	}
	holds := func(want []byte) {
		t.Helper()
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != string(want) || info.Mode().Perm() != 0o750 {
			t.Fatalf("%v holds %q, %v", info.Mode(), got, err)
		}
	}
	if err := s.in.Record(ctx, open()); err != nil {
		t.Fatal(err)
	}
	sha, base := skill.HashText(v1), skill.HashText(v0)
	j := s.in.Store.Journal("run-1")
	for _, err := range []error{
		j.SaveRun(ctx, &record.Run{ID: "run-1", Skill: key, Status: record.Finished, Incumbent: base, Challenger: sha, Started: day1, Ended: day1}),
		j.SaveCandidate(ctx, &record.Candidate{SHA: sha, Run: "run-1", Seq: 1, Parents: []string{base}, Operator: "reflect", State: record.Pooled, Text: v1}),
		j.SaveTrial(ctx, &record.TrialRecord{Skill: key, Incumbent: base, Challenger: sha, Run: "run-1", Decision: pareto.Promote, State: []byte(`{"version":1}`), Updated: day1})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	refused := func(what string, err error) {
		t.Helper()
		if kind, hint := problem.Of(err); err == nil || kind != problem.Refused || hint == "" {
			t.Errorf("%s: %v", what, err)
		}
		holds(v0)
	}
	promotion := func() *Plan {
		t.Helper()
		p, err := s.in.PlanPromotion(ctx, open(), Request{Force: true, Unproven: true})
		if err != nil || p.Runs() != sha {
			t.Fatalf("%+v, %v", p, err)
		}
		return p
	}
	s.in.Word = false
	for _, of := range []string{"", sha} { // a night, and one that says that it may
		p := promotion()
		p.Agree(of)
		refused("without the owner", s.apply(p, nil))
	}
	proved := record.Version{Skill: key, SHA: sha, Parent: base, Author: "evolve", Operator: "reflect", Proven: true, Text: v1}
	refused("a night", s.apply(s.in.PlanProved(ctx, open(), &proved, nil)))
	for _, night := range []bool{false, true} {
		_, err := s.in.PlanTry(ctx, open(), Request{ByNight: night})
		refused("a trial install", err)
	}
	s.in.Word = true
	for _, of := range []string{"", base, sha[:12], strings.ToUpper(sha)} {
		p := promotion()
		p.Agree(of)
		refused("other bytes: "+of, s.apply(p, nil))
	}
	if n, err := s.in.Store.Versions(ctx, key); err != nil || len(n) != 1 {
		t.Errorf("refused, and a version: %v, %v", n, err)
	}
	p := promotion()
	p.Agree(sha)
	if err := s.apply(p, nil); err != nil {
		t.Fatal(err)
	}
	holds(v1)

	s.in.Word = false
	p, err := s.in.PlanRollback(ctx, open(), Request{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.apply(p, nil); err == nil || !strings.Contains(err.Error(), "nothing but your word") {
		t.Errorf("a rollback by nobody: %v", err)
	}
	holds(v1)
	s.in.Word = true
	if err := s.apply(s.in.PlanRollback(ctx, open(), Request{})); err != nil {
		t.Fatal(err)
	}
	holds(v0)
	if _, err := s.in.Next(ctx, open(), store.OpTry, Request{}); err == nil {
		t.Error("tried in place")
	}
}
