package report

import (
	"strings"
	"unicode"
)

// changedWords emphasises the differing words of reworded lines: a removed
// line and the added one in its place, which begin or end alike. The result
// has an entry for each line, "" for one to be shown as it is.
func changedWords(lines []Line) []string {
	out := make([]string, len(lines))
	for i := 0; i < len(lines); {
		from := i
		for i < len(lines) && lines[i].Kind == Removed {
			i++
		}
		to := i
		for i < len(lines) && lines[i].Kind == Added {
			i++
		}
		if i == from {
			i++
			continue
		}
		if to-from != i-to {
			continue // which line became which is a guess
		}
		for k := range to - from {
			out[from+k], out[to+k] = emphasised(visible(lines[from+k]), visible(lines[to+k]))
		}
	}
	return out
}

// emphasised marks the differences of two lines, "" if they have too little
// in common for that to help.
func emphasised(old, new string) (string, string) {
	a, b := wordsOf(old), wordsOf(new)
	head, same := 0, 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		same += len(a[head])
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		same += len(a[len(a)-1-tail])
		tail++
	}
	if 3*same < max(len(old), len(new)) {
		return "", ""
	}
	show := func(w []string) string {
		mid := strings.Join(w[head:len(w)-tail], "")
		if mid != "" {
			mid = "\x1b[7m" + mid + "\x1b[27m"
		}
		return strings.Join(w[:head], "") + mid + strings.Join(w[len(w)-tail:], "")
	}
	return show(a), show(b)
}

// wordsOf cuts a line into words, spaces and marks; joined they are the line.
func wordsOf(s string) (out []string) {
	kind := func(r rune) int {
		switch {
		case unicode.IsLetter(r), unicode.IsMark(r), unicode.IsNumber(r), r == '_':
			return 0
		case unicode.IsSpace(r):
			return 1
		}
		return 2
	}
	start, last := 0, -1
	for i, r := range s {
		if k := kind(r); i > 0 && (k != last || k == 2) {
			out, start = append(out, s[start:i]), i
		}
		last = kind(r)
	}
	if s != "" {
		out = append(out, s[start:])
	}
	return out
}
