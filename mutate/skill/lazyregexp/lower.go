package lazyregexp

import (
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// ignoresCase reports whether re finds the same in a text of ASCII and in its lower case;
// letters becomes true if re has some.
func ignoresCase(re *syntax.Regexp, letters *bool) bool {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if unicode.SimpleFold(r) != r {
				if re.Flags&syntax.FoldCase == 0 {
					return false
				}
				*letters = true
			}
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
	for _, sub := range re.Sub {
		if !ignoresCase(sub, letters) {
			return false
		}
	}
	return true
}

// unfold makes of re, which ignores case, what finds in lower case what re finds: it is
// faster, and it is known what a match holds.
func unfold(re *syntax.Regexp) {
	if re.Op == syntax.OpLiteral {
		for i, r := range re.Rune {
			re.Rune[i] = unicode.ToLower(r)
		}
	}
	re.Flags &^= syntax.FoldCase
	for _, sub := range re.Sub {
		unfold(sub)
	}
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
