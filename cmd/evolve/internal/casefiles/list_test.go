package casefiles

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestHeads(t *testing.T) {
	for _, c := range []struct{ ids, want []string }{
		{nil, []string{}},
		{[]string{"rev-01", "mined-0636689bbd6e62da", "a-name-of-more-than-twelve"}, []string{"rev-01", "mined-063668", "a-name-of-more-than-twelve"}},
		{[]string{"mined-0636689bbd6e62da", "generated-0636680000000000", "mined-0636680000000000"}, []string{"mined-0636689", "generated-0636680", "mined-0636680"}},
	} {
		if got := Heads(c.ids); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.ids, got, c.want)
		}
	}
}

// TestHeadsAreUnique: each head begins its own id and no other.
func TestHeadsAreUnique(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.Custom(func(t *rapid.T) string {
			if rapid.Bool().Draw(t, "made") {
				return fmt.Sprintf("mined-%016x", rapid.Uint64Range(0, 1<<20).Draw(t, "sum")<<rapid.SampledFrom([]int{0, 24, 44}).Draw(t, "shift"))
			}
			return rapid.StringMatching(`mined-[0-9a-f]{1,9}|[a-z]{1,14}`).Draw(t, "word")
		})
		ids := rapid.SliceOfDistinct(id, func(s string) string { return s }).Draw(t, "ids")
		for i, head := range Heads(ids) {
			for j, id := range ids {
				if strings.HasPrefix(id, head) != (i == j) && head != ids[i] {
					t.Fatalf("%q is the head of %q; %q", head, ids[i], id)
				}
			}
		}
	})
}
