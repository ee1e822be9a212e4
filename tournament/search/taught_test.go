package search

import (
	"encoding/json"
	"testing"

	"github.com/skill-evolve/evolve/eval/agent/simulated/worldstest"
)

// TestEveryReflectionSaysWhatTaughtIt: a text that a reflection made cites
// train cases, even if some of its lines were removed because they obstructed
// each other.
func TestEveryReflectionSaysWhatTaughtIt(t *testing.T) {
	apart := 0
	for seed := range int64(4) {
		_, res, m := searchWorld(t, worldstest.Conflicting(seed, 0.05), 300, seed)
		untangled := map[string]bool{}
		for _, e := range m.Events {
			var d struct {
				SHA string `json:"sha256"`
			}
			if e.Kind == "untangled" && json.Unmarshal(e.Data, &d) == nil {
				untangled[d.SHA] = true
			}
		}
		for _, c := range res.Pool {
			if c.Operator != "reflect" {
				continue
			}
			if untangled[c.SHA] {
				apart++
			}
			if len(c.Taught) == 0 {
				t.Errorf("seed %d: %.12s cites no case, taken apart: %v", seed, c.SHA, untangled[c.SHA])
			}
		}
	}
	if apart == 0 {
		t.Error("no text of a pool had lines taken out: this shows too little")
	}
}
