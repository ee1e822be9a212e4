package release

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
	"pgregory.net/rapid"
)

// TestRollbacksEnd: whatever was installed, edited and put back, a rollback of what
// was just installed leads to what it replaced, and continuing it ends, with what
// was found, in no more steps than there were texts put in place.
func TestRollbacksEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := Timeline{{SHA: "v0"}}
		live := func() string { return h[len(h)-1].SHA }
		for range rapid.IntRange(0, 12).Draw(t, "steps") {
			text := fmt.Sprint("v", rapid.IntRange(0, 4).Draw(t, "text"))
			kind := rapid.SampledFrom([]stayKind{byPromote, byEdit, byRollback}).Draw(t, "kind")
			if kind == byRollback { // as the command does it, or to a version by its name
				if steps, known := h.before(live()); known && len(steps) > 0 && rapid.Bool().Draw(t, "unnamed") {
					text = steps[0].SHA
				}
			}
			was := live()
			if text == was {
				continue
			}
			h = append(h, Stay{SHA: text, by: kind})
			if steps, known := h.before(text); kind != byRollback && (!known || len(steps) == 0 || steps[0].SHA != was) {
				t.Fatalf("%v: back to %v, want %s", h, steps, was)
			}
		}
		most := len(h)
		for n := 0; ; n++ {
			steps, known := h.before(live())
			if !known {
				t.Fatalf("%v: nobody knows what was there", h)
			}
			if len(steps) == 0 {
				break
			}
			if n > most {
				t.Fatalf("%v: %d rollbacks do not end", h, n)
			}
			h = append(h, Stay{SHA: steps[0].SHA, by: byRollback})
		}
		if live() != "v0" {
			t.Fatalf("%v: it ends with %s", h, live())
		}
	})
}

// TestHistorian: several edits between two installations are reconstructed
// from what each was made from; a text that was not recorded leaves a gap.
func TestHistorian(t *testing.T) {
	at := func(h int) time.Time { return day1.Add(time.Duration(h) * time.Hour) }
	versions := []record.Version{{N: 0, SHA: "v0", Author: "you", Created: at(0)}, {N: 1, SHA: "v1", Parent: "v0", Author: "evolve", Created: at(1)},
		{N: 2, SHA: "e2", Parent: "v1", Author: "you", Created: at(2)}, {N: 3, SHA: "e3", Parent: "e2", Author: "you", Created: at(3)}}
	for _, c := range []struct {
		sha  string
		at   int
		want Timeline
	}{
		{"v1", 4, nil},
		{"e3", 4, Timeline{{"e2", at(2), byEdit}, {"e3", at(3), byEdit}}},
		{"e2", 2, Timeline{{"e2", at(2), byEdit}}},
		{"v0", 4, Timeline{{"", at(1), byNobody}, {"v0", at(4), byReturn}}},
		{"e3", 2, Timeline{{"", at(1), byNobody}, {"e3", at(2), byReturn}}}, // it was recorded only later
	} {
		was := Timeline{{SHA: "v0"}, {"v1", at(1), byPromote}}
		h := &builder{versions: versions, out: slices.Clone(was)}
		h.found(c.sha, at(c.at))
		if got := h.out[len(was):]; !slices.Equal(got, c.want) {
			t.Errorf("%s at hour %d: %v, want %v", c.sha, c.at, got, c.want)
		}
	}
}

// TestReplacedWithoutHistory: if the store has no history of a place, a
// rollback returns to the text that a version was made from.
func TestReplacedWithoutHistory(t *testing.T) {
	r := newSite(t)
	r.install()
	sha := r.offer.SHA
	got, err := Replaced(t.Context(), r.in.Store, "tagger", "/moved/tagger/SKILL.md", sha, true)
	if err != nil || !slices.Equal(got, []string{r.offer.Parent}) {
		t.Errorf("before it %q, %v; want its parent", got, err)
	}
	if h, err := TimelineOf(t.Context(), r.in.Store, "tagger", "/moved/tagger/SKILL.md", false); h != nil || err != nil {
		t.Errorf("history of an unknown place: %v, %v", h, err)
	}
	if out := rolledBackTexts([]store.Install{{From: "b", To: "a", Op: store.OpRollback, Outcome: Installed, Ended: day1}, {From: "a", To: "b", Outcome: Installed, Ended: day1.Add(-1)}}); len(out) != 1 || !out["b"].Equal(day1) {
		t.Errorf("rolled back: %v", out)
	}
}
