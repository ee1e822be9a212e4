package check

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"go.yaml.in/yaml/v3"
)

// A corpusEdit is one labelled edit of a base skill in testdata/firewall/bases:
// text put behind the line that holds After, or in the place of the line
// Replace.
type corpusEdit struct {
	Kind, Base, After, Add, Replace, With string
	Lines                                 []string // several edits, each one Add
	HoldOut                               bool     `yaml:"holdout"`
	Second                                bool     // of the set that was written after the rules
}

func readCorpus(t *testing.T, pattern string) []corpusEdit {
	t.Helper()
	files, err := filepath.Glob("testdata/firewall/" + pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus %s: %v", pattern, err)
	}
	var all []corpusEdit
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var edits []corpusEdit
		if err := yaml.Unmarshal(raw, &edits); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, e := range edits {
			if e.Lines == nil {
				all = append(all, e)
			}
			for _, line := range e.Lines {
				one := e
				one.Lines, one.Add = nil, line
				all = append(all, one)
			}
		}
	}
	return all
}

// apply makes the edit as a mutator's reply would: through the view.
func (e corpusEdit) apply(t *testing.T, d *skill.Document) (*skill.Document, error) {
	t.Helper()
	lines := strings.SplitAfter(d.View(), "\n")
	anchor, text := e.After, e.Add
	if anchor == "" {
		anchor, text = e.Replace, e.With
	}
	at := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, anchor) })
	if at < 0 || anchor == "" {
		t.Fatalf("%+v: no such line", e)
	}
	if text != "" {
		text += "\n"
	}
	if e.After != "" {
		lines[at] = strings.TrimSuffix(lines[at], "\n") + "\n" + text
	} else {
		lines[at] = text
	}
	return d.WithView(strings.Join(lines, ""))
}

// judged is the result of the checks for every edit of a corpus.
func judged(t *testing.T, e corpusEdit) (Severity, []Finding) {
	t.Helper()
	raw, err := os.ReadFile("testdata/firewall/bases/" + e.Base + ".md")
	if err != nil {
		t.Fatal(err)
	}
	d := parse(t, string(raw))
	child, err := e.apply(t, d)
	if err != nil {
		return Reject, []Finding{{Rule: "view", Severity: Reject, Reason: err.Error()}}
	}
	fs := Check(d, child, ClaudeCode)
	return Worst(fs), fs
}

// A tally counts edits of one kind.
type tally struct{ n, stopped, held, heldStopped int }

func table(t *testing.T, kinds map[string]tally) {
	t.Helper()
	var names []string
	for k := range kinds {
		names = append(names, k)
	}
	slices.Sort(names)
	var b strings.Builder
	fmt.Fprintf(&b, "%-18s %5s %8s   of them held out\n", "kind", "edits", "stopped")
	for _, k := range names {
		c := kinds[k]
		fmt.Fprintf(&b, "%-18s %5d %8d   %d/%d\n", k, c.n, c.stopped, c.heldStopped, c.held)
	}
	t.Logf("\n%s", b.String())
}

// TestFirewallStopsWideningEdits: every edit of the malicious corpus is
// rejected or put into quarantine, with a finding that gives the reason and
// the place.
func TestFirewallStopsWideningEdits(t *testing.T) {
	kinds := map[string]tally{}
	edits := readCorpus(t, "malicious*.yaml")
	for _, e := range edits {
		worst, fs := judged(t, e)
		c := kinds[e.Kind]
		c.n++
		if e.HoldOut {
			c.held++
		}
		if worst >= Quarantine {
			c.stopped++
			if e.HoldOut {
				c.heldStopped++
			}
		} else if !e.HoldOut || os.Getenv("CORPUS_HELD") != "" {
			t.Errorf("%s (%s) passed: %s%s", e.Kind, e.Base, e.Add, e.With)
		} else {
			t.Errorf("%s (%s) passed, held out", e.Kind, e.Base)
		}
		for _, f := range fs {
			if f.Severity == Quarantine && (f.Rule == "" || f.Line == 0 && f.Rule != "removed-check" || f.Reason == "") {
				t.Errorf("%s: a finding that explains nothing: %+v", e.Kind, f)
			}
		}
		kinds[e.Kind] = c
	}
	table(t, kinds)
	if len(edits) < 60 || len(kinds) < 12 {
		t.Errorf("the corpus has %d edits of %d kinds", len(edits), len(kinds))
	}
}

// TestFirewallLetsTheSearchWork: of ordinary edits no more than one in twenty is
// put into quarantine.
func TestFirewallLetsTheSearchWork(t *testing.T) {
	kinds := map[string]tally{}
	edits := readCorpus(t, "benign*.yaml")
	stopped := 0
	for _, e := range edits {
		worst, fs := judged(t, e)
		c := kinds[e.Kind]
		c.n++
		if worst >= Quarantine {
			c.stopped++
			stopped++
			t.Logf("stopped %s (%s): %s%s: %+v", e.Kind, e.Base, e.Add, e.With, fs)
		}
		kinds[e.Kind] = c
	}
	table(t, kinds)
	t.Logf("%d of %d stopped, %.1f %%", stopped, len(edits), 100*float64(stopped)/float64(len(edits)))
	if len(edits) < 200 || 20*stopped > len(edits) {
		t.Errorf("%d of %d ordinary edits were stopped", stopped, len(edits))
	}
}

// TestFirewallKnowsItsLimits keeps the list of known misses true: one that is
// stopped now belongs into the malicious corpus.
func TestFirewallKnowsItsLimits(t *testing.T) {
	for _, e := range readCorpus(t, "known-misses.yaml") {
		if worst, fs := judged(t, e); worst >= Quarantine {
			t.Errorf("%s (%s) is stopped now, move it: %s: %+v", e.Kind, e.Base, e.Add, fs)
		}
	}
}
