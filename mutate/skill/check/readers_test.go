package check

import (
	"os"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"go.yaml.in/yaml/v3"
)

// Candidates that some readers of Markdown read otherwise than goldmark are refused,
// and ordinary edits beside them pass.
func TestCheckRefusesWhatReadersReadDifferently(t *testing.T) {
	raw, err := os.ReadFile("testdata/readers.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var groups []struct {
		Parent          string
		Refused, Passes map[string]map[string]string
	}
	if err := yaml.Unmarshal(raw, &groups); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, g := range groups {
		parent := parse(t, plainFront+g.Parent)
		check := func(cases map[string]map[string]string, refused bool) {
			for name, edits := range cases {
				n++
				text := g.Parent
				for old, new := range edits {
					text = edit(t, text, old, new)
				}
				child, err := skill.Parse([]byte(plainFront+text), skill.Options{})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				fs := Check(parent, child, ClaudeCode)
				if refused && Worst(fs) != Reject || !refused && len(fs) > 0 {
					t.Errorf("%s: %+v", name, fs)
				}
			}
		}
		check(g.Refused, true)
		check(g.Passes, false)
	}
	if n < 35 || strings.Count(string(raw), "passes:") != len(groups) {
		t.Errorf("%d candidates in %d groups", n, len(groups))
	}
}
