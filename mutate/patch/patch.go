// Package patch applies unified diffs to texts in memory.
package patch

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A File is what a diff changes in one file.
type File struct {
	// Old and New are its names as the diff has them, without a/ and b/; Nothing if there is
	// no file.
	Old, New string
	Hunks    []Hunk
}

// Nothing is the name of a file that is not there.
const Nothing = "/dev/null"

// A Hunk replaces the lines Old by New. Each line has its line break, but for a last line
// without one.
type Hunk struct {
	At       int // the first line of Old, from 1; if Old is empty, the line after which New comes
	Line     int // of the diff
	Old, New []string
}

// Is reports whether a text is a diff, and no text that only quotes one.
func Is(text string) bool {
	fenced := false
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if !fenced && begins(lines[i:]) {
			return true
		}
	}
	return false
}

// begins reports whether the lines begin with the names and the first hunk of a file.
func begins(lines []string) bool {
	return len(lines) > 2 && strings.HasPrefix(lines[0], "--- ") && strings.HasPrefix(lines[1], "+++ ") && strings.HasPrefix(lines[2], "@@ -")
}

// Parse reads a diff. What is not of a file's hunks, such as the head of a mail, is passed
// over.
func Parse(text string) ([]File, error) {
	var files []File
	lines := strings.SplitAfter(text, "\n")
	bare := make([]string, len(lines))
	for i, line := range lines {
		bare[i] = strings.TrimRight(line, "\r\n")
	}
	for i := 0; i < len(lines); {
		switch {
		case begins(bare[i:]):
			files = append(files, File{Old: name(bare[i][4:], "a/"), New: name(bare[i+1][4:], "b/")})
			i += 2
		case len(files) > 0 && strings.HasPrefix(bare[i], "@@ -"):
			h, n, err := hunk(lines[i:], bare[i:])
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			h.Line = i + 1
			f := &files[len(files)-1]
			f.Hunks = append(f.Hunks, h)
			i += n
		default:
			i++
		}
	}
	if len(files) == 0 {
		return nil, errors.New("there is no hunk in it")
	}
	return files, nil
}

// name is a file's name without the time that diff(1) writes behind it.
func name(s, side string) string {
	s, _, _ = strings.Cut(s, "\t")
	if unquoted, err := strconv.Unquote(s); err == nil {
		s = unquoted
	}
	return strings.TrimPrefix(strings.TrimSpace(s), side)
}

