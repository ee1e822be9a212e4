package skill

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"
)

const (
	nodeSteps  = 20 // per node or delimiter that a search passes
	labelSteps = 8  // per byte of a link's text, which is copied and normalized
	tagSteps   = 50 // per byte that the expression for a tag reads
	byteSteps  = 4  // per byte of a link's destination, here as in the parser
)

// inlineSteps estimates the time to read the markup of one paragraph. It
// follows the parser and counts the bytes that each search passes; it stops
// when there are too many.
func inlineSteps(text []byte) int {
	steps, nodes := 0, 0
	runs := backquotes(text)
	lines := bytes.Count(text, []byte("\n"))
	var first, last *parser.Delimiter
	type bracket struct {
		at   int
		mark *parser.Delimiter // the last one before it
	}
	var open []bracket
	for at := 0; at < len(text) && steps <= maxReading; at++ {
		switch c := text[at]; c {
		case '\\':
			if at+1 < len(text) && util.IsPunct(text[at+1]) {
				at++
			}
		case '\n':
			nodes++
		case '`':
			nodes++
			n := runOf(text[at:])
			ends := runs[n]
			if i := sort.SearchInts(ends, at+n); i < len(ends) {
				at = ends[i] + n - 1 // what is between is code
			} else {
				steps += len(text) - at + nodeSteps*lines
				at += n - 1
			}
		case '*', '_', '~':
			nodes++
			before, _ := utf8.DecodeLastRune(text[:at])
			if at == 0 {
				before = '\n'
			}
			d := parser.ScanDelimiter(text[at:], before, 1, anyDelimiter{})
			if d.PreviousDelimiter = last; last == nil {
				first = d
			} else {
				last.NextDelimiter = d
			}
			last = d
			at += d.OriginalLength - 1
		case '[':
			nodes++
			open = append(open, bracket{at, last})
		case ']':
			nodes++
			if len(open) == 0 {
				break
			}
			b := open[len(open)-1]
			open = open[:len(open)-1]
			steps += labelSteps*(at-b.at) + lines
			if b.mark != last {
				steps += nodeSteps * nodes // the parser clears the emphasis before it, too
			}
			steps += byteSteps * destinationSteps(text[at+1:])
		case '<':
			nodes++
			steps += tagSteps * tagLength(text[at+1:])
		}
	}
	return steps + delimiterSteps(first)
}

// backquotes lists the positions of the runs of backquotes by their length.
func backquotes(text []byte) map[int][]int {
	runs := map[int][]int{}
	for at := 0; at < len(text); at++ {
		if text[at] == '`' {
			n := runOf(text[at:])
			runs[n] = append(runs[n], at)
			at += n - 1
		}
	}
	return runs
}

// runOf is the length of the run of equal bytes that text begins with.
func runOf(text []byte) int {
	n := 1
	for n < len(text) && text[n] == text[0] {
		n++
	}
	return n
}

// destinationSteps is the length that the parser reads after a link's text:
// up to a space or the bracket that ends the destination.
func destinationSteps(text []byte) int {
	if len(text) == 0 || text[0] != '(' {
		return 0
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case ' ', '\t', '\n', '\r':
			return i
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

// tagLength is how far the parser reads a tag: up to its end, or to the next one
// outside of quotes.
func tagLength(text []byte) int {
	if len(text) == 0 || text[0] != '/' && !util.IsAlphaNumeric(text[0]) {
		return 0
	}
	quote := byte(0)
	for i, c := range text {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '<' || c == '>':
			return i
		case (c == '"' || c == '\'') && bytes.HasSuffix(bytes.TrimRight(text[max(0, i-8):i], " \t\r\n"), []byte("=")):
			quote = c
		case c == '"' || c == '\'' || c == '`':
			return i
		}
	}
	return len(text)
}

// delimiterSteps pairs delimiters as parser.ProcessDelimiters does, and counts those
// that it passes.
func delimiterSteps(closer *parser.Delimiter) int {
	steps := 0
	remove := func(d *parser.Delimiter) {
		if d.PreviousDelimiter != nil {
			d.PreviousDelimiter.NextDelimiter = d.NextDelimiter
		}
		if d.NextDelimiter != nil {
			d.NextDelimiter.PreviousDelimiter = d.PreviousDelimiter
		}
	}
	for closer != nil && steps <= maxReading {
		steps += nodeSteps
		next := closer.NextDelimiter
		if !closer.CanClose {
			closer = next
			continue
		}
		consume, maybe := 0, false
		opener := closer.PreviousDelimiter
		for ; opener != nil; opener = opener.PreviousDelimiter {
			steps += nodeSteps
			if opener.CanOpen && opener.Char == closer.Char {
				maybe = true
				if consume = opener.CalcComsumption(closer); consume > 0 {
					break
				}
			}
		}
		if opener == nil {
			if !maybe && !closer.CanOpen {
				remove(closer)
			}
			closer = next
			continue
		}
		opener.Length -= consume
		closer.Length -= consume
		opener.NextDelimiter, closer.PreviousDelimiter = closer, opener
		if opener.Length == 0 {
			remove(opener)
		}
		if closer.Length == 0 {
			remove(closer)
			closer = next
		}
	}
	return steps
}

// anyDelimiter lets parser.ScanDelimiter read emphasis and strikethrough.
type anyDelimiter struct{}

func (anyDelimiter) IsDelimiter(c byte) bool { return c == '*' || c == '_' || c == '~' }

func (anyDelimiter) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

func (anyDelimiter) OnMatch(int) ast.Node { return nil }
