package skill

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// footnote is what the text behind footnote index says: its blocks with their
// bytes, and what the links and footnotes in it lead to. seen are the footnotes
// that are being told already.
func (d *Document) footnote(doc ast.Node, index int, seen map[int]bool) string {
	if seen[index] {
		return "footnote above"
	}
	seen[index] = true
	note := findFootnote(doc, index)
	if note == nil {
		return "footnote without text"
	}
	var b strings.Builder
	b.WriteString("footnote")
	_ = ast.Walk(note, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n == note {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			fmt.Fprintf(&b, " to %s %s", n.Destination, n.Title)
		case *ast.Image:
			fmt.Fprintf(&b, " image %s %s", n.Destination, n.Title)
		case *east.FootnoteLink:
			b.WriteString(" " + d.footnote(doc, n.Index, seen))
		}
		if n.Type() == ast.TypeBlock {
			fmt.Fprintf(&b, " %s", kindName(n))
			if n.Lines() != nil && n.Lines().Len() > 0 {
				fmt.Fprintf(&b, " %q", n.Lines().Value(d.raw[d.body:]))
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// findFootnote looks in the list that the parser puts behind the text.
func findFootnote(doc ast.Node, index int) ast.Node {
	for list := doc.LastChild(); list != nil; list = list.PreviousSibling() {
		if list.Kind() != east.KindFootnoteList {
			continue
		}
		for n := list.FirstChild(); n != nil; n = n.NextSibling() {
			if f, ok := n.(*east.Footnote); ok && f.Index == index {
				return f
			}
		}
	}
	return nil
}
