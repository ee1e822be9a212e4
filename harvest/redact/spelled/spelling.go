package spelled

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A Spelling is one way to write a value down.
type Spelling struct {
	Text string
	// Of base64 only those digits are known that the value alone decides; before
	// and after it may stand one that it shares with its neighbours.
	before, after bool
	Whole         bool   // it is none within a longer word
	Kind          string // what the caller calls it
}

// least is how long a spelling is: shorter ones are found by chance.
const least = 8

// escaped matches what percent-encoding makes of a byte.
var escaped = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`%[0-9A-F]{2}`) })

// Of are the ways in which programs repeat a value.
func Of(v string) []Spelling {
	texts := []string{v, url.QueryEscape(v), url.PathEscape(v), strings.ReplaceAll(url.QueryEscape(v), "+", "%20"),
		html.EscapeString(v), JSON(v, true), JSON(v, false)}
	texts = append(texts, strings.ReplaceAll(JSON(v, true), "/", `\/`), strings.ReplaceAll(JSON(v, false), "/", `\/`))
	for _, t := range slices.Clone(texts) {
		texts = append(texts, escaped().ReplaceAllStringFunc(t, strings.ToLower))
	}
	texts = append(texts, url.QueryEscape(url.QueryEscape(v)))
	var out []Spelling
	add := func(f Spelling) {
		if len(f.Text) >= least && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	for _, t := range texts {
		add(Spelling{Text: t})
	}
	for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for beside := range 3 { // bytes of the same group that stand before the value
			digits := alphabet.EncodeToString(append(make([]byte, beside), v...))
			from, to := (8*beside+5)/6, 8*(beside+len(v))/6
			add(Spelling{Text: digits[from:to], before: beside > 0, after: 8*(beside+len(v))%6 > 0})
		}
	}
	return out
}

// JSON is v as it stands within the quotes of JSON, with & < > escaped, as Go
// does it, or as they are.
func JSON(v string, forHTML bool) string {
	if strings.IndexFunc(v, func(r rune) bool { return r < ' ' || r >= 0x7f || strings.ContainsRune(`"\&<>`, r) }) < 0 {
		return v
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(forHTML)
	if e.Encode(v) != nil {
		return v
	}
	return strings.Trim(strings.TrimSuffix(b.String(), "\n"), `"`)
}

// around reports whether the whole form stands around its window form[at:at+width],
// of which s[i:i+width] has the last three bytes, and where.
func (f *Spelling) around(s string, i, at, width int) (start, end int, ok bool) {
	if s[i:i+width] != f.Text[at:at+width] {
		return 0, 0, false
	}
	tries := 256
	start, ok = stretch(s, i-1, f.Text[:at], -1, &tries)
	if !ok {
		return 0, 0, false
	}
	end, ok = stretch(s, i+width, f.Text[at+width:], +1, &tries)
	if !ok {
		return 0, 0, false
	}
	start++ // the last byte that was seen
	if f.before && start > 0 && base64Digit(s[start-1]) {
		start--
	}
	if f.after && end < len(s) && base64Digit(s[end]) {
		end++
	}
	return start, end, true
}

func base64Digit(c byte) bool { return alnum(c) || strings.IndexByte("+/_-", c) >= 0 }

// Margin is what stands beside a line break within a value: quotes and signs of
// concatenation too.
const Margin = " \t\r\n\\\"'`+,;>#|*"

// stretch matches want at s[at], to the right (by +1) or, from its last byte on,
// to the left (by -1), over line breaks and what they bring with them. It returns
// the place behind the last byte. tries bounds what ambiguous text may cost.
func stretch(s string, at int, want string, by int, tries *int) (behind int, ok bool) {
	for want != "" {
		c := want[0]
		if by < 0 {
			c = want[len(want)-1]
		}
		if at < 0 || at >= len(s) {
			return 0, false
		}
		if s[at] != c {
			return over(s, at, want, c, by, tries)
		}
		at += by
		if by > 0 {
			want = want[1:]
		} else {
			want = want[:len(want)-1]
		}
	}
	return at, true
}

// over goes on behind a line break, with the margin of the next line, the quotes
// and the signs of concatenation around it; or behind a backslash that an encoder
// has added.
func over(s string, at int, want string, next byte, by int, tries *int) (behind int, ok bool) {
	const farthest = 40
	broken, slashes := false, true
	for n := 0; n < farthest && at >= 0 && at < len(s); n++ {
		switch c := s[at]; {
		case c == '\n' || c == '\r':
			broken, slashes = true, false
		case by > 0 && c == '\\' && at+1 < len(s) && (s[at+1] == 'n' || s[at+1] == 'r'):
			broken, slashes = true, false
			at++
		case by < 0 && (c == 'n' || c == 'r') && at > 0 && s[at-1] == '\\':
			broken, slashes = true, false
			at--
		case strings.IndexByte(Margin, c) < 0:
			return 0, false
		case c != '\\':
			slashes = false
		}
		at += by
		if (broken || slashes) && at >= 0 && at < len(s) && s[at] == next && *tries > 0 {
			*tries--
			if behind, ok = stretch(s, at, want, by, tries); ok {
				return behind, true
			}
		}
	}
	return 0, false
}
