package corrections

import (
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// alike is the likeness from which two rules are taken for one.
const alike = .33

// byRule groups quotes by their rules: each joins the group that it is most like, if it
// is like one, under the wording that is most like the others.
func byRule(quotes []Quote) (out []Rule) {
	var rules []Quote
	var words [][]string
	for _, q := range quotes {
		if q.rule != "" {
			rules, words = append(rules, q), append(words, content(q.rule))
		}
	}
	v := weigh(words)
	var groups [][]int // indexes of rules
	mean := func(i int, g []int) float64 {
		sum := 0.0
		for _, k := range g {
			sum += v.likeness(words[i], words[k])
		}
		return sum / float64(len(g))
	}
	for i := range rules {
		best, at := alike, -1
		for k, g := range groups {
			if m := mean(i, g); m >= best {
				best, at = m, k
			}
		}
		if at < 0 {
			groups = append(groups, []int{i})
		} else {
			groups[at] = append(groups[at], i)
		}
	}
	for _, g := range groups {
		var r Rule
		best := -1.0
		for _, i := range g {
			if m := mean(i, g); m > best {
				best, r.Rule = m, rules[i].rule
			}
			r.Quotes = append(r.Quotes, rules[i])
		}
		out = append(out, r)
	}
	return out
}

// weights are those of words: the rarer a word is among texts, the more it says of one.
type weights struct {
	texts float64
	in    map[string]float64 // how many texts have a word
}

func weigh(texts [][]string) weights {
	v := weights{float64(len(texts)), map[string]float64{}}
	for _, t := range texts {
		for _, w := range t {
			v.in[w]++
		}
	}
	return v
}

// likeness is the cosine of two texts' weighted words, in [0,1].
func (v weights) likeness(a, b []string) float64 {
	square := func(w string) float64 {
		x := math.Log1p(v.texts / max(v.in[w], 1))
		return x * x
	}
	norm := func(t []string) (sum float64) {
		for _, w := range t {
			sum += square(w)
		}
		return math.Sqrt(sum)
	}
	both := 0.0
	for _, w := range a {
		if slices.Contains(b, w) {
			both += square(w)
		}
	}
	if both == 0 {
		return 0
	}
	return both / (norm(a) * norm(b))
}

// byWords groups quotes about the same thing by the two words in a row that most sessions
// have in common.
func byWords(quotes []Quote) (out []Rule) {
	for len(quotes) > 0 {
		said := commonest(quotes)
		if said == "" { // nor have the others a phrase in common
			for _, q := range quotes {
				out = append(out, Rule{Quotes: []Quote{q}})
			}
			return out
		}
		r := Rule{Said: said}
		var rest []Quote
		concerns := ""
		for _, q := range quotes {
			switch {
			case !slices.Contains(phrases(q.Words), said), len(r.Quotes) > 0 && q.concerns != concerns:
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
		if w, next := all[i], all[i+1]; !stop()[next] && len(next) > 2 && (w == "no" || !stop()[w] && len(w) > 2) {
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
		if stop()[w] || len(w) < 3 {
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

// stop are English words that say nothing of what was corrected, and those that nearly
// every rule has.
var stop = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`a an the and or but if of to in on at by for with from as is are was were be been being it its this that these those i you we they he she
		my your our their me us them do does did done don't doesn't didn't can could would should will shall may might must not no yes ok okay please so too also just only very
		again still now then here there when where why what which who how all any each every both more most other some such than into over under about before after up down out
		off same own run report reporting done final state push pushing finish finished complete ensure check sure instead use using used make made want wanted need needs like get got have has had let let's it's that's i'd i'm you've always never ever one two first last
		thing things something anything way well really actually maybe new`) {
		m[w] = true
	}
	return m
})
