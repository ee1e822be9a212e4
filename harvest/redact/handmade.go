package redact

import (
	"strings"

	"github.com/skill-evolve/evolve/harvest/redact/wordlike"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// handmade reports whether v may be a password that a person made up: words with figures,
// signs or dashes.
func handmade(v string) bool {
	letters, digits := 0, 0
	for i := range len(v) {
		switch {
		case letter[v[i]]:
			letters++
		case v[i] >= '0' && v[i] <= '9':
			digits++
		}
	}
	if len(v) < 6 || letters < 3 || !plainToken(v) || !known(v) || algorithm(v) || knownForm(v) || strings.ContainsAny(v, "/_=:") || extension.MatchString(v) {
		return false
	}
	return digits >= 2 || digits > 0 && wordlike.Signs(v) > 0 || odd(v)
}

// hardly reports whether v, which is handmade, is hardly the name of anything.
func hardly(v string) bool {
	figures := 0
	for i := range len(v) {
		if v[i] >= '0' && v[i] <= '9' {
			figures++
		}
	}
	return handmade(v) && (figures >= 3 && strings.ToLower(v) != v && !strings.Contains(v, "-") || wordlike.Signs(v) > 0)
}

// scrambled reports whether v has small letters, capitals and figures without any order.
func scrambled(v string) bool {
	return len(v) >= 10 && strings.ToLower(v) != v && strings.ToUpper(v) != v && strings.ContainsAny(v, digitBytes) && odd(v)
}

// generatedSign reports whether v is scrambled and has signs within it, as generated
// passwords do and nothing that an agent names.
func generatedSign(v string) bool {
	return scrambled(v) && wordlike.Signs(v[1:]) > 0 && !wordlike.Sign(v[0]) && !strings.ContainsAny(v, "/=@") && chosen(v, inProse)
}

// siblings finds the words that are a found password with other figures: Rain22!, rain-2023.
func siblings(s string, found, words []span) (more []span) {
	for _, p := range found {
		stem := run(s[:p.end], p.start, letter)
		if p.kind == "pin" || stem-p.start < 4 || stem == p.end {
			continue
		}
		for _, w := range words {
			v := s[w.start:w.end]
			if w.start != p.start && len(v) > stem-p.start && strings.EqualFold(v[:stem-p.start], s[p.start:stem]) && !letter[v[stem-p.start]] && handmade(v) {
				more = append(more, span{w.start, w.end, p.kind, true})
			}
		}
	}
	return more
}

// listed finds the passwords of a list of users below a line that speaks of them.
func listed(s string, n span, look lookFor) (found []span) {
	const rows, longest = 30, 200
	_, next := lineAt(s, n.start, longest)
	for row := 0; row < rows && next >= 0 && next < len(s); row++ {
		from := next
		var line string
		line, next = lineAt(s, from, longest)
		m := listItem.FindStringSubmatchIndex(line)
		if m == nil {
			break
		}
		if v := line[m[2]:m[3]]; hardly(v) || chosen(v, look) {
			found = append(found, span{from + m[2], from + m[3], "password", true})
		}
	}
	return found
}

// listItem is a name and a value.
var listItem = lazyregexp.New("^\\s*(?:[-*\u2022]|\\d{1,2}[.)])?\\s*[`*\"']{0,3}[\\w.@+-]{2,60}[`*\"']{0,3}(?:\\s*[:/=,|]\\s*|\\s+[-\u2013\u2014>]{1,2}\\s+|\\t|\\s+)[`*\"']{0,3}([^\\s`*\"',|]{6,64})[`*\"']{0,3}\\s*$")
