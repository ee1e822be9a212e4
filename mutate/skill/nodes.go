package skill

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// A reading is one syntax tree of a body, made ready to be asked about many spans.
type reading struct {
	d              *Document
	doc            ast.Node
	headings       []heading
	blocks, inline []placed // of the inline nodes code, links, images and footnotes
	notes          map[int]ast.Node
	links          map[int]string // what a footnote says and leads to
}

// A placed is a node with its place. They are in the order of their bytes; of those
// at one byte the outer is first.
type placed struct {
	ast.Node
	at    int // offset in the body
	order int // in the tree
}

func (d *Document) reading(doc ast.Node) reading {
	r := reading{d: d, doc: doc, headings: d.md.headingsOf(doc), notes: footnotes(doc), links: map[int]string{}}
	order := 0
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n == doc || n.Pos() < 0 {
			return ast.WalkContinue, nil
		}
		order++
		p := placed{n, n.Pos(), order}
		if n.Type() != ast.TypeInline {
			r.blocks = append(r.blocks, p)
			return ast.WalkContinue, nil
		}
		switch n.(type) {
		case *ast.CodeSpan, *ast.Link, *ast.Image, *east.FootnoteLink:
			r.inline = append(r.inline, p)
		}
		return ast.WalkContinue, nil
	})
	for _, list := range [][]placed{r.blocks, r.inline} {
		slices.SortStableFunc(list, func(a, b placed) int { return a.at - b.at })
	}
	return r
}

// within lists the nodes that begin in [from, end), which are offsets in the body.
func within(list []placed, from, end int) []placed {
	first := sort.Search(len(list), func(i int) bool { return list[i].at >= from })
	last := sort.Search(len(list), func(i int) bool { return list[i].at >= end })
	return list[first:last]
}

// nodes describes a span by the nodes of the reading.
func (r reading) nodes(s Span) (chain, inside, links string) {
	from, end := s.Start-r.d.body, s.End-r.d.body
	// Where an item is, its paragraph is at the same byte or further on: of the
	// nodes that begin at or before the span the innermost is the one that
	// begins last. Footnotes come behind all others, wherever they stand.
	var around ast.Node
	if before := within(r.blocks, 0, from+1); len(before) > 0 {
		around = before[len(before)-1].Node
	}
	nodes := slices.Concat(within(r.blocks, from, end), within(r.inline, from, end))
	slices.SortFunc(nodes, func(a, b placed) int { return cmp.Compare(a.order, b.order) })
	var in, to []string
	for _, p := range nodes {
		switch n := p.Node.(type) {
		case *ast.CodeSpan:
			in = append(in, fmt.Sprintf("CodeSpan+%d", p.at-from))
		case *ast.Link:
			to = append(to, fmt.Sprintf("%s %s", n.Destination, n.Title))
		case *ast.Image:
			to = append(to, fmt.Sprintf("image %s %s", n.Destination, n.Title))
		case *east.FootnoteLink:
			if _, ok := r.links[n.Index]; !ok {
				r.links[n.Index] = r.footnote(n.Index, map[int]bool{})
			}
			to = append(to, r.links[n.Index])
		default:
			in = append(in, fmt.Sprintf("%s+%d", chainOf(n, r.doc), p.at-from))
		}
	}
	return chainOf(around, r.doc), strings.Join(in, " "), strings.Join(to, " ")
}

// chainOf is the kinds of n and of what is around it, outermost first.
func chainOf(n, doc ast.Node) string {
	var kinds []string
	for ; n != nil && n != doc; n = n.Parent() {
		kinds = append(kinds, kindName(n))
	}
	slices.Reverse(kinds)
	return strings.Join(kinds, "/")
}

// kindName is a block's kind; a paragraph is one whether its list is tight or
// loose.
func kindName(n ast.Node) string {
	switch n := n.(type) {
	case *ast.TextBlock:
		return "Paragraph"
	case *ast.Heading:
		return fmt.Sprintf("Heading%d", n.Level)
	}
	return n.Kind().String()
}
