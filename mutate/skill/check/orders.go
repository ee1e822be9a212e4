package check

import (
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
	"golang.org/x/text/unicode/norm"
)

// A negation directly before a command, or before a list of verbs that holds
// it ("never print, show or log"). A double negation ("never fail to") and
// a second clause ("never wait and skip") do not count.
var (
	negation     = lazyregexp.New(`(?:\bnever|\bnot|n't|\bavoid|\bwithout|\bmust not|\bcannot)(?: (?:ever|just|simply|be))?(?: (?:[a-z-]+, )*[a-z-]+,? n?or)? $`)
	negationList = lazyregexp.New(`(?:\bnever|\bnot|n't|\bavoid|\bwithout|\bmust not|\bcannot)(?: [a-z-]+,)+ $`)
	listGoesOn   = lazyregexp.New(`^[a-z-]+,? (?:[a-z-]+, )*n?or `)
)

// negated reports whether s forbids what is at offset at.
func negated(s string, at int) bool {
	before := s[:at]
	if strings.Contains(before, "never mind") {
		return false
	}
	return negation.MatchString(before) || negationList.MatchString(before) && listGoesOn.MatchString(s[at:])
}

type finding struct {
	rule, what, text string
	phrase           string // of text
	at               int
}

// newOrders finds the sentences of the child's harness (said) that command
// what the firewall guards and that the parent's (was) does not hold
// verbatim.
func newOrders(was, said []match, child *document) []finding {
	known := map[string]bool{}
	for _, s := range was {
		known[s.text] = true
	}
	kernel := kernelNames(child)
	var out []finding
	for i, s := range said {
		if known[s.text] {
			continue
		}
		own := ordered.of(s.text, ordersIn)
		hit := map[string]bool{}
		phrase := own.echo
		if phrase == "" && i+1 < len(said) && commands(patternOf("carried-out"), said[i+1].text) != "" {
			phrase = own.request
		}
		if phrase != "" {
			hit["obey-data"] = true
			out = append(out, finding{"obey-data", "obeys what stands in data", s.text, phrase, s.at})
		}
		for _, o := range own.orders {
			if !hit[o.Rule] && !(o.Rule == publishes && child.onlyExamples(s, o.Rule)) {
				hit[o.Rule] = true
				out = append(out, finding{o.Rule, o.Reports, s.text, o.phrase, s.at})
			}
		}
		if !hit["override-instructions"] && kernel != nil && kernel.MatchString(s.text) {
			if phrase := commands(patternOf("undermining"), s.text); phrase != "" {
				out = append(out, finding{"undermine-kernel", "disregards, delays or conditions a kernel rule", s.text, phrase, s.at})
			}
		}
	}
	return out
}

// ownOrders are the orders of a sentence taken by itself, with one for each
// rule.
type ownOrders struct {
	request string // what data may hold: the next sentence may carry it out
	echo    string
	orders  []order
}

// An order is a pattern, and the words that match it.
type order struct {
	*pattern
	phrase string
}

var ordered remembered[ownOrders]

func ordersIn(sentence string) ownOrders {
	text := withoutHarmless(sentence)
	own := ownOrders{request: patternOf("requests-within").FindString(text), echo: echoes(text)}
	for _, o := range patterns().Orders {
		if slices.ContainsFunc(own.orders, func(p order) bool { return p.Rule == o.Rule }) {
			continue
		}
		if phrase := commands(o, text); phrase != "" {
			own.orders = append(own.orders, order{o, phrase})
		}
	}
	return own
}

// onlyExamples reports whether sentence s of the description speaks of what a rule is about in
// examples of requests alone.
func (d *document) onlyExamples(s match, rule string) bool {
	start, end, ok := d.DescriptionSpan()
	if !ok || s.at < start || s.at >= end {
		return false
	}
	rest := patternOf("example-request").ReplaceAllString(d.Description(), " ")
	return !slices.ContainsFunc(sentences(rest), func(s match) bool {
		return slices.ContainsFunc(ordered.of(s.text, ordersIn).orders, func(o order) bool { return o.Rule == rule })
	})
}

