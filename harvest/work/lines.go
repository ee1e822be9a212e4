package work

import (
	"strings"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/eval/check"
)

// clip cuts a text to at most that many bytes, after a line if that keeps most of it.
func clip(text string, most int) (cut string, was bool) {
	if len(text) <= most {
		return text, false
	}
	end := max(0, most)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	if feed := strings.LastIndexByte(text[:end], '\n'); feed > end/2 {
		end = feed
	}
	return strings.Clone(text[:end]), true
}

const (
	whole  = 8 << 10 // bytes of texts that are redacted whole
	around = 2 << 10 // and of what is redacted around the difference of longer ones
)

// core is two texts without what is equal at the beginning and the end of long ones. What
// is around the difference stays, because it may tell that a line is a secret.
func core(a, b string) (string, string) {
	if a == "" || b == "" || len(a)+len(b) <= 2*whole {
		return a, b
	}
	n, from := min(len(a), len(b)), 0
	for from < n && a[from] == b[from] {
		from++
	}
	to := 0
	for to < n-from && a[len(a)-1-to] == b[len(b)-1-to] {
		to++
	}
	from, to = max(0, from-around), max(0, to-around)
	from = strings.LastIndexByte(a[:from], '\n') + 1
	if feed := strings.IndexByte(a[len(a)-to:], '\n'); feed >= 0 {
		to -= feed
	} else {
		to = 0
	}
	return a[from : len(a)-to], b[from : len(b)-to]
}

// differ is the lines that are only in added and those that are only in removed, without a
// line feed at the end.
func differ(added, removed string) (string, string) {
	a, r := check.DiffLines(removed, added)
	return strings.TrimSuffix(a, "\n"), strings.TrimSuffix(r, "\n")
}

// split is the lines of a text, none of an empty one.
func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
