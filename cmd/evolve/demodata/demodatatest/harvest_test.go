package demodatatest

import (
	"path/filepath"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/simulated"
	"github.com/skill-evolve/evolve/eval/splits"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/claude"
	"github.com/skill-evolve/evolve/harvest/reading"
)

// The committed files must come through the real harvest as what they were
// planned to be: enough independent cases of both kinds for the gate to decide.
func TestHarvestMinesTheHistory(t *testing.T) {
	w := simulated.Demo()
	var sessions []*harvest.Session
	source := claude.Kind.Source(filepath.Join("..", "home", ".claude"), harvest.Options{})
	problems, err := source.Sessions(t.Context(), nil, func(s *harvest.Session) error {
		harvest.Assess(s)
		sessions = append(sessions, s)
		return nil
	})
	if err != nil || len(problems) > 0 {
		t.Fatalf("read sessions: %v, problems %v", err, problems)
	}
	_, stats, err := harvest.Mine(t.Context(), sessions, w.Skill, harvest.Miner{Model: w.Model()})
	if err != nil {
		t.Fatal(err)
	}
	if stats.Corrected < 50 || stats.Accepted < 25 || stats.Rejected == 0 || stats.Unknown == 0 {
		t.Errorf("mined %+v: want 50 corrected, 25 accepted, and some that are neither", stats)
	}
	if len(stats.Fallbacks) > 0 {
		t.Errorf("the miner's checks were not used: %v", stats.Fallbacks)
	}
	// In the demo, a model then reads what is not sure without one.
	reader := reading.Reader{Model: w.Model()}
	if _, err := reader.Uses(t.Context(), sessions, w.Skill); err != nil {
		t.Fatal(err)
	}
	cases, read, err := harvest.Mine(t.Context(), sessions, w.Skill, harvest.Miner{Model: w.Model()})
	if err != nil || read.Corrected < stats.Corrected {
		t.Fatalf("read: %+v, %v; before: %+v", read, err, stats)
	}
	splits.Assign(cases)
	heldOut := map[string]bool{}
	var test []eval.Case
	for _, c := range cases {
		if c.Split == eval.Test {
			heldOut[c.Cluster] = true
			test = append(test, c)
		}
	}
	if len(heldOut) < 25 {
		t.Errorf("%d clusters are held out, want 25", len(heldOut))
	}
	if q := w.Oracle(w.Seed(), test); q < 0.25 || q > 0.5 {
		t.Errorf("quality of the seed on held-out cases %.3f, want it in [0.25, 0.5]", q)
	}
}
