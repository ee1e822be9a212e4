package script

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// checkText finds what makes a text unreadable for people or for a parser: what is not
// UTF-8 in NFC, characters that are not shown or that change the order in which others
// are shown, and too many lines. A line of the parent is not judged, and carriage returns
// at the ends of lines are allowed if the parent has them.
func checkText(parent, text []byte) []Finding {
	refuse := func(rule string, line int, format string, args ...any) []Finding {
		return []Finding{{Rule: rule, Line: line, Text: fmt.Sprintf(format, args...)}}
	}
	if len(text) > maxBytes {
		return refuse("size", 0, "The script has more than %d KiB.", maxBytes>>10)
	}
	if n, most := lines(text), max(MaxLines, lines(parent)); n > most {
		return refuse("lines", most+1, "The script has %d lines; %d are allowed.", n, most)
	}
	known := map[string]bool{}
	for line := range strings.SplitSeq(string(parent), "\n") {
		known[line] = true
	}
	crlf := bytes.Contains(parent, []byte("\r\n"))
	for i, line := range bytes.Split(text, []byte("\n")) {
		if known[string(line)] && utf8.Valid(line) {
			continue
		}
		if crlf {
			line = bytes.TrimSuffix(line, []byte("\r"))
		}
		switch bad, is := hidden(line); {
		case !utf8.Valid(line):
			return refuse("unreadable", i+1, "The line is not UTF-8.")
		case is:
			return refuse("unreadable", i+1, "The line has a character that is not shown (U+%04X).", bad)
		case !norm.NFC.IsNormal(line):
			return refuse("unreadable", i+1, "The line has characters in a form that is not normal (NFC).")
		case i < 2 && coding(line):
			return refuse("unreadable", i+1, "The line declares an encoding.")
		}
	}
	return nil
}

func lines(text []byte) int {
	n := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// hidden is the first character that people do not see as it is, if there is one. A space
// that is not U+0020 is one: to a shell it is a part of a word.
func hidden(line []byte) (rune, bool) {
	for _, r := range string(line) {
		switch {
		case r == '\t' || r == ' ' || r == 0xFE0F: // FE0F follows many emoji
		case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs, unicode.Z),
			unicode.Is(unicode.Variation_Selector, r), r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0, r == 0x2800:
			return r, true
		}
	}
	return 0, false
}

// coding reports whether Python would read the text in another encoding (PEP 263).
func coding(line []byte) bool {
	s := strings.ToLower(strings.TrimSpace(string(line)))
	if !strings.HasPrefix(s, "#") {
		return false
	}
	_, name, ok := strings.Cut(s, "coding")
	name = strings.TrimLeft(name, ":= \t")
	return ok && name != "" && !strings.HasPrefix(name, "utf-8") && !strings.HasPrefix(name, "utf8")
}

// ascii reports whether a name can be told from every other by looking at it. Python
// takes full-width letters for plain ones, and JavaScript reads \u0065 as e.
func ascii(name string) bool {
	for i := range len(name) {
		if c := name[i]; c >= utf8.RuneSelf || c == '\\' {
			return false
		}
	}
	return true
}
