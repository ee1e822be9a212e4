package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/search"
)

// TestNoiseIsTold: the search's measurement of noise is read from its event,
// and each of its steps is described.
func TestNoiseIsTold(t *testing.T) {
	event := func(kind string, data any) record.Event {
		raw, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		return record.Event{Kind: kind, Data: raw}
	}
	noise := search.Noise{Cases: 30, Pairs: 42, Quality: 0.18}
	events := []record.Event{
		event("untangled", map[string]any{"sha256": "aa", "from": "bb", "lines": 2, "gain": 0.5, "cases": 3}),
		event("confirmed", map[string]any{"sha256": "aa", "quality": 0.75, "cases": 30}),
		event("noise", map[string]any{"noise": noise}),
		event("united", map[string]any{"sha256": "aa", "operator": "reflect", "proposals": 3}),
	}
	if got := noiseOf(events); got != noise {
		t.Errorf("noise %+v, want %+v", got, noise)
	}
	if got := noiseOf(events[:2]); got != (search.Noise{}) {
		t.Errorf("noise %+v where none was measured", got)
	}
	for i, want := range []string{"bb without 2 lines that stand in others' way: helps, +0.50 on 3 train cases",
		"aa scores 0.75 on 30 validation cases", "±0.18",
		"aa states once what 3 proposals say alike"} {
		if got := Timeline(events)[i].Text; !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}
