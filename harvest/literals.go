package harvest

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// A pattern is a regular expression with words of which every match holds one. Most
// replies hold none of them, and looking for a word costs a fraction of starting the
// matcher. It is compiled on first use, because most commands read no reply at all.
type pattern struct{ made func() *madePattern }

type madePattern struct {
	re   *regexp.Regexp
	need []string // every match holds one of these; nil: unknown
}

func newPattern(expr string) pattern {
	return pattern{sync.OnceValue(func() *madePattern {
		m := &madePattern{re: regexp.MustCompile(expr)}
		if tree, err := syntax.Parse(expr, syntax.Perl); err == nil {
			m.need = required(tree.Simplify())
		}
		return m
	})}
}

// MatchString is the expression's.
func (p pattern) MatchString(s string) bool {
	m := p.made()
	if m.need == nil {
		return m.re.MatchString(s)
	}
	return slices.ContainsFunc(m.need, func(lit string) bool { return strings.Contains(s, lit) }) && m.re.MatchString(s)
}

// maxNeeds is the number of words from which the matcher is cheaper than looking for
// them.
const maxNeeds = 24

// required returns literals of which every match of re holds one: the set with the
// longest shortest literal, nil if there is none. Case-insensitive literals do not
// count, because they have no single form.
func required(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return []string{string(re.Rune)}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if lits := required(sub); lits != nil && shortest(lits) > shortest(best) {
				best = lits
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			lits := required(sub)
			if lits == nil || len(all)+len(lits) > maxNeeds {
				return nil
			}
			all = append(all, lits...)
		}
		return all
	}
	return nil
}

// shortest is the length of the shortest literal, 0 for none.
func shortest(lits []string) int {
	n := 0
	for i, s := range lits {
		if i == 0 || len(s) < n {
			n = len(s)
		}
	}
	return n
}
