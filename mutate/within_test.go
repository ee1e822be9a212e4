package mutate

import (
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"pgregory.net/rapid"
)

func TestJoinBlock(t *testing.T) {
	const base = "Read the request. Plot it. Say what was left out.\n"
	for _, c := range []struct {
		name, base, first, second, want string // "" for a conflict
	}{
		{"different sentences", base, "Read the whole request. Plot it. Say what was left out.\n",
			"Read the request. Plot it. Say in a line what was left out.\n",
			"Read the whole request. Plot it. Say in a line what was left out.\n"},
		{"one added at the end, one changed before", base, base[:len(base)-1] + " Be brief.\n",
			"Read the request twice. Plot it. Say what was left out.\n",
			"Read the request twice. Plot it. Say what was left out. Be brief.\n"},
		{"neighbours", base, "Read it. Plot it. Say what was left out.\n", "Read the request. Draw it. Say what was left out.\n",
			"Read it. Draw it. Say what was left out.\n"},
		{"one removed, one changed elsewhere", base, "Read the request. Plot it.\n",
			"Read it. Plot it. Say what was left out.\n", "Read it. Plot it.\n"},
		{"alike", base, "Read it. Plot it. Say what was left out.\n", "Read it. Plot it. Say what was left out.\n",
			"Read it. Plot it. Say what was left out.\n"},
		{"the same sentence", base, "Read it. Plot it. Say what was left out.\n", "Skim it. Plot it. Say what was left out.\n", ""},
		{"both add at one place", base, base[:len(base)-1] + " Be brief.\n", base[:len(base)-1] + " Be exact.\n", ""},
		{"removed here, changed there", base, "Plot it. Say what was left out.\n",
			"Read it. Plot it. Say what was left out.\n", ""},
		{"lines of an item", "- sort\n  by name\n  by size\n", "- sort\n  by title\n  by size\n", "- sort\n  by name\n  by size\n  by age\n",
			"- sort\n  by title\n  by size\n  by age\n"},
		{"two sentences run into one", "Why?\nPlot it!\n", "Sort by size\nPlot it!\n", "Why? Plot it!\n", ""},
		{"a numbered item is one sentence", "1. Sort it.\n", "1. Sort all.\n", "2. Sort it.\n", ""},
	} {
		for _, sides := range [][2]string{{c.first, c.second}, {c.second, c.first}} {
			got, ok := JoinBlock(c.base, sides[0], sides[1])
			if got != c.want || ok != (c.want != "") {
				t.Errorf("%s: %q, %v, want %q", c.name, got, ok, c.want)
			}
		}
	}
}

// drawBlock is a block of sentences and lines, most of them from a small stock so
// that two drawn blocks have some in common.
func drawBlock(t *rapid.T, label string) string {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{"Read it.", "Plot it!", "Why?", "Be brief.", "Sort by size", "9. Count."}), 0, 6).Draw(t, label)
	seps := rapid.SliceOfN(rapid.SampledFrom([]string{" ", "\n"}), len(parts), len(parts)).Draw(t, label+" blanks")
	var b strings.Builder
	for i, p := range parts {
		b.WriteString(p + seps[i])
	}
	return b.String()
}

func TestJoinBlockProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, a, b := drawBlock(t, "base"), drawBlock(t, "first"), drawBlock(t, "second")
		if got := join(sentences(o)); got != o {
			t.Fatalf("the sentences of %q are %q", o, got)
		}
		for _, c := range [][3]string{{o, a, a}, {a, a, b}, {b, b, a}, {a, b, a}} {
			want := c[2]
			if c[0] == c[2] {
				want = c[1]
			}
			if got, ok := JoinBlock(c[0], c[1], c[2]); !ok || got != want {
				t.Fatalf("JoinBlock(%q, %q, %q) = %q, %v, want %q", c[0], c[1], c[2], got, ok, want)
			}
		}
		x, ok := JoinBlock(o, a, b)
		y, mirrored := JoinBlock(o, b, a)
		if x != y || ok != mirrored {
			t.Fatalf("not symmetric: %q, %v and %q, %v", x, ok, y, mirrored)
		}
		if !ok {
			return
		}
		// Nothing is made up: every sentence is of one of the sides.
		for _, s := range sentences(x) {
			if s != "" && !slices.Contains(sentences(a), s) && !slices.Contains(sentences(b), s) {
				t.Fatalf("%q is in neither %q nor %q", s, a, b)
			}
		}
	})
}

// TestJoinTakesTheOnlyChange: if one side changed nothing, the other is taken
// as it is, byte for byte.
func TestJoinTakesTheOnlyChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		view := func(label string) string {
			return withNewline(strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"# S\n", "- Read it. Plot it.\n", "- Sort.\n", "Be brief. Be kind.\n", "\n"}), 1, 8).Draw(t, label), ""))
		}
		a, b := view("base"), view("side")
		for _, sides := range [][2]string{{a, b}, {b, a}} {
			if got, conflicts := Join(a, sides[0], sides[1]); got != b || conflicts != 0 {
				t.Fatalf("Join(%q, %q, %q) = %q with %d conflicts, want %q", a, sides[0], sides[1], got, conflicts, b)
			}
		}
	})
}

// TestCombineWithinABlock: what several proposals changed in one item is all in
// their union, and the kernel is the parent's.
func TestCombineWithinABlock(t *testing.T) {
	parent, err := skill.Parse([]byte("---\nname: s\ndescription: d\n---\n\n# S\n\n- Read the request. Plot it as bars. Say what was left out.\n"), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var ps []Proposal
	for _, change := range [][2]string{{"Read the request.", "Read the whole request."}, {"Plot it as bars.", "Plot it as bars on a log scale."}, {"Say what was left out.", "Say in one line what was left out."}} {
		doc, err := parent.WithView(strings.Replace(parent.View(), change[0], change[1], 1))
		if err != nil {
			t.Fatal(err)
		}
		ps = append(ps, Proposal{Doc: doc})
	}
	p, err := combine(parent, ps)
	if err != nil {
		t.Fatal(err)
	}
	want := "- Read the whole request. Plot it as bars on a log scale. Say in one line what was left out.\n"
	if !strings.Contains(p.Doc.View(), want) {
		t.Errorf("the union is\n%s\nwant the item\n%s", p.Doc.View(), want)
	}
	if p.Doc.KernelHash() != parent.KernelHash() {
		t.Error("the kernel changed")
	}
	if _, conflicts := Join(parent.View(), strings.Replace(parent.View(), "Plot it as bars.", "Plot it as lines.", 1), ps[1].Doc.View()); conflicts != 1 {
		t.Errorf("%d conflicts, want 1: both sides reworded the same sentence", conflicts)
	}
}
