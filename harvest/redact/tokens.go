package redact

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// class is a set of bytes that a token may be made of.
type class [256]bool

func bytesOf(s string) *class {
	var c class
	for i := 0; i < len(s); i++ {
		if i+2 < len(s) && s[i+1] == '-' {
			for b := int(s[i]); b <= int(s[i+2]); b++ {
				c[b] = true
			}
			i += 2
			continue
		}
		c[s[i]] = true
	}
	return &c
}

var (
	alnum     = bytesOf("A-Za-z0-9")
	letter    = bytesOf("A-Za-z")
	word      = bytesOf("A-Za-z0-9_")
	dashed    = bytesOf("A-Za-z0-9_-") // the URL-safe base64 alphabet
	hex       = bytesOf("0-9a-f")
	dotted    = bytesOf("A-Za-z0-9_.-")
	base64ish = bytesOf("A-Za-z0-9+/=")
)

// token is a secret that its issuer marks with a prefix.
type token struct {
	kind   string
	prefix string
	body   *class
	min    int // bytes after the prefix
	max    int // 0: no limit; a longer run is no token of this kind
}

// tokens are taken from the issuers' own documentation of their formats; the
// lengths are lower bounds, so that a format that grew is still found.
//
// A row of tokens.tsv is the kind, the prefixes (~ is a space), both lengths and the class;
// "dashed" is the one whose tokens may end in a dash.
//
//go:embed tokens.tsv
var tokenTable string

var tokens = sync.OnceValue(func() (rows []token) {
	for line := range strings.Lines(tokenTable) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		least, _ := strconv.Atoi(f[2])
		most, _ := strconv.Atoi(f[3])
		body := dashed
		if f[4] != "dashed" {
			body = bytesOf(f[4])
		}
		for p := range strings.FieldsSeq(f[1]) {
			rows = append(rows, token{f[0], strings.ReplaceAll(p, "~", " "), body, least, most})
		}
	}
	return rows
})

func tokenRules() []rule {
	rules := make([]rule, 0, len(tokens()))
	for _, t := range tokens() {
		r := rule{kind: t.kind, word: t.prefix, exact: true, match: t.match}
		if len(t.prefix) < 3 { // SK and AC: every hexadecimal digit may follow
			for _, digit := range "0123456789abcdef" {
				r.word = t.prefix + string(digit)
				rules = append(rules, r)
			}
			continue
		}
		rules = append(rules, r)
	}
	return rules
}

func (t token) match(s string, at int) (int, int, bool) {
	if !boundary(s, at) {
		return 0, 0, false
	}
	from := at + len(t.prefix)
	limit := len(s)
	if t.max > 0 {
		limit = min(limit, from+t.max+1)
	}
	end := run(s[:limit], from, t.body)
	for end > from && (s[end-1] == '.' || s[end-1] == '-' && t.body != dashed) { // a full stop is the sentence's
		end--
	}
	n := end - from
	if n < t.min || t.max > 0 && n > t.max || t.max > 0 && end < len(s) && word[s[end]] || monotone(s[from:end]) {
		return 0, 0, false
	}
	if t.prefix == "sk-" && !mixed(s[from:end]) {
		return 0, 0, false
	}
	return at, end, true
}

// run returns the end of the bytes of c that begin at s[at].
func run(s string, at int, c *class) int {
	for at < len(s) && c[s[at]] {
		at++
	}
	return at
}

// boundary reports whether a token may begin at s[at]: not inside a word,
// unless the letter before it is that of an escape (\n, \t) that the text holds
// literally.
func boundary(s string, at int) bool {
	if at == 0 || !alnum[s[at-1]] {
		return true
	}
	return at >= 2 && s[at-2] == '\\' && (s[at-1] == 'n' || s[at-1] == 't' || s[at-1] == 'r')
}

// monotone reports whether s is filler: at most two different bytes, as in
// ghp_xxxxxxxx.
func monotone(s string) bool {
	var seen [256]bool
	different := 0
	for i := range len(s) {
		if !seen[s[i]] {
			seen[s[i]] = true
			if different++; different > 2 {
				return false
			}
		}
	}
	return true
}

// mixed reports whether s holds both a letter and a digit.
func mixed(s string) bool {
	var digits, letters bool
	for i := range len(s) {
		digits = digits || s[i] >= '0' && s[i] <= '9'
		letters = letters || letter[s[i]]
	}
	return digits && letters
}
