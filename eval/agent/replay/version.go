package replay

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// AtLeast refuses a program that is older than the first version whose flags and events
// are known, or that reports no version: every replay would fail, and look like a
// server's failure. Both are texts that contain a version of three numbers; hint is the
// command that helps.
func AtLeast(program, version, oldest, hint string) error {
	has, want := numbers(version), numbers(oldest)
	if has == nil {
		return fmt.Errorf("%s names no version: %q; %s", program, version, hint)
	}
	if slices.Compare(has, want) < 0 {
		return fmt.Errorf("%s %s is too old, %s or later is needed; %s", program, version, oldest, hint)
	}
	return nil
}

var threeNumbers = lazyregexp.New(`(\d+)\.(\d+)\.(\d+)`)

// numbers are the first three that are written as a version; nil for none.
func numbers(text string) (out []int) {
	m := threeNumbers.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	for _, s := range m[1:] {
		n, err := strconv.Atoi(s)
		if err != nil {
			return nil // longer than any version
		}
		out = append(out, n)
	}
	return out
}
