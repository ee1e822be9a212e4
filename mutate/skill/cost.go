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

// The Markdown parser takes time by the square of some texts: it looks for the other
// end of every mark in all that comes before or behind it in the same paragraph, and
// for every line it goes through all quotes and lists around it. A SKILL.md comes
// from anywhere, so what reading it takes is estimated first.
const (
	// maxReading is the most steps that a body may take; a second or two.
	maxReading = 2e9
	// maxDepth is the most quotes and lists within each other on one line. Browsers
	// stop at 512.
	maxDepth = 500

	cellSteps = 1000 // per cell of a table
	linkSteps = 16   // per byte of a link's destination
)

// tooCostly says why a body is not read, nil if it may be.
func (o *outline) tooCostly() *SyntaxError {
	body := o.raw[o.body:]
	for i := range o.starts {
		if depth := nestingOf(string(o.lineText(i))); depth > maxDepth {
			return &SyntaxError{o.fileLine(o.starts[i]), fmt.Sprintf("%d quotes and lists within each other, and %d are the limit", depth, maxDepth)}
		}
	}
	if readingSteps(body, len(body)) <= maxReading {
		return nil
	}
	// Not all of it is one paragraph.
	pc := parser.NewContext()
	doc := blocksOnly().Parse(text.NewReader(body), parser.WithContext(pc))
	longest := 0
	for _, ref := range pc.References() {
		longest = max(longest, len(ref.Destination())+len(ref.Title()))
	}
	sum, most, at := 0, 0, 0
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n.(type) {
		case *ast.Paragraph, *ast.TextBlock, *ast.Heading:
			if lines := n.Lines(); entering && lines.Len() > 0 {
				k := readingSteps(lines.Value(body), longest)
				if sum += k; k > most {
					most, at = k, lines.At(0).Start
				}
			}
		}
		return ast.WalkContinue, nil
	})
	if sum <= maxReading {
		return nil
	}
	return &SyntaxError{o.fileLine(o.body + at), "too much markup in one paragraph (of * _ ~ [ ] < ` | &): reading it would take too long; divide it by blank lines, or put it in a fenced block"}
}

// blocksOnly parses paragraphs, lists and code, and no markup within them.
var blocksOnly = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...), parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...))
})

// delimiterRow matches the second line of a table.
var delimiterRow = lazyregexp.New(`(?m)^[ \t>:|-]*-[ \t>:|-]*\r?$`)

// readingMarks counts what the parser looks for another end of. Emphasis is one mark
// whether it is strong or not, and so are backquotes in a row.
func readingMarks(text []byte) int {
	n, run := 0, 0
	for i, c := range text {
		if i == 0 || text[i-1] != c {
			run = 0
		}
		run++
		switch c {
		case '*', '_', '~':
			if run == 1 || run > 3 {
				n++
			}
		case '`':
			if run == 1 {
				n++
			}
		case '[', ']', '<', '&':
			n++
		}
	}
	return n
}

// readingSteps estimates what reading a paragraph takes, if the longest link leads to so many
// bytes: each mark may be looked for in the whole paragraph, each bracket may be a
// link, and each line a row of the widest table.
func readingSteps(paragraph []byte, longest int) int {
	columns := 0
	for _, row := range delimiterRow.FindAll(paragraph, -1) {
		columns = max(columns, bytes.Count(row, []byte("|")))
	}
	return readingMarks(paragraph)*len(paragraph) + linkSteps*bytes.Count(paragraph, []byte("["))*longest + cellSteps*columns*bytes.Count(paragraph, []byte("\n"))
}
