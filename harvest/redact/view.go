package redact

import (
	"strings"
	"unicode/utf8"
)

// A view is a text as a program further on reads it: escapes are decoded, and what
// nobody sees is taken out. at[i] and end[i] are where its byte i is in the text.
type view struct {
	text    []byte
	at, end []int32
}

func (v *view) add(c byte, at, end int) {
	v.text, v.at, v.end = append(v.text, c), append(v.at, int32(at)), append(v.end, int32(end))
}

// same adds s[from:to] as it is.
func (v *view) same(s string, from, to int) {
	v.text = append(v.text, s[from:to]...)
	for i := from; i < to; i++ {
		v.at, v.end = append(v.at, int32(i)), append(v.end, int32(i+1))
	}
}

// back maps spans of the view to the text.
func (v *view) back(spans []span) []span {
	for i, p := range spans {
		spans[i].start, spans[i].end = int(v.at[p.start]), int(v.end[p.end-1])
	}
	return spans
}

// escaping are the bytes that begin what a view decodes, breaking those that may begin
// what cuts a token in two.
var (
	escaping = bytesOf("\\%=&[\x1b\xe2\xef\xc2")
	breaking = bytesOf(" \\\r\n\"'`")
	both     = bytesOf("\\%=&[\x1b\xe2\xef\xc2 \r\n\"'`")
)

// decode returns the text decoded, nil if that is the text itself: percent-encoding, escapes of JSON, quoted-printable,
// entities, sequences of terminals with what is left of them when the escape byte was
// stripped, and characters without a width. joined also takes out line breaks, with
// the margins around them, and the signs of concatenation, if the token that they cut
// in two goes on behind them.
func decode(s string, joined bool) *view {
	var v *view
	special := escaping
	if joined {
		special = both
	}
	spaced := joined && hasMark(s) // else no blank within a token is looked for
	for i := 0; i < len(s); {
		if !special[s[i]] {
			from := i
			for i++; i < len(s) && !special[s[i]]; i++ {
			}
			if v != nil {
				v.same(s, from, i)
			}
			continue
		}
		if c := s[i]; escaping[c] || i > 0 && i+1 < len(s) && (tokenByte[s[i-1]] || quote[s[i-1]]) &&
			(c != ' ' || s[i+1] == '|' || s[i+1] >= 0x80 || s[i+1] == ' ' || spaced && alnum[s[i+1]]) {
			n, c := 0, byte(0)
			if joined && breaking[s[i]] {
				n = broken(s, i, v)
			}
			if n == 0 && escaping[s[i]] {
				c, n = escape(s, i)
			}
			if n > 0 {
				if v == nil {
					v = startView(s, i)
				}
				if c == 0 && !joined && s[i] < 0x80 {
					c = boundaryMark
				}
				if c != 0 {
					v.add(c, i, i+n)
				}
				i += n
				continue
			}
		}
		if v != nil {
			v.add(s[i], i, i+1)
		}
		i++
	}
	return v
}

// hasMark reports whether a text holds the beginning of a token that is often copied in
// pieces.
func hasMark(s string) bool {
	for _, t := range [...]string{"ghp_", "github_pat_", "glpat-", "sk-", "sk_live_", "xox", "AKIA"} {
		if strings.IndexByte(s, t[len(t)-1]) >= 0 && strings.Contains(s, t) {
			return true
		}
	}
	return false
}

// boundaryMark is in the place of what colours a text, where nothing is joined.
const boundaryMark = 1

// startView is a view of the first n bytes of s, in which nothing had to be decoded.
func startView(s string, n int) *view {
	v := &view{text: make([]byte, 0, len(s)), at: make([]int32, 0, len(s)), end: make([]int32, 0, len(s))}
	v.same(s, 0, n)
	return v
}

