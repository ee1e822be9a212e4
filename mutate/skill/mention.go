package skill

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A Mention is one `$name` in a user's text: a request to use a skill.
type Mention struct {
	ID         string        `json:"id"`    // what follows the $, in NFC; a glob ends in "*"
	Start      int           `json:"start"` // byte offset of the $
	End        int           `json:"end"`   // byte offset behind the id
	Status     MentionStatus `json:"status,omitempty"`
	Skill      string        `json:"skill,omitempty"`      // the one that is meant, by its canonical name
	Candidates []string      `json:"candidates,omitempty"` // what comes near, the nearest first
}

// Mentions finds the `$name` in a text, in order. It does not check whether
// such skills exist: Status is empty. known reports whether an id (in NFC) is
// a registered name or alias; nil knows none. It decides where an id ends
// that runs into CJK text without a space.
//
// Code is not searched: CommonMark fences, also in block quotes; inline code;
// console lines (`$ cmd`); and a message that is itself a command, of the
// shell (!) or of the agent (/word). The time is linear in the text.
func Mentions(text string, known func(id string) bool) []Mention {
	if strings.IndexByte(text, '$') < 0 || isCommand(text) {
		return nil
	}
	var found []Mention
	star := strings.IndexByte(text, '*')
	code := codeSpans(text)
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '$')
		if i < 0 {
			return found
		}
		i += at
		for len(code) > 0 && code[0].end <= i {
			code = code[1:]
		}
		if len(code) > 0 && code[0].start <= i {
			at = code[0].end
			continue
		}
		at = i + 1
		if !opensMention(text, i) {
			continue
		}
		m, end, ok := readMention(text, i, star >= 0 && star < i, known)
		if ok {
			found = append(found, m)
		}
		at = end
	}
}

// isCommand reports whether a message is a command for the shell or the
// agent, which then takes all of it.
func isCommand(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	if rest, ok := strings.CutPrefix(text, "/"); ok {
		r, _ := utf8.DecodeRuneInString(rest)
		return unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	return strings.HasPrefix(text, "!")
}

// opensMention reports whether the $ at text[i] can begin a mention. Emphasis
// (**$name**) is looked through.
func opensMention(text string, i int) bool {
	before := strings.TrimRight(text[:i], "*_")
	if before == "" {
		return true
	}
	r, _ := utf8.DecodeLastRuneInString(before)
	switch {
	case unicode.IsSpace(r), strings.ContainsRune("([{<\"'", r):
		return true
	case isCJK(r), unicode.In(r, unicode.Ps, unicode.Pi):
		return true
	}
	// Between CJK words full-width punctuation has no space around it.
	return (r >= 0x3000 && r <= 0x303F || r >= 0xFF00 && r <= 0xFFEF) && unicode.IsPunct(r)
}

// isCJK reports whether r is a letter of a script that is written without
// spaces, or (Hangul) attaches its particles to foreign words.
func isCJK(r rune) bool {
	return r >= 0x1100 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo) ||
		r == 'ー' || r == 'ｰ')
}

// readMention reads the id after the $ at text[at]. The search continues at
// end, ok or not; emphasis means that a * precedes it, which one after the id
// may close.
func readMention(text string, at int, emphasis bool, known func(string) bool) (m Mention, end int, ok bool) {
	from := at + 1
	end, cjk := idRun(text, from)
	id := strings.TrimRight(text[from:end], "-_:")
	if id == "" {
		return m, max(end, from), false
	}
	stop := from + len(id)
	glob := strings.HasPrefix(text[end:], "*") && (text[end-1] == ':' || text[end-1] == '-' || !emphasis)
	if strings.HasPrefix(text[end:], ":*") {
		glob, end = true, end+1
	}
	name := norm.NFC.String(id)
	switch {
	case glob:
		end++
		return Mention{ID: norm.NFC.String(text[from:end]), Start: at, End: end}, end, true
	case cjk > 0 && (known == nil || !known(name)):
		stop = from + len(strings.TrimRight(text[from:cjk], "-_:"))
		return Mention{ID: norm.NFC.String(text[from:stop]), Start: at, End: stop}, cjk, true
	case end < len(text) && strings.IndexByte("/=($^@\\", text[end]) >= 0, strings.HasPrefix(text[stop:], "->"):
		return m, end, false // a path, a variable, a call, TeX
	}
	return Mention{ID: name, Start: at, End: stop}, end, true
}

// idRun returns the end of everything that can be an id at text[from:], and
// the offset at which CJK begins within a segment that does not begin with
// it, 0 for none. A colon counts only before a further segment.
func idRun(text string, from int) (end, cjk int) {
	first, inCJK := true, false // of the segment
	for i := from; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		alone := unicode.IsLetter(r) || unicode.IsDigit(r)
		switch {
		case first && !alone:
			return i, cjk
		case first:
			first, inCJK = false, isCJK(r)
		case r == ':':
			next, _ := utf8.DecodeRuneInString(text[i+size:])
			if !unicode.IsLetter(next) && !unicode.IsDigit(next) {
				return i, cjk
			}
			first = true
		case isCJK(r) && !inCJK && cjk == 0:
			cjk = i
		case !alone && r != '_' && r != '-' && !unicode.IsMark(r):
			return i, cjk
		}
		i += size
	}
	return len(text), cjk
}
