package mutate

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const base = "# Dataviz\n\n- read the data first\n- label both axes\n- save beside the data\n"

func TestJoin(t *testing.T) {
	for name, c := range map[string]struct {
		first, second, want string
		conflicts           int
	}{
		"one side": {base, strings.Replace(base, "- label both axes\n", "", 1), strings.Replace(base, "- label both axes\n", "", 1), 0},
		"both add at the end": {base + "- log scale for revenue\n", base + "- no pie charts\n",
			base + "- log scale for revenue\n- no pie charts\n", 0},
		"same addition once": {base + "- log scale\n", base + "- log scale\n- no pies\n", base + "- log scale\n- no pies\n", 0},
		"add and delete": {base + "- log scale\n", strings.Replace(base, "- read the data first\n", "", 1),
			strings.Replace(base, "- read the data first\n", "", 1) + "- log scale\n", 0},
		"different rewordings": {strings.Replace(base, "label both axes", "label both axes with units", 1),
			strings.Replace(base, "label both axes", "label both axes in bold", 1),
			strings.Replace(base, "label both axes", "label both axes with units", 1), 1},
	} {
		t.Run(name, func(t *testing.T) {
			got, conflicts := Join(base, c.first, c.second)
			if got != c.want || conflicts != c.conflicts {
				t.Fatalf("got %d conflicts and\n%s\nwant %d and\n%s", conflicts, got, c.conflicts, c.want)
			}
		})
	}
}

// lines draws list items from a small alphabet, so that sides collide often.
func lines(t *rapid.T, label string) string {
	items := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-f]{2} [g-m]{2} [n-z]{2}`), 0, 8, rapid.ID[string]).Draw(t, label)
	return "# T\n\n" + strings.Join(append(slices.Clone(mapItems(items)), ""), "")
}

func mapItems(items []string) []string {
	out := make([]string, len(items))
	for i, s := range items {
		out[i] = "- " + s + "\n"
	}
	return out
}

func TestJoinProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, a, b := lines(t, "base"), lines(t, "a"), lines(t, "b")
		if got, n := Join(o, a, o); got != a || n != 0 {
			t.Fatalf("only the first side changed, got %q, want %q", got, a)
		}
		if got, n := Join(o, o, b); got != b || n != 0 {
			t.Fatalf("only the second side changed, got %q, want %q", got, b)
		}
		if got, n := Join(o, a, a); got != a || n != 0 {
			t.Fatalf("both changed alike, got %q, want %q", got, a)
		}
		got, _ := Join(o, a, b)
		for _, line := range strings.SplitAfter(got, "\n") {
			if !strings.Contains(a, line) && !strings.Contains(b, line) {
				t.Fatalf("line %q stands on neither side", line)
			}
		}
	})
}

func TestSupportUndoesPassengers(t *testing.T) {
	corpus := []string{"user said: no, use a log scale", "user said: sort the bars by value", "user said: label the axes with their unit"}
	s := NewSupport(corpus[:1], corpus)
	child := "# Dataviz\n\n- label both axes\n- save beside the data\n- Background: orchestras have a long history\n- use a log scale for revenue\n"
	got, answers, doubted, kept := s.Filter(base, child, nil)
	want := base + "- use a log scale for revenue\n"
	if !kept || got != want || !slices.Equal(answers, []int{0}) || !slices.Equal(doubted, []string{"- read the data first"}) {
		t.Fatalf("kept %v, answers %v, text\n%s\nwant\n%s", kept, answers, got, want)
	}
	// Two reflections that take out the same line are no slip.
	if got, _, _, _ := s.Filter(base, child, doubted); got != strings.Replace(want, "- read the data first\n", "", 1) {
		t.Fatalf("a second deletion gives\n%s", got)
	}
	// A line gives way to an answer that stands in its place.
	instead := strings.Replace(base, "- read the data first\n", "- use a log scale for revenue\n", 1)
	if got, _, left, _ := s.Filter(base, instead, nil); got != instead || len(left) > 0 {
		t.Fatalf("a replacement gives, with %q doubted,\n%s", left, got)
	}
	if _, _, _, kept := s.Filter(base, base+"- mind the orchestra\n", nil); kept {
		t.Fatal("an edit without any support was kept")
	}
	if got, _, _, kept := s.Filter(base+"- never use a log scale\n", base+"- use a log scale\n", nil); !kept || got != base+"- use a log scale\n" {
		t.Fatalf("a supported replacement was undone: %q", got)
	}
}

func TestDeletionsOnly(t *testing.T) {
	child := "# Dataviz\n\n- label both axes, please\n- save beside the data\n- new line\n"
	want := "# Dataviz\n\n- label both axes\n- save beside the data\n"
	if got := deletionsOnly(base, child); got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
}