// hunk reads the hunk that lines begin with, and how many lines it has.
func hunk(lines, bare []string) (h Hunk, n int, err error) {
	var old, new int
	head, _, ok := strings.Cut(strings.TrimPrefix(bare[0], "@@ "), " @@")
	from, to, two := strings.Cut(head, " ")
	if ok = ok && two; ok {
		if h.At, old, ok = span(from, "-"); ok {
			_, new, ok = span(to, "+")
		}
	}
	if !ok {
		return h, 0, fmt.Errorf("%q is no head of a hunk", bare[0])
	}
	for n = 1; (len(h.Old) < old || len(h.New) < new) && n < len(lines); n++ {
		line, mark := lines[n], byte(' ')
		if bare[n] == "" && n == len(lines)-1 {
			break
		}
		if bare[n] != "" { // some programs cut the blank off an empty line
			mark, line = line[0], line[1:]
		}
		switch mark {
		case ' ':
			h.Old, h.New = append(h.Old, line), append(h.New, line)
		case '-':
			h.Old = append(h.Old, line)
		case '+':
			h.New = append(h.New, line)
		case '\\':
			h.cut(bare[n-1])
		default:
			return h, 0, fmt.Errorf("%q begins with none of blank, + and -", bare[n])
		}
	}
	if len(h.Old) != old || len(h.New) != new {
		return h, 0, fmt.Errorf("the head of the hunk announces %d old and %d new lines, and there are %d and %d", old, new, len(h.Old), len(h.New))
	}
	if n < len(bare) && strings.HasPrefix(bare[n], `\`) {
		h.cut(bare[n-1])
		n++
	}
	return h, n, nil
}

// cut takes the line break from the last line that was read: the file has none there.
func (h *Hunk) cut(before string) {
	end := func(lines []string) {
		if k := len(lines) - 1; k >= 0 {
			lines[k] = strings.TrimRight(lines[k], "\r\n")
		}
	}
	if !strings.HasPrefix(before, "+") {
		end(h.Old)
	}
	if !strings.HasPrefix(before, "-") {
		end(h.New)
	}
}

// most is more lines than any text has.
const most = 1 << 24

func span(s, sign string) (at, n int, ok bool) {
	s, signed := strings.CutPrefix(s, sign)
	first, count, several := strings.Cut(s, ",")
	at, err := strconv.Atoi(first)
	if n = 1; several && err == nil {
		n, err = strconv.Atoi(count)
	}
	return at, n, signed && err == nil && at >= 0 && n >= 0 && at < most && n < most
}

// A MismatchError means that a hunk does not fit into a text.
type MismatchError struct {
	Hunk    int    // from 1
	Line    int    // of the diff, where it begins
	Missing string // its first line that the text does not have where it should be; "" if it fits in several places
}

func (e *MismatchError) Error() string {
	if e.Missing == "" {
		return fmt.Sprintf("hunk %d (line %d of the patch) fits in several places", e.Hunk, e.Line)
	}
	return fmt.Sprintf("hunk %d (line %d of the patch) does not fit: %q is not there", e.Hunk, e.Line, e.Missing)
}

// Apply makes the changes in a text. A hunk that does not fit at its line is made at the
// one other place where it does. Line breaks are those of the text. The error is a
// *MismatchError.
func (f *File) Apply(text string) (string, error) {
	crlf := strings.Contains(text, "\r\n") && strings.Count(text, "\n") == strings.Count(text, "\r\n")
	if crlf {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	rest := split(text)
	var out []string
	read := 0 // lines of text that are in out
	for i, h := range f.Hunks {
		old, new := h.Old, h.New
		if !strings.Contains(text, "\r") {
			old, new = plain(old), plain(new)
		}
		at, ok := place(rest, old, h.At-1-read)
		if len(old) == 0 {
			at, ok = h.At-read, h.At >= read && h.At-read <= len(rest)
		}
		if !ok {
			return "", &MismatchError{i + 1, h.Line, missing(rest, old, h.At-1-read)}
		}
		out = append(append(out, rest[:at]...), new...)
		rest, read = rest[at+len(old):], read+at+len(old)
	}
	text = strings.Join(append(out, rest...), "")
	if crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text, nil
}

func split(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// plain is lines without carriage returns at their ends.
func plain(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.ReplaceAll(line, "\r\n", "\n")
	}
	return out
}

// place is where lines has old: at the wanted line, else at the only one.
func place(lines, old []string, want int) (at int, ok bool) {
	fits := func(at int) bool {
		return at >= 0 && at+len(old) <= len(lines) && slices.Equal(lines[at:at+len(old)], old)
	}
	if fits(want) {
		return want, true
	}
	for i := range lines {
		if fits(i) {
			if ok {
				return 0, false
			}
			at, ok = i, true
		}
	}
	return at, ok
}

// missing is the first line of old that lines does not have, at the wanted place if all are
// somewhere; "" if old is there as a whole.
func missing(lines, old []string, want int) string {
	for _, line := range old {
		if !slices.Contains(lines, line) {
			return strings.TrimRight(line, "\n")
		}
	}
	for i := 0; i+len(old) <= len(lines); i++ {
		if slices.Equal(lines[i:i+len(old)], old) {
			return ""
		}
	}
	for i, line := range old {
		if at := want + i; at < 0 || at >= len(lines) || lines[at] != line {
			return strings.TrimRight(line, "\n")
		}
	}
	return ""
}
