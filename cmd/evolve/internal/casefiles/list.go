package casefiles

import (
	"slices"
	"strings"
)

// Heads are ids for a list: those that evolve made ("mined-0636689bbd6e62da") with as many of
// their digits, at least six, as tell them apart; every command takes the beginning of an id.
// Ids in people's own words stay whole.
func Heads(ids []string) []string {
	sorted := slices.Sorted(slices.Values(ids)) // the ids with a common beginning stand together
	for digits := 6; ; digits++ {
		heads := make([]string, len(ids))
		clear := true
		for i, id := range ids {
			heads[i] = head(id, digits)
			if next, _ := slices.BinarySearch(sorted, id+"\x00"); heads[i] != id {
				at, _ := slices.BinarySearch(sorted, heads[i])
				clear = clear && next-at == 1 && (next == len(sorted) || !strings.HasPrefix(sorted[next], heads[i]))
			}
		}
		if clear {
			return heads
		}
	}
}

// head shortens an id that evolve made (a word, a hyphen and 16 hexadecimal digits) to its
// word and first digits. Other ids stay as they are.
func head(id string, digits int) string {
	word, sum, _ := strings.Cut(id, "-")
	if word == "" || len(sum) != 16 || strings.Trim(sum, "0123456789abcdef") != "" {
		return id
	}
	return word + "-" + sum[:min(digits, len(sum))]
}
