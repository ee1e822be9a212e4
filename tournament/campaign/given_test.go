package campaign

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A given text that repeats a changed line of a suggestion is a child of it, so that it is
// frozen with it; one that shares only what the live text has is not.
func TestGivenComesOfASuggestion(t *testing.T) {
	const own = "---\nname: charts\ndescription: Draws charts.\n---\n\n- Label the axes.\n"
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	doc, err := skill.Parse([]byte(own), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	live := &skill.Live{Entry: skill.Entry{Name: "charts"}, Doc: doc}
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	run := record.NewID(at)
	j := db.Journal(run)
	if err := j.SaveRun(t.Context(), &record.Run{ID: run, Skill: "charts", Status: record.Finished, Incumbent: doc.Hash(), Started: at, Ended: at, Config: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	suggested := []byte(own + "- Sort the bars by value.\n- Never draw a pie.\n")
	s := record.Candidate{SHA: skill.HashText(suggested), Run: run, Seq: 1, Parents: []string{doc.Hash()}, Operator: record.Suggested, State: record.Pooled, Text: suggested}
	if err := j.SaveCandidate(t.Context(), &s); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text string
		of   bool
	}{
		"a line of it":              {own + "- Never draw a pie.\n- Name the river.\n", true},
		"in another place":          {"---\nname: charts\ndescription: Draws charts.\n---\n\n- Sort the bars by value.\n- Label the axes.\n", true},
		"none of it":                {own + "- Name the river.\n", false},
		"what the live text lost":   {"---\nname: charts\ndescription: Draws charts.\n---\n\nDraw.\n", false},
		"the suggestion itself":     {string(suggested), false},
		"the live text, other ends": {own + "\n", false},
	} {
		got, err := given(t.Context(), db, live, []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		want := []string{doc.Hash()}
		if c.of {
			want = append(want, s.SHA)
		}
		if !slices.Equal(got.Parents, want) {
			t.Errorf("%s: %v, want %v", name, got.Parents, want)
		}
		// Held by the firewall, it is stored as it is: whatever begins with it later is frozen.
		got.Run, got.Seq, got.State = run, 2, record.Quarantined
		if !c.of {
			continue
		}
		if err := j.SaveCandidate(t.Context(), got); err != nil {
			t.Fatal(err)
		}
		spent, err := db.Journal("").SpentCases(t.Context(), "charts")
		if err != nil || !spent.Frozen[got.SHA].Equal(at) {
			t.Errorf("%s is frozen at %v (%v)", name, spent.Frozen[got.SHA], err)
		}
	}
}
