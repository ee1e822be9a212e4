package script

import (
	"bytes"
	"fmt"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
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
		case lookAlike(string(line)):
			return refuse("look-alike", i+1, "A word mixes letters of several scripts that look alike.")
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

// alike are letters of other scripts that look like Latin ones.
const alike = "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u043a\u0501\u051b\u051d\u04bb\u0475\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0406\u0408\u0405" +
	"\u03b1\u03bf\u03c1\u03bd\u03b9\u03ba\u03c5\u03c7\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u0131\u0261\u0251"

// lookAlike reports whether a word can be taken for another: it mixes Latin letters with
// those of another script that look like them, has only such letters, or has letters that
// are Latin ones in another shape.
func lookAlike(line string) bool {
	for _, word := range strings.FieldsFunc(line, func(r rune) bool { return !unicode.IsLetter(r) }) {
		latin, similar, letters := 0, 0, 0
		for _, r := range word {
			letters++
			switch {
			case r < utf8.RuneSelf:
				latin++
			case strings.ContainsRune(alike, r):
				similar++
			case norm.NFKC.String(string(r)) != string(r):
				return true
			}
		}
		if similar > 0 && (latin > 0 || similar == letters && letters > 1) {
			return true
		}
	}
	return false
}

var metadata = lazyregexp.New(`(?m)^#[ \t]*///[^\n]*(?:\n#[^\n]*)*`)

// dependencies compares the comments that tell a program what to install before it runs
// a script (PEP 723).
func dependencies(parent, candidate []byte) *Finding {
	at := metadata.FindIndex(candidate)
	if at == nil || bytes.Equal(metadata.Find(parent), metadata.Find(candidate)) && len(metadata.FindAll(candidate, 2)) == len(metadata.FindAll(parent, 2)) {
		return nil
	}
	return &Finding{Kind: Held, Rule: "dependencies", Line: 1 + bytes.Count(candidate[:at[0]], []byte("\n")), Phrase: string(candidate[at[0]:at[1]]),
		Text: "A comment asks for other packages than the parent's."}
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
