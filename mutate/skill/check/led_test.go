package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// TestWayOutAbove: a way out in the line above a list is one of each item below it, and of no
// item of another list; an owner's own way out may stay.
func TestWayOutAbove(t *testing.T) {
	const text = "---\nname: s\ndescription: Releases widgets\n---\n\n# S\n\nDo none of these:\n\n- Delete the data.\n- Push with force.\n\nAvoid these, unless asked:\n\n- Rename a table.\n\n## Steps\n\n1. Run the tests.\n"
	for _, c := range []struct {
		was, is string
		found   int
	}{
		{"Do none of these:", "Do none of these, unless it saves time:", 2},
		{"Do none of these:", "Where possible, do none of these:", 2},
		{"Do none of these:", "Never do any of these:", 0},
		{"- Rename a table.", "- Rename a table.\n- Rename a column.", 0},
		{"Do none of these:", "Read on.\n\nDo none of these:", 0},
	} {
		parent, err := skill.Parse([]byte(text), skill.Options{})
		if err != nil {
			t.Fatal(err)
		}
		child, err := skill.Parse([]byte(strings.Replace(text, c.was, c.is, 1)), skill.Options{})
		if err != nil {
			t.Fatal(err)
		}
		all := Check(parent, child, ClaudeCode)
		ways := slices.DeleteFunc(slices.Clone(all), func(f Finding) bool { return !strings.Contains(f.String(), "has a way out") })
		if len(all) != c.found || len(ways) != c.found {
			t.Errorf("%q to %q: %v", c.was, c.is, all)
		}
	}
}
