package redact

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/harvest/redact/likely"
	"github.com/skill-evolve/evolve/harvest/redact/wordlike"
)

// A bar is how much has to speak for a secret in a kind of text: the logarithm of its odds.
type bar struct {
	kind  likely.Kind
	least float64
}

var bars = map[lookFor]bar{inTyped: {likely.Typed, 0}, inProse: {likely.Said, -0.25}, inOutput: {likely.Output, 0.5}}

// guessed is the kind of what no rule knows.
const guessed = "likely-secret"

// guess finds what a person would take for a secret by its looks and the words around
// it, though no rule knows it.
func guess(s string, look lookFor) (found []span) {
	b, ok := bars[look]
	if !ok {
		return nil
	}
	judge(s, b.kind, func(p span, score float64) {
		if v := s[p.start:p.end]; score > b.least && !harmless(v) && !published(v) && !ofKnownForm(s, p) {
			found = append(found, span{p.start, p.end, guessed, true})
		}
	})
	return found
}

// ofKnownForm reports whether a value, or the name and the value, has a known form.
func ofKnownForm(s string, p span) bool {
	from := p.start
	for from > 0 && p.start-from < 48 && !endsWord[s[from-1]] && s[from-1] < utf8.RuneSelf {
		from--
	}
	return knownForm(s[p.start:p.end]) || from < p.start && knownForm(s[from:p.end])
}

// doubtless are those spans of what a person typed that the words around them do not
// make most unlikely.
func doubtless(s string, found []span) []span {
	const least = -1
	if len(found) == 0 {
		return nil
	}
	judge(s, likely.Typed, func(p span, score float64) {
		if score < least {
			found = slices.DeleteFunc(found, func(o span) bool { return p.start < o.end && p.end > o.start })
		}
	})
	return found
}

func judge(s string, kind likely.Kind, f func(p span, score float64)) {
	var t *likely.Text
	for w := range pieces(s) {
		if t == nil {
			t = likely.NewText(s, kind)
		}
		f(span{start: w.Start, end: w.End}, t.Score(w))
	}
}

// pieces are the tokens of a text that may be secrets by their looks: no words, paths or
// expressions.
func pieces(s string) iter.Seq[likely.Token] {
	return func(yield func(likely.Token) bool) {
		var public publicBlock
		for w := range tokensOf(s) {
			v := s[w.start:w.end]
			if len(v) < 4 || strings.HasPrefix(v, "sha") && digest(v) {
				continue
			}
			if name, rest, ok := strings.Cut(v, "/"); ok && len(name) <= len("administrator") && strings.Contains(accounts, " "+name+" ") { // user/password
				if n, _ := wordlike.Unexplained(rest); n >= 4 || wordlike.Signs(rest) > 0 {
					w.start, v = w.start+len(name)+1, rest
				}
			}
			if i := assignment(v); i > 0 {
				w.start += i
				v = v[i:]
			}
			if len(v) < 4 || len(v) > 400 || !unusual(v) {
				continue
			}
			n, size := wordlike.Unexplained(v)
			looks := looksLike(v, n, size)
			if looks == "" || looks == "hex" && (hashWord(s, w) || strings.HasPrefix(s[w.end:], "  ")) || len(v) >= 24 && run(v, 0, base64ish) == len(v) && onItsOwnLine(s, w) && public.has(s, w.start) {
				continue
			}
			noun := ""
			for _, c := range nouns().find(s[sameParagraph(s, w.start):min(len(s), w.end+before)]) {
				if noun == "" || c.kind == "password" {
					noun = c.kind
				}
			}
			many := length(len(v))
			more := []string{many, pattern(v), strconv.Itoa(4 * n / max(1, size)), strconv.Itoa(int(2*entropy(v))) + "/" + many, noun}
			if !yield(likely.Token{Start: w.start, End: w.end, Looks: looks, Group: group(looks), More: more}) {
				return
			}
		}
	}
}

// accounts are users whose name stands before a password.
const accounts = " admin administrator root user test guest pi sa postgres ubuntu deploy demo login ec2-user oracle mysql system sys "

// sameParagraph is how far back a noun may be that speaks of s[at]: in a paragraph, or
// above what is alone on its line.
func sameParagraph(s string, at int) int {
	from := max(0, at-behind)
	if i := strings.LastIndex(s[from:at], "\n\n"); i >= 0 && from+i+2 < at {
		from += i + 2
	}
	return from
}

// onItsOwnLine reports whether nothing but a margin is beside a token: of a quotation, a
// table, a string in code.
func onItsOwnLine(s string, w span) bool {
	const margin, widest = " \t\r|>*#+-\"'`,;:=", 32
	before, behind := s[max(0, w.start-widest):w.start], s[w.end:min(len(s), w.end+widest)]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	behind, _, _ = strings.Cut(behind, "\n")
	return strings.Trim(before, margin) == "" && strings.Trim(behind, margin) == ""
}

