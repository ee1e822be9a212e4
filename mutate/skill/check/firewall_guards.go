package check

import (
	"slices"
	"strconv"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// A guard is a way in which a sentence restrains the agent (guards of
// firewall.yaml). For each guard of a sentence that the child has dropped,
// some sentence of the child's on the same subject must have it.

// A lostGuard is a sentence of the parent's, and the guard that is lost with
// it.
type lostGuard struct {
	what, text string
	at         int // in the parent
}

// lostGuards finds the sentences of the parent's harness that restrain the
// agent, and the items that it forbids, of which no sentence and no item of
// the child's harness keeps the force.
func lostGuards(parent, child string) []lostGuard {
	said := sentences(child)
	for _, item := range forbidden(child) {
		said = append(said, asRule(item))
	}
	still := map[string]bool{}
	for _, s := range said {
		still[s.text] = true
	}
	var now []clause // of the child's, when they are first asked for
	var all string   // a command may have moved into another sentence
	var out []lostGuard
	look := func(s match, shown string) {
		if still[s.text] {
			return
		}
		if now == nil {
			now, all = clauses(said)
		}
		if what := weaker(s.text, now, all); what != "" {
			out = append(out, lostGuard{what, shown, s.at})
		}
	}
	for _, s := range sentences(parent) {
		look(s, s.text)
	}
	for _, item := range forbidden(parent) {
		look(asRule(item), item.text)
	}
	return out
}

// A clause is a sentence of the child's, or a part of one up to a semicolon,
// with its guards.
type clause struct {
	words  map[string]bool
	before map[string]bool // words of the one before: "count the rows; they must match"
	guards []bool          // by their order
	hedged bool            // leaves a way out
	bounds []bound
}

// clauses returns the clause of each sentence, and all sentences as one text.
func clauses(said []match) (out []clause, all string) {
	var b strings.Builder
	var before map[string]bool
	for _, s := range said {
		c := guarding.of(s.text, clauseOf)
		c.before = before
		out, before = append(out, c), c.words
		b.WriteString(s.text + "\n")
	}
	return out, b.String()
}

var guarding remembered[clause]

// clauseOf is the clause of a sentence taken by itself.
func clauseOf(sentence string) clause {
	c := clause{words: contentWords(sentence), guards: make([]bool, len(patterns().Guards)), bounds: bounds(sentence), hedged: patternOf("hedged").MatchString(sentence)}
	for k, g := range patterns().Guards {
		c.guards[k] = g.MatchString(sentence)
	}
	return c
}

// Restrains reports whether a text restrains the agent: it forbids something, or makes the
// agent ask, stop, check or keep to a limit.
func Restrains(text string) bool {
	return slices.ContainsFunc(sentences(text), func(s match) bool {
		c := guarding.of(s.text, clauseOf)
		return slices.Contains(c.guards, true) || len(c.bounds) > 0 || patternOf("check-command").MatchString(s.text) || patternOf("forbids").MatchString(s.text)
	})
}

// weaker returns what sentence s had and none of now has on the same subject,
// "" for nothing.
func weaker(s string, now []clause, all string) string {
	had := guarding.of(s, clauseOf)
	about := had.words
	for k, g := range patterns().Guards {
		if !had.guards[k] {
			continue
		}
		what := g.Reports
		kept := slices.ContainsFunc(now, func(c clause) bool {
			if !c.guards[k] || !c.related(about) {
				return false
			}
			if c.hedged && !had.hedged {
				what = "what held the agent back has a way out"
				return false
			}
			return true
		})
		if !kept {
			return what
		}
	}
	for _, call := range patternOf("check-command").FindAllString(s, -1) {
		if !strings.Contains(all, call) {
			return "a command that checks is gone"
		}
	}
	for _, b := range had.bounds {
		if !slices.ContainsFunc(now, func(c clause) bool { return c.related(about) && slices.ContainsFunc(c.bounds, b.holds) }) {
			return "a limit is gone, or wider"
		}
	}
	return ""
}

// related reports whether a clause, with the one before, shares a third of a
// sentence's content words.
func (c clause) related(about map[string]bool) bool {
	both := 0
	for w := range about {
		if c.words[w] || c.before[w] {
			both++
		}
	}
	return len(about) == 0 || both > 0 && 3*both >= len(about)
}

var (
	contentWord = lazyregexp.New(`[\pL\pN]{3,}`)
	// Includes the words of the guards themselves, which do not tell the
	// subject.
	emptyWord = lazyregexp.New(`^(?:ask|asks|asking|checks?|verify|make|sure|stops?|runs?|user|users|never|do|must|the|and|when|with|that|this|then|than|before|after|could|would|should|from|your|you|for|are|has|have|not|its|into|until|which|where|what|how|does|did|can|may|any|all|each|but|there|they|them|one|two|most|also)$`)
)

// contentWords are the words of a sentence that carry its meaning, cut to four
// letters so that endings do not count.
func contentWords(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range contentWord.FindAllString(s, -1) {
		if r := []rune(w); !emptyWord.MatchString(w) {
			m[string(r[:min(4, len(r))])] = true
		}
	}
	return m
}

// A bound is the most that an agent may take: seconds, money, or how often.
type bound struct {
	unit string
	most float64
}

// holds reports whether a bound of the child's is as tight.
func (b bound) holds(other bound) bool { return b.unit == other.unit && other.most <= b.most }

var inWords = map[string]float64{"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
	"twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "hundred": 100, "thousand": 1000}

var inSeconds = map[string]float64{"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 7 * 86400}

// bounds are the limits that a sentence sets.
func bounds(s string) (out []bound) {
	for _, re := range []*pattern{patternOf("bound-before"), patternOf("bound-behind")} {
		for _, m := range re.FindAllStringSubmatch(s, -1) {
			n, ok := inWords[m[1]]
			if !ok {
				var err error
				if n, err = strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64); err != nil {
					continue
				}
			}
			unit := strings.TrimSuffix(m[2], "s")
			switch unit {
			case "retrie", "retry", "trie", "attempt", "round", "iteration", "run":
				unit = "time"
			}
			if sec, ok := inSeconds[unit]; ok {
				unit, n = "second", n*sec
			}
			out = append(out, bound{unit, n})
		}
	}
	return out
}
