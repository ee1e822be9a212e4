package mutate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"pgregory.net/rapid"
)

func bodyDoc(t interface{ Fatal(...any) }, body string) *skill.Document {
	d, err := skill.Parse([]byte("---\nname: s\ndescription: d\n---\n"+body), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestRemoved(t *testing.T) {
	const parent = "# S\n\n- Read it. Plot it as bars. Say what was left out.\n- Sort it.\n\n1. First.\n2. Second.\n\n```sh\nmake\n```\n"
	for _, c := range []struct {
		name, child string
		only        bool
		lines       []string
	}{
		{"a line", strings.Replace(parent, "- Sort it.\n", "", 1), true, []string{"Sort it."}},
		{"a sentence", strings.Replace(parent, "Plot it as bars. ", "", 1), true, []string{"Plot it as bars."}},
		{"first and last sentence", strings.Replace(parent, "Read it. Plot it as bars. Say what was left out.", "Plot it as bars.", 1), true, []string{"Read it. Say what was left out."}},
		{"the body", "# S\n", true, []string{"Read it. Plot it as bars. Say what was left out.", "Sort it.", "First.", "Second.", "```sh", "make", "```"}},
		{"an item of a list, numbered anew", strings.Replace(parent, "1. First.\n2. ", "1. ", 1), true, []string{"First."}},
		{"blank lines", strings.ReplaceAll(parent, "\n\n", "\n"), true, nil},
		{"a line, another one broken anew", strings.Replace(strings.Replace(parent, "- Sort it.\n", "", 1), "Plot it as", "Plot it\n  as", 1), true, []string{"Sort it."}},
		{"a sentence, another one broken anew", strings.Replace(parent, "Plot it as bars. Say what", "Say\n  what", 1), true, []string{"Plot it as bars."}},
		{"a word, broken anew", strings.Replace(parent, "Plot it as bars.", "Plot\n  it.", 1), false, nil},
		{"a word", strings.Replace(parent, "Plot it as bars.", "Plot it.", 1), false, nil},
		{"another order", strings.Replace(parent, "Read it. Plot it as bars.", "Plot it as bars. Read it.", 1), false, nil},
		{"a line moved", strings.Replace(parent, "- Sort it.\n", "", 1) + "\n- Sort it.\n", false, nil},
		{"two lines run into one", strings.Replace(parent, "left out.\n- Sort it.\n", "left out. Sort it.\n", 1), false, nil},
		{"a line added", parent + "\n- More.\n", false, nil},
		{"one for another", strings.Replace(parent, "- Sort it.\n", "- Sort them.\n", 1), false, nil},
	} {
		lines, only := Removed(bodyDoc(t, parent), bodyDoc(t, c.child))
		if only != c.only || !slices.Equal(lines, c.lines) {
			t.Errorf("%s: %q, %v, want %q, %v", c.name, lines, only, c.lines, c.only)
		}
	}
}

// Whatever Ablate makes is a deletion, and whatever adds a sentence is none.
func TestRemovedProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lines []string
		for i := range rapid.IntRange(2, 8).Draw(t, "lines") {
			lines = append(lines, fmt.Sprintf("- Line %d. ", i)+strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"Read it.", "Plot it!", "Why?", "Be brief."}), 1, 3).Draw(t, "line"), " ")+"\n")
		}
		parent := bodyDoc(t, "# S\n\n"+strings.Join(lines, ""))
		index, _ := Deletable(Input{Parent: parent})
		n := rapid.IntRange(1, len(index)).Draw(t, "n")
		p, err := (&Ablate{Blocks: index[:n]}).Propose(context.Background(), Input{Parent: parent})
		if err != nil {
			t.Fatal(err)
		}
		if got, only := Removed(parent, p.Doc); !only || len(got) != n {
			t.Fatalf("%q without %d of its blocks is %q: %q, %v", lines, n, p.Doc.View(), got, only)
		}
		if _, only := Removed(p.Doc, parent); only {
			t.Fatalf("what was added to %q is taken for a deletion", p.Doc.View())
		}
	})
}
