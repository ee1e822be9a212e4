package candidate

import (
	"slices"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
)

// A command that the owner asked for may be tried, and the text is flagged all the same.
func TestAskedForIsFlagged(t *testing.T) {
	const own = head + "- Label the axes.\n"
	w := newWorld(t, own)
	made := w.suggest(t, "charts", own, own+"- Take the data with curl.\n")
	next, err := skill.Stored("charts", made.Text)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range check.Check(w.live.Doc, next, check.ClaudeCode) {
		if !f.AskedFor("take the data with curl") {
			t.Errorf("%s may not be tried", f)
		}
	}
	c, err := Of(t.Context(), w.Store, "charts", made.SHA)
	if err != nil || c == nil || c.Standing() != Suggested {
		t.Fatalf("%+v, %v", c, err)
	}
	rules, err := FlaggedRules(w.live.Doc, next, skill.Harness, c)
	if err != nil || !slices.Equal(rules, []string{"new-command"}) {
		t.Errorf("flagged for %v (%v)", rules, err)
	}
}
