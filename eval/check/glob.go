package check

import (
	"fmt"
	"path"
	"strings"
)

// glob reports whether a pattern matches a slash-separated path: `*`, `?` and `[…]` within an
// element, `**` for any number of elements. A pattern without a slash is matched against the
// path's last element, as in a .gitignore.
func glob(pattern, name string) bool {
	if !strings.Contains(pattern, "/") && pattern != "**" {
		pattern = "**/" + pattern
	}
	// reach[i] is whether the elements so far match the first i of the pattern.
	want := strings.Split(pattern, "/")
	reach := make([]bool, len(want)+1)
	reach[0] = true
	skip := func() {
		for i, p := range want {
			reach[i+1] = reach[i+1] || reach[i] && p == "**"
		}
	}
	skip()
	for part := range strings.SplitSeq(name, "/") {
		for i := len(want); i > 0; i-- {
			p := want[i-1]
			if p == "**" {
				continue // goes on, if it was reached
			}
			ok, _ := path.Match(p, part)
			reach[i] = reach[i-1] && ok
		}
		reach[0] = false
		skip()
	}
	return reach[len(want)]
}

// validGlob refuses what glob cannot match, or matches nothing.
func validGlob(pattern string) error {
	if strings.HasSuffix(pattern, "/") {
		return fmt.Errorf("path %q is a folder; %q are the files in it", pattern, pattern+"**")
	}
	if err := ValidPath(pattern); err != nil {
		return err
	}
	for part := range strings.SplitSeq(pattern, "/") {
		if _, err := path.Match(part, ""); err != nil {
			return fmt.Errorf("path %q: %w", pattern, err)
		}
		if part != "**" && strings.Contains(part, "**") {
			return fmt.Errorf("path %q: ** stands for whole folders, between slashes", pattern)
		}
	}
	return nil
}
