package record

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"pgregory.net/rapid"
)

// TestNothingBeforeASuggestion: of the clusters that a trial of a text that comes of a
// suggestion may use, every case is of a use after it had read the last of what it knows;
// and another challenger loses none by that.
func TestNothingBeforeASuggestion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
		var test []eval.Case
		for i := range rapid.IntRange(0, 12).Draw(t, "cases") {
			c := eval.Case{ID: fmt.Sprint("c", i), Prompt: fmt.Sprintf("a%d b%[1]d c%[1]d d%[1]d", i), Split: eval.Test,
				Cluster: fmt.Sprint("s", rapid.IntRange(0, 6).Draw(t, "session"))}
			if rapid.IntRange(0, 3).Draw(t, "mined") > 0 {
				c.Source = &eval.Source{Origin: Mined, Session: c.Cluster, Stratum: Corrected,
					Time: at.Add(time.Duration(rapid.IntRange(-3, 3).Draw(t, "hours")) * time.Hour)}
			}
			test = append(test, c)
		}
		spent := &Spent{Frozen: map[string]time.Time{"suggested": at}}
		list, _ := new(State).Usable(test, spent, "suggested", nil, nil)
		used := map[string]bool{}
		for _, k := range list {
			for _, c := range k.Cases {
				if used[c.ID] = true; !c.Recorded().After(at) {
					t.Fatalf("case %s of %v is evidence about a text that had read by %v", c.ID, c.Recorded(), at)
				}
			}
		}
		others, _ := new(State).Usable(test, spent, "another", nil, nil)
		free, _ := new(State).Usable(test, &Spent{}, "another", nil, nil)
		if len(others) != len(free) {
			t.Fatalf("another challenger has %d clusters, and %d without a suggestion", len(others), len(free))
		}
		for _, k := range free { // a session that begins afterwards counts
			later := !slices.ContainsFunc(k.Cases, func(c *eval.Case) bool { return !c.Recorded().After(at) })
			if later != used[k.Cases[0].ID] {
				t.Fatalf("cluster %s, all later: %v, is used: %v", k.Name, later, !later)
			}
		}
	})
}
