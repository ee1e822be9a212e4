package lazyregexp

import (
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// lower is an expr that finds in the lower case of a text of ASCII what expr, which
// ignores case, finds in the text: it is faster, and knows what a match holds. It is ""
// if expr does not ignore case.
func lower(expr string) string {
	re, err := syntax.Parse(expr, syntax.Perl)
	if folds := false; err != nil || !unfold(re, &folds) || !folds {
		return ""
	}
	return re.String()
}

// unfold makes re an expression of lower case. It is false if letter case matters to re;
// folds becomes true if re has letters.
func unfold(re *syntax.Regexp, folds *bool) bool {
	switch re.Op {
	case syntax.OpLiteral:
		for i, r := range re.Rune {
			if unicode.SimpleFold(r) == r {
				continue
			}
			if re.Flags&syntax.FoldCase == 0 {
				return false
			}
			*folds, re.Rune[i] = true, unicode.ToLower(r)
		}
	case syntax.OpCharClass:
		var in [utf8.RuneSelf]bool
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= min(re.Rune[i+1], utf8.RuneSelf-1); r++ {
				in[r] = true
			}
		}
		for r := 'a'; r <= 'z'; r++ {
			if in[r] != in[r-'a'+'A'] {
				return false
			}
		}
	}
	re.Flags &^= syntax.FoldCase
	for _, sub := range re.Sub {
		if !unfold(sub, folds) {
			return false
		}
	}
	return true
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