// A publicBlock tells whether places of a text, in order, are in a certificate or a public
// key.
type publicBlock struct {
	from, to int
	endless  bool // no end follows
}

func (b *publicBlock) has(s string, at int) bool {
	const mark = "-----BEGIN "
	for b.to <= at && b.from < len(s) {
		i := strings.Index(s[b.to:], mark)
		if i < 0 {
			b.from, b.to = len(s), len(s)
			break
		}
		b.from = b.to + i
		b.to = b.from + len(mark)
		if label, _, ok := strings.Cut(s[b.to:min(len(s), b.to+64)], "-----"); !ok || strings.Contains(label, "PRIVATE") {
			continue
		}
		if b.endless {
			continue
		}
		if i := strings.Index(s[b.to:], "-----END "); i >= 0 {
			b.to += i
		} else {
			b.endless = true
		}
	}
	return b.from <= at && at < b.to
}

// assignment is the length of a name and the sign behind it, before a value.
func assignment(v string) int {
	for i := range min(len(v)-4, 40) {
		if v[i] == '=' || v[i] == ':' {
			if strings.HasPrefix(v[i:], "://") {
				return 0
			}
			return min(i, 1) * (i + 1)
		}
	}
	return 0
}

// unusual reports whether v has what few words have: figures, signs, hyphens, or letters
// as no word has them.
func unusual(v string) bool {
	hyphens, plain := 0, true
	for i := range len(v) {
		switch c := v[i]; {
		case c >= '0' && c <= '9', wordlike.Sign(c):
			return true
		case c == '-':
			hyphens++
		case c >= 0x80, c == '/', c == '\\':
			return false
		case !letter[c]:
			plain = false
		}
	}
	if hyphens > 1 {
		return true
	}
	if n := len(v); !plain || n < 6 {
		return false
	}
	n, _ := wordlike.Unexplained(v)
	return n >= 4
}

// looksLike is what v, of whose size bytes words do not explain n, looks like by itself; "" if it is no secret whatever is around it.
func looksLike(v string, n, size int) string {
	digits, upper, lower := 0, false, false
	for i := range len(v) {
		switch c := v[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'A' && c <= 'Z':
			upper = true
		case c >= 'a' && c <= 'z':
			lower = true
		}
	}
	if digits == len(v) {
		return "number " + length(len(v))
	}
	if strings.Contains(v, "://") || strings.Contains(v, open) || strings.ContainsAny(v, "(){}[]\\<>") || algorithm(v) ||
		extension.MatchString(v) || identifier.MatchString(v) || strings.Contains(v, "/") && path(v) {
		return ""
	}
	signs := wordlike.Signs(v)
	switch {
	case uuid(v):
		return "uuid"
	case digest(v):
		return "hex"
	case strings.Contains(v, "@"):
		return "at"
	case n >= 8 && 2*n >= size:
		return "random"
	case n >= 4 && 2*n >= size:
		return "odd"
	case signs > 0 && digits > 0:
		return "signs and digits"
	case signs > 0:
		return "signs"
	case strings.Count(v, "-") >= 2 && n == 0 && digits == 0:
		if sentence(strings.ReplaceAll(v, "-", " ")) {
			return ""
		}
		return "words"
	case strings.ContainsAny(v, "-_.") && digits > 0:
		return "parts and digits"
	case strings.ContainsAny(v, "-_."):
		return "parts"
	case digits > 0 && ragged(v):
		return "ragged"
	case digits > 0 && n == 0:
		return "word and digits"
	case digits > 0:
		return "mixed"
	case !upper:
		return "lower"
	case !lower:
		return "upper"
	}
	return "camel"
}

// group is what looks have in common.
func group(looks string) string {
	switch looks {
	case "uuid", "hex":
		return "id"
	case "random", "odd", "ragged":
		return "generated"
	}
	if strings.HasPrefix(looks, "number") {
		return "number"
	}
	return "made up"
}

// length is a length, in steps.
func length(n int) string {
	for _, most := range [...]int{4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32, 33, 40, 41, 64, 65, 100} {
		if n <= most {
			return strconv.Itoa(most)
		}
	}
	return "long"
}

// pattern is the classes of the characters of v, each once for a run of them.
func pattern(v string) string {
	const most = 8
	b := make([]byte, 0, most+1)
	for i := range len(v) {
		k := v[i]
		switch {
		case k >= '0' && k <= '9':
			k = '9'
		case k >= 'A' && k <= 'Z':
			k = 'A'
		case k >= 'a' && k <= 'z':
			k = 'a'
		}
		if len(b) > 0 && b[len(b)-1] == k {
			continue
		}
		if b = append(b, k); len(b) > most {
			break
		}
	}
	return string(b)
}
