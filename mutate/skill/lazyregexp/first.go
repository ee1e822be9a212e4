package lazyregexp

import (
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// bytes says of each byte whether a match can begin with it.
type bytes [256]bool

// first returns the bytes that a text can begin with that holds a match of re: nil if
// that may be any, as of one that is not anchored to the beginning.
func first(re *syntax.Regexp) *bytes {
	if !anchored(re) {
		return nil
	}
	var b bytes
	if b.add(re) { // the empty text matches
		return nil
	}
	return &b
}

func anchored(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginText:
		return true
	case syntax.OpCapture, syntax.OpConcat:
		return anchored(re.Sub[0])
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if !anchored(sub) {
				return false
			}
		}
		return true
	}
	return false
}

// add adds the bytes that re can begin with, and reports whether it can match without
// one.
func (b *bytes) add(re *syntax.Regexp) (empty bool) {
	switch re.Op {
	case syntax.OpNoMatch:
		return false
	case syntax.OpLiteral:
		b.rune(re.Rune[0], re.Flags&syntax.FoldCase != 0)
		return false
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= min(re.Rune[i+1], utf8.RuneSelf); r++ {
				b.rune(r, false)
			}
			if re.Rune[i+1] >= utf8.RuneSelf {
				b.rune(utf8.RuneSelf, false)
			}
		}
		return false
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		for i := range b {
			b[i] = b[i] || i != '\n' || re.Op == syntax.OpAnyChar
		}
		return false
	case syntax.OpCapture, syntax.OpPlus:
		return b.add(re.Sub[0])
	case syntax.OpRepeat:
		return b.add(re.Sub[0]) || re.Min == 0
	case syntax.OpStar, syntax.OpQuest:
		b.add(re.Sub[0])
		return true
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			empty = b.add(sub) || empty
		}
		return empty
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if !b.add(sub) {
				return false
			}
		}
	}
	return true // what matches between characters
}

// rune adds the byte that r begins with: any beyond ASCII if r is.
func (b *bytes) rune(r rune, fold bool) {
	for f := r; ; {
		if f < utf8.RuneSelf {
			b[f] = true
		} else {
			for i := utf8.RuneSelf; i < len(b); i++ {
				b[i] = true
			}
		}
		if f = unicode.SimpleFold(f); !fold || f == r {
			return
		}
	}
}