// escape decodes what begins at s[at]: the byte that it is, 0 if it is not to be seen,
// and its length, 0 if nothing begins there.
func escape(s string, at int) (c byte, n int) {
	rest := s[at:min(len(s), at+64)]
	switch s[at] {
	case '%':
		if c, next, ok := percent(s, at); ok && c >= ' ' && c < 0x7f {
			return c, next - at
		}
	case '\\':
		i := 1
		for i < len(rest) && rest[i] == '\\' {
			i++
		}
		if i == len(rest) {
			return 0, 0
		}
		switch c := rest[i]; c {
		case '"', '\'', '/', '`':
			return c, i + 1
		case 'n', 'r':
			return '\n', i + 1
		case 't':
			return '\t', i + 1
		case 'b', 'f', 'v':
			return ' ', i + 1
		case 'e':
			return 0, i + 1 + sequence(rest[i+1:])
		case 'u', 'x':
			digits := 2
			if c == 'u' {
				digits = 4
			}
			return ofCode(rest[i+1:], digits, 16, i+1)
		case '0':
			return ofCode(rest[i+1:], 2, 8, i+1)
		}
	case '=':
		if len(rest) >= 3 && (rest[1] == '\n' || rest[1] == '\r' && rest[2] == '\n') {
			return 0, 1 + strings.IndexByte(rest, '\n') // quoted-printable breaks lines so
		}
		if len(rest) >= 3 && capitalHex(rest[1]) && capitalHex(rest[2]) {
			if c := unhex(rest[1])<<4 | unhex(rest[2]); c == '=' || c == ' ' || c == '\n' || c == '\r' {
				return c, 3
			}
		}
	case '&':
		for _, e := range [...]struct {
			name string
			c    byte
		}{{"&quot;", '"'}, {"&#34;", '"'}, {"&#39;", '\''}, {"&apos;", '\''}, {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&#x27;", '\''}, {"&nbsp;", ' '}} {
			if strings.HasPrefix(rest, e.name) {
				return e.c, len(e.name)
			}
		}
	case '\x1b':
		return 0, 1 + sequence(rest[1:])
	case '[':
		if n := sequence(rest); n > 2 && rest[1] != 'm' {
			return 0, n
		}
	case '\xe2', '\xef', '\xc2':
		r, n := utf8.DecodeRuneInString(rest)
		switch {
		case r >= '\u200b' && r <= '\u200f', r >= '\u2060' && r <= '\u2064', r == '\ufeff', r == '\u00ad', r >= '\u202a' && r <= '\u202e':
			return 0, n
		}
	}
	return 0, 0
}

// ofCode is the byte whose number stands in so many digits; before is the length of
// what begins it.
func ofCode(rest string, digits int, base, before int) (c byte, n int) {
	code := 0
	for i := range digits {
		if i >= len(rest) || !isHex(rest[i]) || int(unhex(rest[i])) >= base {
			return 0, 0
		}
		code = code*base + int(unhex(rest[i]))
	}
	n = before + digits
	switch {
	case code == 0x1b:
		return 0, n + sequence(rest[digits:])
	case code >= 0x200b && code <= 0x200f, code == 0xfeff, code == 0x2060:
		return 0, n
	case code == '\n', code == '\r', code == '\t', code >= ' ' && code < 0x7f:
		return byte(code), n
	}
	return 0, 0
}

func capitalHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'A' && c <= 'F' }

// sequence is the length of the sequence for a terminal that s begins with, its escape
// byte aside: [1;32m, [0K, what begins a title. 0 if it is none.
func sequence(s string) int {
	if len(s) < 2 {
		return 0
	}
	if s[0] == ']' { // a title: its text is seen
		i := 1
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		if i > 1 && i < len(s) && s[i] == ';' {
			return i + 1
		}
		return 0
	}
	if s[0] != '[' {
		return 0
	}
	i := 1
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == ';') {
		i++
	}
	if i < len(s) && (s[i] == 'm' || s[i] == 'K') {
		return i + 1
	}
	return 0
}

var tokenByte = bytesOf("A-Za-z0-9_+/=.-")

var quote = bytesOf("'\"")

// broken is the length of what cuts a token in two at s[at]: a line break with the
// margins around it, or quotes with a sign of concatenation between them. It is 0 if
// the token does not go on: what follows looks like a word.
func broken(s string, at int, v *view) int {
	const farthest = 96
	limit := min(len(s), at+farthest)
	i, lines, quotes, signs := at, 0, 0, 0
	for i < limit {
		switch c := s[i]; {
		case c == '\n' || c == '\r':
			if c == '\n' {
				lines++
			}
		case c == '\\' && i+1 < limit && (s[i+1] == 'n' || s[i+1] == 'r'):
			lines++
			i++
		case c == '"' || c == '\'' || c == '`':
			quotes++
		case c == '+' || c == '.' || c == ',' || c == '&':
			if quotes == 0 && lines == 0 {
				return 0
			}
			signs++
		case strings.IndexByte(margin, c) >= 0:
		case strings.HasPrefix(s[i:], "\u2502"): // of a table that is drawn
			i += 2
		default:
			goto behind
		}
		i++
	}
	return 0
behind:
	if i == at+1 && s[at] == ' ' {
		if end := run(s[:min(len(s), i+256)], i, dashed); !marked(s, at, v) || another(s[i:end]) || !odd(s[i:end]) {
			return 0
		}
		return 1
	}
	if lines > 1 || signs > 1 || lines == 0 && (quotes != 2 || signs == 0 && s[at] == '`') || quotes > 3 {
		return 0
	}
	end := run(s[:min(len(s), i+256)], i, dashed)
	if end == i || another(s[i:end]) || !goesOn(s[i:end]) && (signs != 1 || !mixed(s[i:end]) || numbered(s[i:end])) {
		return 0
	}
	return i - at
}

// marked reports whether the word before s[at], put together in v, begins like a token.
func marked(s string, at int, v *view) bool {
	const longest = 200
	before := s[max(0, at-longest):at]
	if v != nil {
		before = string(v.text[max(0, len(v.text)-longest):])
	}
	from := len(before)
	for from > 0 && dashed[before[from-1]] {
		from--
	}
	return another(before[from:])
}

// goesOn reports whether v, behind a line break, looks like the rest of a token.
func goesOn(v string) bool {
	if len(v) < 8 && !mixed(v) {
		return false
	}
	return odd(v) || len(v) < 12 && mixed(v) && !numbered(v)
}

// another reports whether v is the beginning of a token, and no rest of one.
func another(v string) bool {
	for _, t := range [...]string{"ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "sk-", "sk_live_", "xox", "AKIA", "ASIA", "eyJ"} {
		if strings.HasPrefix(v, t) {
			return true
		}
	}
	return false
}

// numbered is true of a word with a number behind it: line2, v3.
func numbered(v string) bool {
	return mixed(v) && strings.Trim(strings.TrimRight(v, "0123456789"), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-") == "" &&
		(strings.ToLower(v) == v || strings.ToUpper(v) == v || strings.ToLower(v[1:]) == v[1:])
}
