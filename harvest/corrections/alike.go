package corrections

import (
	"slices"
	"strings"
	"unicode"
)

// alike is the share of common words from which two rules are taken for one.
const alike = .5

// byRule groups quotes by their rules: those that share at least half of their words
// are one, under the wording that is most like the others.
func byRule(quotes []Quote) (out []Rule) {
	type member struct {
		Quote
		words []string
	}
	var groups [][]member
	for _, q := range quotes {
		if q.rule == "" {
			continue
		}
		m := member{q, content(q.rule)}
		best, at := alike, -1
		for i, g := range groups {
			sum := 0.0
			for _, o := range g {
				sum += overlap(m.words, o.words)
			}
			if mean := sum / float64(len(g)); mean >= best {
				best, at = mean, i
			}
		}
		if at < 0 {
			groups = append(groups, []member{m})
		} else {
			groups[at] = append(groups[at], m)
		}
	}
	for _, g := range groups {
		var r Rule
		best := -1.0
		for _, m := range g {
			sum := 0.0
			for _, o := range g {
				sum += overlap(m.words, o.words)
			}
			if sum > best {
				best, r.Rule = sum, m.rule
			}
			r.Quotes = append(r.Quotes, m.Quote)
		}
		out = append(out, r)
	}
	return out
}

// byWords groups quotes about the same thing by the two words in a row that most sessions
// have in common.
func byWords(quotes []Quote) (out []Rule) {
	for len(quotes) > 0 {
		said := commonest(quotes)
		r := Rule{Said: said}
		var rest []Quote
		concerns := ""
		for _, q := range quotes {
			switch {
			case said == "" && len(r.Quotes) > 0, said != "" && !slices.Contains(phrases(q.Words), said), len(r.Quotes) > 0 && q.concerns != concerns:
				rest = append(rest, q)
			default:
				concerns = q.concerns
				r.Quotes = append(r.Quotes, q)
			}
		}
		if len(r.Quotes) < 2 {
			r.Said = ""
		}
		out, quotes = append(out, r), rest
	}
	return out
}

// commonest is the phrase that quotes of most sessions about one thing have, "" if no
// two have one.
func commonest(quotes []Quote) string {
	type key struct{ concerns, phrase string }
	of := map[key]map[string]bool{}
	for _, q := range quotes {
		for _, p := range phrases(q.Words) {
			k := key{q.concerns, p}
			if of[k] == nil {
				of[k] = map[string]bool{}
			}
			of[k][q.Session] = true
		}
	}
	best, n := "", 1
	for k, sessions := range of {
		if len(sessions) > n || len(sessions) == n && n > 1 && k.phrase < best {
			best, n = k.phrase, len(sessions)
		}
	}
	return best
}

// phrases are the pairs of neighbours in a text that say something: two such words, or
// one behind "no". A single word says too little to be a rule.
func phrases(text string) (out []string) {
	all := split(text)
	for i := 0; i+1 < len(all); i++ {
		if w, next := all[i], all[i+1]; !stop[next] && len(next) > 2 && (w == "no" || !stop[w] && len(w) > 2) {
			out = append(out, w+" "+next)
		}
	}
	return out
}

func split(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '-' && r != '_'
	})
}

// content are the words of a rule that say something, without their endings, each once.
func content(text string) (out []string) {
	for _, w := range split(text) {
		if stop[w] || len(w) < 3 {
			continue
		}
		for _, end := range []string{"ing", "ed", "es", "s", "er"} {
			if len(w) > len(end)+3 && strings.HasSuffix(w, end) {
				w = strings.TrimSuffix(w, end)
				break
			}
		}
		if w = strings.TrimSuffix(w, "e"); !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// overlap is Dice's coefficient of the words of two rules, in [0,1].
func overlap(a, b []string) float64 {
	n := 0
	for _, w := range a {
		if slices.Contains(b, w) {
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return 2 * float64(n) / float64(len(a)+len(b))
}

// stop are English words that say nothing of what was corrected.
var stop = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`a an the and or but if of to in on at by for with from as is are was were be been being it its this that these those i you we they he she
		my your our their me us them do does did done don't doesn't didn't can could would should will shall may might must not no yes ok okay please so too also just only very
		again still now then here there when where why what which who how all any each every both more most other some such than into over under about before after up down out
		off same own instead use using used make made want wanted need needs like get got have has had let let's it's that's i'd i'm you've always never ever one two first last
		thing things something anything way well really actually maybe new`) {
		m[w] = true
	}
	return m
}()
