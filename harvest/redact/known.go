package redact

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/harvest/redact/spelled"
)

// knownMark stands for a secret that was known by its value.
const knownMark = open + "known-secret]"

// Known is a Redactor that knows some secrets by their values, whatever they
// look like: the keys that a program itself was given. All others are the
// Detector's to find. Values of less than eight bytes are no keys, and left out.
// A value is also found as others write it down: escaped for a URL, for JSON or
// for HTML, in base64 with whatever stands beside it, and with line breaks in it.
func Known(values ...string) Redactor { return newByValue(values...) }

func newByValue(values ...string) *byValue {
	var forms []spelled.Spelling
	for _, v := range values {
		v = strings.TrimSpace(v)
		if len(v) < minLen || strings.Contains(knownMark, v) {
			continue
		}
		for _, f := range spelled.Of(v) {
			if !slices.Contains(forms, f) {
				forms = append(forms, f)
			}
		}
	}
	return &byValue{spelled.NewIndex(forms)}
}

// A byValue is a Redactor of values that it knows.
type byValue struct{ index *spelled.Index }

// Redact implements Redactor.
func (k *byValue) Redact(s string) (string, int) { return k.redact(s, inAnything, nil) }

// redact implements finder. A value that is known anyway need not be learnt.
func (k *byValue) redact(s string, look lookFor, learn func(value, kind string)) (string, int) {
	s, n := k.replace(s)
	s, more := Detector{}.redact(s, look, learn)
	return s, n + more
}

// replace replaces the values alone.
func (k *byValue) replace(s string) (string, int) {
	var found []span
	k.index.Each(s, func(start, end int, kind string) bool {
		ok := placeholderAround(s, start, end) < 0
		if ok {
			found = append(found, span{start, end, cmp.Or(kind, knownKind), false})
		}
		return ok
	})
	if len(found) == 0 {
		return s, 0
	}
	if found = settle(s, found); len(found) == 0 {
		return s, 0
	}
	return replace(s, found), len(found)
}

const knownKind = "known-secret"

// placeholderAround returns where the placeholder begins that s[start:end] lies
// within, or -1: what a placeholder says is no secret.
func placeholderAround(s string, start, end int) int {
	from := max(0, start-64)
	if i := strings.LastIndex(s[from:start], open); i >= 0 && placeholder(s, from+i) >= end {
		return from + i
	}
	return -1
}
