// Package redact replaces the secrets in a text by typed placeholders such as
// [redacted:github-token]. It works on decoded text: an escaped line feed in
// front of a key would hide the key's start.
//
// What it looks for is what stands in transcripts of coding agents: the tokens
// of services that mark theirs with a prefix, private keys, passwords in URLs,
// authorization headers, and assignments (PASSWORD=…, "token": "…") whose value
// does not look like code, a reference or an example. Hashes, UUIDs, commit ids
// and encoded images are left alone unless they are assigned to a secret's name,
// and so are the keys that documentation prints as examples.
//
// The rules are our own. Those of gitleaks were tried as a library: they read 2
// to 25 MB a second of one processor and take 60 ms to start, where a whole
// harvest has to read 600 MB a second of wall time; they bring 62 modules; and
// they know nothing of what people say in sentences. Whoever wants them all the
// same has the Redactor interface to put them behind.
package redact

import (
	"slices"
	"strings"
)

// A Redactor takes the secrets out of a text. It returns the clean text and how
// many secrets were replaced. It must be safe for concurrent use and idempotent:
// a clean text comes back as it is, with 0.
type Redactor interface {
	Redact(s string) (clean string, n int)
}

// A Detector is this package's own Redactor. The zero value is ready to use.
//
// Clean text costs one table lookup per byte; the rules run only where three
// bytes match the start of one of their keywords.
type Detector struct{}

var _ Redactor = Detector{}

const (
	open      = "[redacted:"
	minLen    = 8   // shorter secrets are not looked for elsewhere in the text
	maxValues = 500 // nor are more than so many: each costs a pass
)

// span is a secret at s[start:end].
type span struct {
	start, end int
	kind       string
	vague      bool // known by its surroundings only: a kind that knows it by itself says more
}

// Redact replaces every secret by its placeholder. Wherever the value of a
// found secret stands again in the text, without the context that gave it away,
// it gets the same placeholder.
func (Detector) Redact(s string) (string, int) { return Detector{}.redact(s, inAnything, nil) }

// redact implements finder.
func (Detector) redact(s string, look lookFor, learn func(value, kind string)) (string, int) {
	total := 0
	for {
		spans := find(s, look)
		if len(spans) == 0 {
			return s, total
		}
		if learn != nil {
			for _, p := range spans {
				if look != inOutput || p.kind != guessed { // programs print much that only looks like a secret
					learn(s[p.start:p.end], p.kind)
				}
			}
		}
		// What is left may be a secret only now that its neighbour is gone, so
		// look again. Each round replaces at least one byte that is not part
		// of a placeholder: it ends.
		total += len(spans)
		s = replace(s, spans)
		look = inAnything // sentences are read once
	}
}

// find returns the secrets of s, in order, without overlap.
func find(s string, look lookFor) []span {
	spans := append(scan(s), runs(s)...)
	spans = append(append(spans, passphrases(s, look)...), guess(s, look)...)
	if v := decode(s, false); v != nil {
		spans = append(spans, v.back(scan(string(v.text)))...)
	}
	if v := decode(s, true); v != nil {
		for _, p := range v.back(scan(string(v.text))) {
			if !p.vague { // what is behind a line break belongs to a value only if that has a form
				spans = append(spans, p)
			}
		}
	}
	if len(spans) == 0 {
		return nil
	}
	spans = settle(s, spans)
	if again := repeats(s, spans); len(again) > 0 {
		spans = settle(s, append(spans, again...))
		unify(s, spans)
	}
	return spans
}

// unify gives equal secrets equal placeholders, whatever gave each of them away:
// the kind of the first one that is known by itself, else of the first.
//
// Different secrets of one kind are not numbered. A number would have to be the
// same in every message of a session and every field of a case to mean anything,
// and messages are redacted one by one, some of them long after the others.
func unify(s string, spans []span) {
	kinds := make(map[string]span, len(spans))
	for _, p := range spans {
		v := s[p.start:p.end]
		if k, ok := kinds[v]; !ok || k.vague && !p.vague {
			kinds[v] = p
		}
	}
	for i, p := range spans {
		spans[i].kind = kinds[s[p.start:p.end]].kind
	}
}

// settle orders spans, joins those that overlap (the first one's kind wins,
// unless it is vague and the other is not) and drops those that hold nothing but
// placeholders.
func settle(s string, spans []span) []span {
	for i, p := range spans {
		spans[i].start, spans[i].end = widen(s, p.start, p.end)
	}
	slices.SortStableFunc(spans, func(a, b span) int { return a.start - b.start })
	out := spans[:0]
	for _, p := range spans {
		if bare(s[p.start:p.end]) {
			continue
		}
		if n := len(out); n > 0 && p.start < out[n-1].end {
			if out[n-1].vague && !p.vague && p.start == out[n-1].start {
				out[n-1].kind, out[n-1].vague = p.kind, false
			}
			out[n-1].end = max(out[n-1].end, p.end)
			continue
		}
		out = append(out, p)
	}
	return out
}

// widen moves the ends of a span that cut a placeholder in two to the
// placeholder's own ends.
func widen(s string, start, end int) (int, int) {
	const far = 64 // longer than any placeholder
	for from := max(0, start-far); from < end; {
		i := strings.Index(s[from:min(len(s), end+far)], open)
		if i < 0 || from+i >= end {
			break
		}
		at := from + i
		stop := placeholder(s, at)
		if stop < 0 {
			from = at + 1
			continue
		}
		if stop > start {
			start, end = min(start, at), max(end, stop)
		}
		from = stop
	}
	return start, end
}

// placeholder returns the end of the placeholder that begins at s[at], or -1.
func placeholder(s string, at int) int {
	if !strings.HasPrefix(s[at:], open) {
		return -1
	}
	i := at + len(open)
	for i < len(s) && (s[i] == '-' || s[i] >= 'a' && s[i] <= 'z' || s[i] >= '0' && s[i] <= '9') && i-at < 48 {
		i++
	}
	if i == at+len(open) || i == len(s) || s[i] != ']' {
		return -1
	}
	return i + 1
}

// Has reports whether s holds a placeholder: something was taken out of it.
func Has(s string) bool {
	for {
		i := strings.Index(s, open)
		if i < 0 {
			return false
		}
		if placeholder(s, i) >= 0 {
			return true
		}
		s = s[i+len(open):]
	}
}

// bare reports whether s is nothing but placeholders.
func bare(s string) bool {
	for s != "" {
		end := placeholder(s, 0)
		if end < 0 {
			return false
		}
		s = s[end:]
	}
	return true
}

// repeats finds the values of spans where they stand once more.
func repeats(s string, spans []span) []span {
	var again []span
	seen := make(map[string]bool, len(spans))
	for _, p := range spans {
		v := s[p.start:p.end]
		if len(v) < minLen || len(seen) == maxValues || seen[v] || strings.Contains(v, open) {
			continue
		}
		seen[v] = true
		for from := 0; ; {
			i := strings.Index(s[from:], v)
			if i < 0 {
				break
			}
			again = append(again, span{from + i, from + i + len(v), p.kind, p.vague})
			from += i + len(v)
		}
	}
	if len(again) <= len(seen) { // each value only where it was found
		return nil
	}
	return again
}

func replace(s string, spans []span) string {
	var b strings.Builder
	b.Grow(len(s))
	at := 0
	for _, p := range spans {
		b.WriteString(s[at:p.start])
		b.WriteString(open)
		b.WriteString(p.kind)
		b.WriteByte(']')
		at = p.end
	}
	b.WriteString(s[at:])
	return b.String()
}
