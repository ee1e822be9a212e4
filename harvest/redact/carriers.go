package redact

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
)

// A carrier is a place that holds a secret: the argument of a program, a field of a
// file. Where one of its words is, its pattern is tried on the text from there on, or,
// if it ends in $, on the text before. The first group of the pattern that matches is
// the secret. In a pattern
//
//	<v>  is a value of 4 bytes or more, which holds no blank and no quote,
//	<q>  one that may be quoted,
//	<w>  any value but a reference, if nothing else is ever in its place,
//	<b>  base64 of 20 digits or more,
//	<n>  the name of a secret: DB_PASSWORD, apiKey,
//	<u>  a UUID, which is no secret otherwise.
//
// A value is none if it is a reference, an example or filler; unless the pattern says
// by itself what it is made of, it has to be one that people or programs make up.
//
// example is a text that holds such a secret; {alphabet:n} is replaced by n characters
// of an alphabet when it is tested.
type carrier struct {
	kind    string
	words   string // separated by spaces; ~ is a space
	pattern string
	example string
}

// A row of carriers.tsv has these four. In words and examples ␊ is a line feed, ␉ a tab.
//
//go:embed carriers.tsv
var carrierTable string

// carriersOf reads such a table.
func carriersOf(table string) (rows []carrier) {
	plain := strings.NewReplacer("␊", "\n", "␉", "\t")
	for line := range strings.Lines(table) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		rows = append(rows, carrier{f[0], plain.Replace(f[1]), f[2], plain.Replace(f[3])})
	}
	return rows
}

// The names of variables and fields that hold secrets.
const nameOfSecret = `[\w.:-]*(?:passw(?:or)?d|_pass|pass_|pwd|secret|token|api_?key|access_?key|private_?key|auth_?key|credential|_key|passphrase|pass)\w*`

var shorthands = strings.NewReplacer(
	"<q>", `\\*["'\x60]?([^\s"'\x60\\<>]{4,512})`,
	"<v>", `([^\s"'\x60\\<>,;|)]{4,512})`,
	"<w>", `\\*["'\x60]?([^\s"'\x60\\<>$({%/-][^\s"'\x60\\<>]{4,200})`,
	"<b>", `([A-Za-z0-9+/_-]{20,}={0,2})`,
	"<n>", nameOfSecret,
	"<u>", `([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})`)

// exactWords reports whether letter case says something in the words of a carrier.
func exactWords(words string) bool { return strings.ToLower(words) != words }

func carrierRules(table string) []rule {
	var rules []rule
	for _, c := range carriersOf(table) {
		pattern := shorthands.Replace(c.pattern)
		if !exactWords(c.words) {
			pattern = "(?i)" + pattern
		}
		re, madeUp := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) }), strings.Contains(c.pattern, "<q>") || strings.Contains(c.pattern, "<v>") || strings.HasSuffix(c.pattern, "$") && c.kind != "pin"
		before, ids := strings.HasSuffix(c.pattern, "$"), strings.Contains(c.pattern, "<u>")
		figures := strings.Contains(c.pattern, `\d{6}-`)
		match := func(s string, at int) (int, int, bool) {
			if figures && !strings.ContainsAny(s[at:min(len(s), at+farthest)], digitBytes) {
				return 0, 0, false
			}
			if c.kind == "pin" && !before && !strings.ContainsAny(s[at:min(len(s), at+160)], digitBytes) {
				return 0, 0, false
			}
			start, end, ok := carried(re(), s, at, before, madeUp)
			v := s[start:end]
			return start, end, ok && (ids || !uuid(v))
		}
		for w := range strings.FieldsFuncSeq(c.words, func(r rune) bool { return r == ' ' }) {
			rules = append(rules, rule{kind: c.kind, word: strings.ReplaceAll(w, "~", " "), exact: exactWords(c.words), vague: true, match: match})
		}
	}
	return rules
}

// farthest is how far behind its word a carrier's secret ends, in bytes.
const farthest = 1 << 10

// carried finds the first group of re in the text from s[at] on, or before it.
func carried(re *regexp.Regexp, s string, at int, before, madeUp bool) (start, end int, ok bool) {
	const back = 240
	from, text := at, s[at:min(len(s), at+farthest)]
	if before {
		from = max(0, at-back)
		text = s[from:at]
	}
	m := re.FindStringSubmatchIndex(text)
	if m == nil {
		return 0, 0, false
	}
	for g := 2; g < len(m); g += 2 {
		if m[g] < 0 {
			continue
		}
		start, end = from+m[g], from+m[g+1]
		if m[g+1] == len(text) && !before { // longer than the window
			end = run(s, end, dashedBase64)
		}
		v := s[start:end]
		if madeUp {
			end -= len(v) - len(strings.TrimRight(v, ".,;:)}]"))
			v = s[start:end]
		}
		look := v[:min(len(v), 256)]
		if harmless(look) || strings.HasPrefix(v, "pk_") || strings.Contains(look, open) {
			return 0, 0, false
		}
		if madeUp && (strings.IndexByte("$<{(%[", v[0]) >= 0 || strings.ContainsAny(look, "({") || !invented(look)) {
			return 0, 0, false
		}
		return start, end, true
	}
	return 0, 0, false
}

var dashedBase64 = bytesOf("A-Za-z0-9+/=_-")

// invented reports whether v may be a value that somebody or a program made up: it is
// no plain word or number and no path.
func invented(v string) bool {
	if odd(v) {
		return true
	}
	if len(v) < 4 || strings.HasPrefix(v, "/") && !base64Key.MatchString(v) || strings.HasPrefix(v, "-") || strings.HasPrefix(v, "./") || strings.Contains(v, "://") || algorithm(v) {
		return false
	}
	return mixed(v) || strings.ContainsAny(v, "!@#%^&*+?~=") || odd(v) || strings.ToLower(v) != v && strings.ToUpper(v[:1])+v[1:] != v && len(v) >= 8
}
