package lazyregexp

import (
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lower is an expr that finds in the lower case of a text of ASCII what expr, which is re
// and ignores case, finds in the text: it is faster, and it is known what a match holds.
// It is nil if there is none.
func lower(expr string, re *syntax.Regexp) (string, *syntax.Regexp) {
	low, ok := strings.CutPrefix(expr, "(?i)")
	if !ok {
		return "", nil
	}
	tree, err := syntax.Parse(low, syntax.Perl)
	if err != nil || !alike(re, tree) {
		return "", nil
	}
	return low, tree
}

// alike reports whether low finds in lower case what re, which ignores it, finds.
func alike(re, low *syntax.Regexp) bool {
	if re.Op != low.Op || re.Min != low.Min || re.Max != low.Max || (re.Flags^low.Flags)&^syntax.FoldCase != 0 || len(re.Sub) != len(low.Sub) {
		return false
	}
	switch re.Op {
	case syntax.OpLiteral:
		if len(re.Rune) != len(low.Rune) {
			return false
		}
		for i, r := range low.Rune {
			if unicode.ToLower(r) != r || unicode.ToLower(re.Rune[i]) != r {
				return false
			}
		}
	case syntax.OpCharClass:
		a, b := members(re.Rune), members(low.Rune)
		for c := range a {
			if a[c] != b[c] && (c < 'A' || c > 'Z') {
				return false
			}
		}
	}
	for i, sub := range re.Sub {
		if !alike(sub, low.Sub[i]) {
			return false
		}
	}
	return true
}

// members are the characters of ASCII in a class.
func members(class []rune) (in [utf8.RuneSelf]bool) {
	for i := 0; i < len(class); i += 2 {
		for r := class[i]; r <= min(class[i+1], utf8.RuneSelf-1); r++ {
			in[r] = true
		}
	}
	return in
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
