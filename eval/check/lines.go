package check

import (
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// DiffLines returns the lines that only after has and those that only before has, in order,
// each with a line feed.
func DiffLines(before, after string) (added, removed string) {
	var a, r strings.Builder
	hunks(lines(before), lines(after), func(old, new []string) {
		for _, line := range old {
			r.WriteString(line + "\n")
		}
		for _, line := range new {
			a.WriteString(line + "\n")
		}
	})
	return a.String(), r.String()
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// hunks calls f with each pair of runs of lines that replace each other. lcs takes all that is
// left as one pair when it has found a hundred differences; so it is asked again about a pair
// until it finds nothing equal in it.
func hunks(old, new []string, f func(old, new []string)) {
	for _, d := range lcs.DiffLines(old, new) {
		x, y := old[d.Start:d.End], new[d.ReplStart:d.ReplEnd]
		if len(x) > 0 && len(y) > 0 && (len(x) < len(old) || len(y) < len(new)) {
			hunks(x, y, f)
		} else {
			f(x, y)
		}
	}
}