// echoes returns where the sentence commands what the data tells, "" if nowhere.
func echoes(s string) string {
	m := patternOf("echoed").FindStringSubmatch(s)
	if m != nil && (m[1] == m[2] || m[1] == m[2]+"d" || m[1] == m[2]+"ed") {
		return m[0]
	}
	return ""
}

// commands returns the first match of re in s without a negation directly before
// it, "" for none.
func commands(re *pattern, s string) string {
	for at := 0; at < len(s); {
		m := re.FindStringIndex(s[at:])
		if m == nil {
			return ""
		}
		if !negated(s, at+m[0]) {
			return s[at+m[0] : at+m[1]]
		}
		// Continue after the first word: the rest of the match may begin
		// another.
		next := strings.IndexByte(s[at+m[0]:], ' ')
		if next < 0 {
			return ""
		}
		at += m[0] + next + 1
	}
	return ""
}

// kernelNames matches every way in which a sentence can name the kernel of
// the body: by its place, by the headings inside it, and by the general words
// that it uses itself. It is nil if there is no rule to undermine.
func kernelNames(d *document) *regexp.Regexp {
	words, kept := []string{patternOf("kernel-places").String()}, false
	headings := d.md.Headings
	for _, s := range d.bodySpans() {
		if s.Reason == skill.ShellReason {
			continue
		}
		kept = true
		words = append(words, patternOf("kernel-word").FindAllString(normalize(string(d.raw[s.Start:s.End])), -1)...)
		for len(headings) > 0 && headings[0].Start < s.Start {
			headings = headings[1:]
		}
		for ; len(headings) > 0 && headings[0].Start < s.End; headings = headings[1:] {
			if name := normalize(headings[0].Text); len(name) >= 4 {
				words = append(words, regexp.QuoteMeta(name))
			}
		}
	}
	if !kept {
		return nil
	}
	slices.Sort(words)
	expr := `(?:^|[^\pL\pN])(?:` + strings.Join(slices.Compact(words), "|") + `)(?:$|[^\pL\pN])`
	if last := lastKernelNames.Load(); last != nil && last.String() == expr {
		return last
	}
	re := regexp.MustCompile(expr)
	lastKernelNames.Store(re)
	return re
}

// lastKernelNames caches the newest result: all texts of a search have the
// same kernel.
var lastKernelNames atomic.Pointer[regexp.Regexp]

var sentenceEnd = lazyregexp.New(`[.!?;]["')\]*_]*(?:\s+|$)|\r?\n[ \t>]*(?:\r?\n|#{1,6} |[-*+] |\d+[.)] |\|)|\r?\n[ \t]*` + "```")

// sentences cuts a text at sentence ends, blank lines, headings and list
// items, and normalizes each piece.
func sentences(s string) []match {
	var out []match
	add := func(from, to int) {
		piece := s[from:to]
		lead := len(piece) - len(strings.TrimLeft(piece, " \t\r\n>#*+-|"))
		if text := normalize(piece); text != "" {
			out = append(out, match{min(from+lead, to), text})
		}
	}
	at := 0
	for _, m := range sentenceEnd.FindAllStringIndex(s, -1) {
		add(at, m[0])
		at = m[1]
	}
	add(at, len(s))
	return out
}

// normalize removes differences that do not change how an agent reads a
// sentence: case, compatibility forms, invisible characters, emphasis,
// quotes, spaces.
func normalize(s string) string {
	s = strings.TrimLeft(plain(s), "#>+| ")
	return strings.TrimRight(strings.TrimPrefix(s, "- "), "| .!?;,")
}

// plain is normalize without the marks at both ends.
func plain(s string) string {
	s = strings.ToLower(norm.NFKC.String(s))
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '*' || r == '`' || r == '"' || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Mn, r):
			return -1
		case r == '’' || r == '‘':
			return '\''
		case r == '_' || r == '\u2010' || r == '\u2011':
			return '-'
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
