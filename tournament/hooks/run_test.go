package hooks_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/store/lock"
	"github.com/skill-evolve/evolve/tournament/hooks"
	"github.com/skill-evolve/evolve/tournament/record"
)

// broken is a model that does not answer.
type broken struct{ *model }

func (broken) Complete(context.Context, eval.Prompt) (eval.Completion, error) {
	return eval.Completion{}, eval.Infraf(eval.Unreachable, "no answer")
}

func unanswered(err error) bool {
	_, ok := errors.AsType[*eval.InfraError](err)
	return ok
}

func ids(of []hooks.Session) (out []string) {
	for i := range of {
		out = append(out, of[i].ID)
	}
	return out
}

// A run that goes on keeps nothing for its trial that it has searched in, whatever sessions there
// are by then: a model may have seen them.
func TestRunThatGoesOn(t *testing.T) {
	dir := t.TempDir()
	db, err := store.Open(t.Context(), filepath.Join(dir, "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	p := &playing{map[string]int{}}
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	begin := func(all []hooks.Session) *hooks.Run {
		t.Helper()
		now = now.Add(time.Minute)
		r := &hooks.Run{Store: db, Locks: lock.Locks{Dir: datadir.Dir(dir), Now: time.Now}, Live: &skill.Live{Entry: skill.Entry{Name: "hook:~:x.sh"}, Doc: doc(t, text("commit"))},
			Spec: agent.Spec{}, Budget: eval.NewBudget(eval.Caps{}, time.Now), Sessions: all, Play: p.play, Now: func() time.Time { return now },
			Options: hooks.Options{Seed: -1, Calls: 2, Patience: 2, Weight: 5, Event: "PreToolUse"}}
		if err := r.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		return r
	}
	do := func(r *hooks.Run, m eval.Model) error {
		_, err := r.Do(t.Context(), func(string) eval.Model { return m })
		return err
	}
	all := sessions(30)
	first := begin(all[10:20])
	searched, held := first.Divide()
	if len(searched) != 6 || len(held) != 4 {
		t.Fatalf("%d to search, %d held", len(searched), len(held))
	}
	if err := do(first, broken{}); !unanswered(err) {
		t.Fatal(err)
	}

	// Older sessions got labels meanwhile, and newer ones took place.
	again := begin(all)
	search, held := again.Divide()
	if got := ids(search); !slices.Equal(got, ids(searched)) {
		t.Errorf("it searches in %v, and began with %v", got, ids(searched))
	}
	if len(held) != 24 {
		t.Errorf("%d of 24 sessions are kept", len(held))
	}
	if err := do(begin(all[13:20]), broken{}); !unanswered(err) { // some are not read this time
		t.Fatal(err)
	}
	search, _ = begin(all).Divide()
	if got := ids(search); !slices.Equal(got, ids(searched)) {
		t.Errorf("what was not there for a time may be heard: %v", got)
	}
}

// The trial of a text that its owner has rejected does not go on.
func TestRunLeavesARejectedTrial(t *testing.T) {
	dir := t.TempDir()
	db, err := store.Open(t.Context(), filepath.Join(dir, "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	p, live := &playing{map[string]int{}}, &skill.Live{Entry: skill.Entry{Name: "hook:~:x.sh"}, Doc: doc(t, text("nothing"))}
	next := doc(t, text("force"))
	j := db.Journal("r")
	if err := j.SaveRun(t.Context(), &record.Run{ID: "r", Skill: live.Name, Status: record.Finished, Incumbent: live.Doc.Hash(), Config: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	if err := j.SaveCandidate(t.Context(), &record.Candidate{SHA: next.Hash(), Run: "r", Operator: "reflect", State: record.Pooled, Text: next.Render()}); err != nil {
		t.Fatal(err)
	}
	e := &hooks.Engine{Play: p.play, Log: &record.Log{Journal: j, Run: "r", Now: time.Now}, Options: hooks.Options{Weight: 5}}
	if v := try(t, e, text("nothing"), text("force"), sessions(3)); !v.Decision.Verdict.IsOpen() {
		t.Fatal(v.Decision.Verdict)
	}
	goesOn := func() bool {
		t.Helper()
		r := &hooks.Run{Store: db, Locks: lock.Locks{Dir: datadir.Dir(dir), Now: time.Now}, Live: live, Now: time.Now, Options: hooks.Options{Seed: -1}}
		if err := r.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		return !r.Searches()
	}
	if !goesOn() {
		t.Error("an open trial does not go on")
	}
	if _, err := db.Decide(t.Context(), store.Decision{Skill: live.Name, SHA: next.Hash(), Word: store.Rejected}); err != nil {
		t.Fatal(err)
	}
	if goesOn() {
		t.Error("the trial of a rejected text goes on")
	}
}

// One file under two names has one set of sessions that are evidence.
func TestLinkedScript(t *testing.T) {
	dir := t.TempDir()
	db, err := store.Open(t.Context(), filepath.Join(dir, "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, err := range []error{os.WriteFile(filepath.Join(dir, "x.sh"), []byte(text("commit")), 0o700), os.Symlink("x.sh", filepath.Join(dir, "link.sh")),
		os.WriteFile(filepath.Join(dir, "other.sh"), []byte(text("commit")), 0o700)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	j := db.Journal("r")
	if err := j.SaveRun(t.Context(), &record.Run{ID: "r", Skill: "hook:~:link.sh", Config: []byte(`{"hook":true,"search":["claude/00"]}`), Started: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if err := j.SpendCase(t.Context(), "hook:~:link.sh", "a", "b", "claude/09", ""); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"x.sh": true, "other.sh": false} {
		r := &hooks.Run{Store: db, Locks: lock.Locks{Dir: datadir.Dir(dir), Now: time.Now}, Live: &skill.Live{Entry: skill.Entry{Name: "hook:~:" + name, Path: filepath.Join(dir, name)}, Doc: doc(t, text("commit"))},
			Sessions: sessions(10), Now: time.Now, Path: func(key string) (string, error) { return filepath.Join(dir, strings.TrimPrefix(key, "hook:~:")), nil }}
		if err := r.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, held := r.Divide()
		if got := !slices.Contains(ids(held), "claude/09"); got != want {
			t.Errorf("%s: left out of the trial: %v", name, got)
		}
	}
}
