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
func (r reading) footnote(index int, seen map[int]bool) string {
	if seen[index] {
		return "footnote above"
	}
	seen[index] = true
	note, ok := r.notes[index]
	if !ok {
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
			b.WriteString(" " + r.footnote(n.Index, seen))
		}
		if n.Type() == ast.TypeBlock {
			fmt.Fprintf(&b, " %s", kindName(n))
			if n.Lines() != nil && n.Lines().Len() > 0 {
				fmt.Fprintf(&b, " %q", n.Lines().Value(r.d.raw[r.d.body:]))
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// footnotes are in the list that the parser puts behind the text, by their index.
func footnotes(doc ast.Node) map[int]ast.Node {
	notes := map[int]ast.Node{}
	for list := doc.LastChild(); list != nil; list = list.PreviousSibling() {
		if list.Kind() != east.KindFootnoteList {
			continue
		}
		for n := list.FirstChild(); n != nil; n = n.NextSibling() {
			if f, ok := n.(*east.Footnote); ok && notes[f.Index] == nil {
				notes[f.Index] = f
			}
		}
	}
	return notes
}
