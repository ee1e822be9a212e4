package redact

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// knownMark stands for a secret that was known by its value.
const knownMark = open + "known-secret]"

// Known is a Redactor that knows some secrets by their values, whatever they
// look like: the keys that a program itself was given. All others are the
// Detector's to find. Values of less than eight bytes are no keys, and left out;
// a value is also found as it is written in a URL.
func Known(values ...string) Redactor {
	var k byValue
	for _, v := range values {
		v = strings.TrimSpace(v)
		for _, form := range []string{v, url.QueryEscape(v), url.PathEscape(v)} {
			if len(form) >= minLen && !strings.Contains(knownMark, form) && !slices.Contains(k.values, form) {
				k.values = append(k.values, form)
			}
		}
	}
	// The longest first: one key may begin like another.
	slices.SortStableFunc(k.values, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return k
}

type byValue struct{ values []string }

// Redact implements Redactor.
func (k byValue) Redact(s string) (string, int) {
	n := 0
	for _, v := range k.values {
		if found := strings.Count(s, v); found > 0 {
			n += found
			s = strings.ReplaceAll(s, v, knownMark)
		}
	}
	s, more := Detector{}.Redact(s)
	return s, n + more
}
