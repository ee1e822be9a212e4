package family

import (
	"fmt"
	"strings"
	"testing"
)

func TestGroup(t *testing.T) {
	for in, want := range map[string]string{
		"":                   "[]",
		"a b c":              "[[a] [b] [c]]",
		"a b<a c d<b":        "[[a b<a d<b] [c]]",
		"d<b b<a c a":        "[[d<b b<a a] [c]]",
		"x<gone b y<gone":    "[[x<gone y<gone] [b]]",
		"a a b<a":            "[[a a b<a]]",
		"a<a b":              "[[a<a] [b]]",
		"a<b b<c c<a d<b e":  "[[a<b b<c c<a d<b] [e]]", // each other's
		"s<a s<b a b c":      "[[s<a s<b a b] [c]]",     // of two
		"<a a b":             "[[<a a] [b]]",
		"s<r t<s u<t v<u r<": "[[s<r t<s u<t v<u r<]]",
	} {
		got := fmt.Sprint(Group(strings.Fields(in), func(s *string) (id, parent string) {
			id, parent, _ = strings.Cut(*s, "<")
			return id, parent
		}))
		if got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}
