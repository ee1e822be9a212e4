package skill

import (
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
	"github.com/yuin/goldmark/ast"
)

// ImportReason is the Reason of a span that makes agents load another file.
const ImportReason = "line that imports another file"

// An Import is a place at which instructions name a file to be loaded with them.
type Import struct {
	Start int    // offset of its @ in the file
	Path  string // as written, without the @
	// Comment: it stands in a comment, which some agents leave out.
	Comment bool
}

var comment = lazyregexp.New(`(?s)<!--.*?-->`)

// importMark is what Claude Code takes for an import: an @ at the start of a word. A space
// within the path is escaped.
var importMark = lazyregexp.New(`(?:^|\s)(@(?:[^\s\\]|\\.)+)`)

// Imports lists the imports of a file of instructions in order. What stands in code is none.
func (d *Document) Imports() (out []Import) {
	body := d.raw[d.body:]
	code, comments := d.md.code(), [][2]int(nil)
	for _, m := range comment.FindAllIndex(body, -1) {
		comments = append(comments, [2]int{m[0], m[1]})
	}
	for at := 0; at < len(body); {
		m := importMark.FindSubmatchIndex(body[at:])
		if m == nil {
			break
		}
		start, end := at+m[2], at+m[3]
		path := strings.ReplaceAll(string(body[start+1:end]), `\ `, " ")
		path, _, _ = strings.Cut(path, "#") // a place within the file
		if path != "" && !within(code, start) {
			out = append(out, Import{d.body + start, path, within(comments, start)})
		}
		at = end
	}
	return out
}

// code lists the ranges of the body that are code, in order; offsets are into the body.
func (o *Outline) code() (out [][2]int) {
	_ = ast.Walk(o.Tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n.(type) {
		case *ast.CodeSpan:
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				if t, ok := c.(*ast.Text); ok {
					out = append(out, [2]int{t.Segment.Start, t.Segment.Stop})
				}
			}
			return ast.WalkSkipChildren, nil
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if lines := n.Lines(); lines.Len() > 0 {
				out = append(out, [2]int{lines.At(0).Start, lines.At(lines.Len() - 1).Stop})
			}
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return out
}

func within(ranges [][2]int, at int) bool {
	for _, r := range ranges {
		if r[0] <= at && at < r[1] {
			return true
		}
	}
	return false
}
