package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// without removes, from the front on, each line of a subsequence; ok is false if it is none.
func without(all, sub []string) (rest []string, ok bool) {
	for _, line := range all {
		if len(sub) > 0 && sub[0] == line {
			sub = sub[1:]
			continue
		}
		rest = append(rest, line)
	}
	return rest, len(sub) == 0
}

// TestDiffLines: what is left of both texts without the lines that differ has as many lines,
// and equal texts do not differ.
func TestDiffLines(t *testing.T) {
	line := rapid.SampledFrom([]string{"", "a", "b", "c", "}", "\r"})
	rapid.Check(t, func(t *rapid.T) {
		x, y := rapid.SliceOf(line).Draw(t, "before"), rapid.SliceOf(line).Draw(t, "after")
		before, after := strings.Join(x, "\n"), strings.Join(y, "\n")
		added, removed := DiffLines(before, after)
		restX, okX := without(lines(before), lines(removed))
		restY, okY := without(lines(after), lines(added))
		if !okX || !okY || len(restX) != len(restY) || before == after && added+removed != "" {
			t.Fatalf("%q to %q adds %q, removes %q", before, after, added, removed)
		}
	})
}

// TestDiffLinesOfMany: with any number of changes, a line that is in both is no change.
func TestDiffLinesOfMany(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var old, new, added, removed []string
		for i := range rapid.IntRange(0, 3000).Draw(t, "lines") {
			line := fmt.Sprintf("line %d", i)
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				old, removed = append(old, line), append(removed, line)
			case 1:
				new, added = append(new, line), append(added, line)
			default:
				old, new = append(old, line), append(new, line)
			}
		}
		a, r := DiffLines(strings.Join(old, "\n"), strings.Join(new, "\n"))
		if !slices.Equal(lines(a), added) || !slices.Equal(lines(r), removed) {
			t.Fatalf("added %d lines, removed %d; want %d and %d", len(lines(a)), len(lines(r)), len(added), len(removed))
		}
	})
}
