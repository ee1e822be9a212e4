package lazyregexp

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of what is searched for before a pattern: texts in one list, and lists.
const maxRequired, maxLists = 80, 4

// required are lists of texts: a match of re holds at least one of each. The list
// that the fewest texts hold one of is the first. Searching for them takes a small part
// of the pattern's own time, and most sentences hold none.
func required(re *syntax.Regexp) (lists [][]string) {
	parts(re, func(re *syntax.Regexp) {
		if all := literals(re); len(all) > 0 && len(all) <= maxRequired {
			lists = append(lists, all)
		}
	})
	slices.SortStableFunc(lists, func(a, b []string) int {
		switch {
		case rarer(a, b):
			return -1
		case rarer(b, a):
			return 1
		}
		return 0
	})
	return lists[:min(len(lists), maxLists)]
}

// parts calls f with the parts of which each match of re has all.
func parts(re *syntax.Regexp, f func(*syntax.Regexp)) {
	switch re.Op {
	case syntax.OpCapture, syntax.OpPlus, syntax.OpConcat:
		for _, sub := range re.Sub {
			parts(sub, f)
		}
	default:
		f(re)
	}
}

func literals(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 || strings.ContainsRune(string(re.Rune), utf8.RuneError) { // which matches any wrong byte
			return nil
		}
		return []string{string(re.Rune)}
	case syntax.OpCharClass:
		return characters(re.Rune)
	case syntax.OpCapture, syntax.OpPlus:
		return literals(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min == 0 {
			break
		}
		some := literals(re.Sub[0])
		if len(some) == 1 && re.Sub[0].Op == syntax.OpLiteral {
			return []string{strings.Repeat(some[0], re.Min)}
		}
		return some
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			some := literals(sub)
			if some == nil {
				return nil
			}
			all = append(all, some...)
		}
		return all
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if some := literals(sub); some != nil && (best == nil || rarer(some, best)) {
				best = some
			}
		}
		return best
	}
	return nil
}

// characters are those of a class, nil if it has many.
func characters(ranges []rune) (all []string) {
	const few = 8
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if len(all) == few || r == utf8.RuneError {
				return nil
			}
			all = append(all, string(r))
		}
	}
	return all
}

// rarer reports whether a text is less likely to hold one of a than one of b.
func rarer(a, b []string) bool {
	if len(a) > maxRequired || len(b) > maxRequired {
		return len(a) < len(b)
	}
	return shortest(a) > shortest(b) || shortest(a) == shortest(b) && len(a) < len(b)
}

func shortest(list []string) int {
	n := len(list[0])
	for _, s := range list {
		n = min(n, len(s))
	}
	return n
}
