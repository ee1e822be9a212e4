package skill

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// The Markdown parser takes quadratic time for some texts: to find the other
// end of a mark it searches the rest of the paragraph, and for every line it
// goes through all quotes and lists around it. A SKILL.md may come from
// anyone, so the time to read it is estimated first.
const (
	// maxReading is the largest number of steps for a body; one is about a
	// nanosecond.
	maxReading = 1e9
	// maxDepth is the most quotes and lists within each other on one line. Browsers
	// stop at 512.
	maxDepth = 500

	cellSteps = 1000 // per cell of a table
	linkSteps = 16   // per byte of a link's destination
	pairSteps = 10   // per pair of cells with an escaped bar, or of a footnote and a reference
)

// tooCostly returns why a body is not read, nil if it may be.
func (o *Outline) tooCostly() *SyntaxError {
	body := o.raw[o.body:]
	for i := range o.Starts {
		if depth := nestingOf(string(o.LineText(i))); depth > maxDepth {
			return &SyntaxError{Line: o.FileLine(o.Starts[i]), Msg: fmt.Sprintf("%d quotes and lists within each other, and %d are the limit", depth, maxDepth)}
		}
	}
	if mostSteps(body) <= maxReading {
		return nil
	}
	pc := parser.NewContext()
	doc := blocksOnly().Parse(text.NewReader(body), parser.WithContext(pc))
	longest := 0
	for _, ref := range pc.References() {
		longest = max(longest, len(ref.Destination())+len(ref.Title()))
	}
	count := func(s string) int { return bytes.Count(body, []byte(s)) }
	sum := pairSteps * (count("\\|")*count("\\|") + count("[^")*count("]:"))
	most, at, reason := sum, max(0, bytes.Index(body, []byte("\\|")), bytes.Index(body, []byte("[^"))), "too much markup (escaped bars in tables, or footnotes): reading it would take too long; put it in a fenced block"
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if sum > maxReading && most > sum/2 {
			return ast.WalkStop, nil
		}
		switch n.(type) {
		case *ast.Paragraph, *ast.TextBlock, *ast.Heading:
			lines := n.Lines()
			if !entering || lines.Len() == 0 {
				break
			}
			paragraph := lines.Value(body)
			columns, rows := tableOf(paragraph)
			k := cellSteps*columns*rows + linkSteps*bytes.Count(paragraph, []byte("["))*longest + inlineSteps(paragraph)
			sum += k
			if k <= most {
				break
			}
			most, at = k, lines.At(0).Start
			reason = "too much markup in one paragraph (of * _ ~ [ ] < `): reading it would take too long; divide it by blank lines, or put it in a fenced block"
			if columns > 0 {
				reason = fmt.Sprintf("too much markup in one table (%d columns, %d rows): reading it would take too long; divide it into several tables, each with a header of its own", columns, rows)
			}
		}
		return ast.WalkContinue, nil
	})
	if sum <= maxReading {
		return nil
	}
	return &SyntaxError{Line: o.FileLine(o.body + at), Msg: reason}
}

// blocksOnly parses paragraphs, lists and code, and no markup within them.
var blocksOnly = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...), parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...))
})

// delimiterRow matches the second line of a table.
var delimiterRow = lazyregexp.New(`(?m)^[ \t>:|-]*-[ \t>:|-]*\r?$`)

// tableOf is the largest possible size of a paragraph's table; columns is 0
// if it is none.
func tableOf(paragraph []byte) (columns, rows int) {
	for _, row := range delimiterRow.FindAll(paragraph, -1) {
		columns = max(columns, bytes.Count(row, []byte("|")))
	}
	return columns, bytes.Count(paragraph, []byte("\n"))
}

// mostSteps bounds the steps for any body with as many marks. Most bodies
// need no closer estimate.
func mostSteps(body []byte) int {
	marks := 0
	for _, c := range body {
		switch c {
		case '*', '_', '~', '`', '[', ']', '<':
			marks++
		}
	}
	columns, rows := tableOf(body)
	return nodeSteps*marks*marks + tagSteps*marks*len(body) + cellSteps*columns*rows
}
