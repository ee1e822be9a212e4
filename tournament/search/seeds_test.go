package search

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/simulated"
	"github.com/skill-evolve/evolve/eval/agent/simulated/worldstest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// seeded runs one search of a world with seeds and barred texts.
func seeded(t *testing.T, w simulated.World, opt Options, rollouts int64) (*Result, *recordtest.Memory) {
	t.Helper()
	doc, err := skill.Parse([]byte(w.Seed()), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	journal := &recordtest.Memory{}
	e := &Engine{
		Evaluator: &eval.Evaluator{Agent: w.Agent(), Grader: &eval.Checks{}, Budget: eval.NewBudget(eval.Caps{Rollouts: rollouts}, nil), Recorder: journal, Concurrency: 4},
		Mutator:   w.Model(), Options: opt,
		Log: &record.Log{Journal: journal, Run: "r", Now: func() time.Time { return time.Unix(0, 0) }},
	}
	res, err := e.Search(context.Background(), eval.Variant{Name: doc.Name(), Doc: doc}, split(w.Cases(30, 30, 60)))
	if err != nil {
		t.Fatal(err)
	}
	return res, journal
}

// TestSeeds: a good text that is in the pool from the start wins, a bad one
// does not; one with another kernel is never run; a rejected one is not
// tried, although it is a seed.
func TestSeeds(t *testing.T) {
	w := worldstest.Additive(3, 12, 0.02)
	found, _ := seeded(t, w, Options{Seed: 1}, 600)
	if found.Challenger == nil {
		t.Fatal("the search finds nothing: this test shows nothing")
	}
	good := record.Candidate{SHA: found.Challenger.SHA, Operator: "reflect", Taught: []string{"a-case"}, Text: found.Challenger.Text}
	asSeed := func(text string) record.Candidate {
		return record.Candidate{SHA: skill.HashText([]byte(text)), Operator: "reflect", Text: []byte(text)}
	}
	bad := asSeed(w.Seed() + "\nSing.\n")
	other := asSeed(strings.Replace(w.Seed(), "\n---\n", "\nlicense: other\n---\n", 1))
	if bad.SHA == good.SHA || other.SHA == skill.HashText([]byte(w.Seed())) {
		t.Fatal("the seeds are not what they should be")
	}

	// With so small a budget nothing else can win.
	res, journal := seeded(t, w, Options{Seed: 2, Seeds: []record.Candidate{bad, other, good, good}, MaxRounds: 1, Moves: []Move{prune}}, 400)
	if res.Challenger == nil || res.Challenger.SHA != good.SHA {
		t.Errorf("the challenger is %v, not the good seed", res.Challenger)
	}
	if res.Stats.Seeds != 2 {
		t.Errorf("%d seeds in the pool, want 2", res.Stats.Seeds)
	}
	states := map[string]record.CandidateState{}
	for _, c := range journal.Candidates {
		states[c.SHA] = c.State
		if c.SHA == good.SHA && (len(c.Taught) != 1 || len(c.Parents) != 1) {
			t.Errorf("the seed is recorded as %+v", c)
		}
	}
	if states[good.SHA] != record.Pooled || states[bad.SHA] != record.Pooled || states[other.SHA] != record.Invalid {
		t.Errorf("states: %v", states)
	}
	for _, r := range journal.Rollouts {
		if r.Candidate == other.SHA {
			t.Fatal("a text with another kernel was run")
		}
	}

	res, journal = seeded(t, w, Options{Seed: 2, Seeds: []record.Candidate{good}, Excluded: []string{good.SHA}, MaxRounds: 1, Moves: []Move{prune}}, 400)
	for _, c := range journal.Candidates {
		if c.SHA == good.SHA {
			t.Errorf("a barred text was tried: %s", c.State)
		}
	}
	if res.Stats.Seeds != 0 {
		t.Errorf("%d seeds", res.Stats.Seeds)
	}
}

// TestBarred: a text that the search would come to is left out once it is barred.
func TestBarred(t *testing.T) {
	w := worldstest.Additive(3, 12, 0.02)
	_, journal := seeded(t, w, Options{Seed: 1}, 300)
	var first string
	for _, c := range journal.Candidates {
		if c.State != record.Seed {
			first = c.SHA
			break
		}
	}
	if first == "" {
		t.Fatal("nothing was proposed: this test shows nothing")
	}
	_, journal = seeded(t, w, Options{Seed: 1, Excluded: []string{first}}, 300)
	for _, c := range journal.Candidates {
		if c.SHA == first {
			t.Errorf("a barred text was proposed again: %s", c.State)
		}
	}
	if len(journal.Candidates) < 2 {
		t.Error("nothing else was tried")
	}
}
