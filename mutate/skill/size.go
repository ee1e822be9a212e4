package skill

import (
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// The largest view that is read: several times what the specification
// advises, and little enough to be read in a moment. Markdown parsers take
// quadratic time on quotes within quotes and on brackets in one line. For a
// document that is already larger the limit is twice its size.
const (
	maxViewBytes = 64 << 10
	maxLineBytes = 8 << 10
	maxNesting   = 64
)

// Limits of growth: in published evidence additions rarely help, and the open
// specification asks for bodies below 5,000 tokens.
const (
	growthFactor = 1.2
	growthFloor  = 1500

	MaxBodyTokens = 5000 // what the specification advises at most
)

// Growth is how many more tokens a descendant of a body of size tokens may
// have, as Tokens counts them.
func Growth(size int) int { return max(int(growthFactor*float64(size)), growthFloor) - size }

// GrowthLimit is the largest size of a descendant of a body of size tokens:
// what Growth allows, up to what the specification advises.
func GrowthLimit(size int) int { return max(min(size+Growth(size), MaxBodyTokens), size) }

// nesting is the run of quote and list markers that a line begins with.
var nesting = lazyregexp.New(`^(?:[ \t]*(?:>|[-*+](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$)))+`)

// tooLarge returns why a view is not read at all, nil if it may be.
func (d *Document) tooLarge(view string) *ViewError {
	if limit := max(maxViewBytes, 2*len(d.raw)); len(view) > limit {
		return &ViewError{0, fmt.Sprintf("the text has %d bytes, and %d are the limit", len(view), limit)}
	}
	length, depth, at := extremes(view)
	if length <= maxLineBytes && depth <= maxNesting {
		return nil
	}
	wasLength, wasDepth, _ := extremes(d.View())
	if limit := max(maxLineBytes, 2*wasLength); length > limit {
		return &ViewError{at, fmt.Sprintf("a line of %d bytes, and %d are the limit", length, limit)}
	}
	if limit := max(maxNesting, wasDepth); depth > limit {
		return &ViewError{at, fmt.Sprintf("%d quotes and lists within each other, and %d are the limit", depth, limit)}
	}
	return nil
}

// extremes are the length of the longest line and the depth of the deepest,
// and the number of the last line that set one of them.
func extremes(s string) (length, depth, at int) {
	n := 0
	for line := range strings.SplitSeq(s, "\n") {
		n++
		if len(line) > length {
			length, at = len(line), n
		}
		if k := nestingOf(line); k > depth {
			depth, at = k, n
		}
	}
	return length, depth, at
}

func nestingOf(line string) int {
	depth := 0
	for {
		m := nesting.FindStringIndex(line)
		if m == nil {
			return depth
		}
		for _, word := range strings.Fields(line[:m[1]]) {
			depth += max(1, strings.Count(word, ">"))
		}
		line = line[m[1]:]
	}
}

// Tokens estimates how many tokens a model makes of s: a quarter of its
// bytes, rounded up. It is meant for limits, not for bills: tokenizers differ
// by a fifth on English, and text in other scripts costs about as much per
// byte.
func Tokens(s string) int { return (len(s) + 3) / 4 }

// Tokens estimates the size of what an agent reads of a text; 0 for none.
func (d *Document) Tokens() int {
	if d == nil {
		return 0
	}
	return Tokens(string(d.Body()))
}
