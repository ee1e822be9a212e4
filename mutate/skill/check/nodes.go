package check

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"sort"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// A reading is one syntax tree of a body, prepared for questions about many spans.
type reading struct {
	d              *document
	doc            ast.Node
	headings       []skill.Heading // those in lists and quotes too
	blocks, inline []placed        // of the inline nodes code, links, images and footnotes
	notes          map[int]ast.Node
	links          map[int]string // by footnote: its text, and what it links to
}

// A placed is a node with its position. They are ordered by position; of
// those at one position the outer comes first.
type placed struct {
	ast.Node
	at    int // offset in the body
	order int // in the tree
}

func (d *document) reading(doc ast.Node) reading {
	r := reading{d: d, doc: doc, notes: map[int]ast.Node{}, links: map[int]string{}}
	order := 0
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n == doc {
			return ast.WalkContinue, nil
		}
		if f, ok := n.(*east.Footnote); ok && r.notes[f.Index] == nil {
			r.notes[f.Index] = f
		}
		if n.Pos() < 0 {
			return ast.WalkContinue, nil
		}
		order++
		p := placed{n, n.Pos(), order}
		if n.Type() != ast.TypeInline {
			r.blocks = append(r.blocks, p)
		}
		switch n := n.(type) {
		case *ast.Heading:
			h := d.md.HeadingOf(n)
			h.In = r.chainOf(n.Parent())
			r.headings = append(r.headings, h)
		case *ast.CodeSpan, *ast.Link, *ast.Image, *east.FootnoteLink:
			r.inline = append(r.inline, p)
		}
		return ast.WalkContinue, nil
	})
	for _, list := range [][]placed{r.blocks, r.inline} {
		slices.SortStableFunc(list, func(a, b placed) int { return a.at - b.at })
	}
	slices.SortStableFunc(r.headings, func(a, b skill.Heading) int { return a.Start - b.Start })
	return r
}

// within lists the nodes that begin in [from, end), which are offsets in the body.
func within(list []placed, from, end int) []placed {
	first := sort.Search(len(list), func(i int) bool { return list[i].at >= from })
	last := sort.Search(len(list), func(i int) bool { return list[i].at >= end })
	return list[first:max(first, last)]
}

// around is the innermost block in which a span begins. An item's paragraph
// begins at or after the item, so of the blocks that begin at or before the
// span it is the last one. Footnotes follow all others in the tree.
func (r reading) around(s skill.Span) ast.Node {
	if before := within(r.blocks, 0, s.Start-r.d.body+1); len(before) > 0 {
		return before[len(before)-1].Node
	}
	return nil
}

// An item is a list item or a table row that holds kernel.
type item struct {
	index int    // among its siblings
	text  string // its first line without its marker
}

// items lists the items around a span, innermost first.
func (r reading) items(s skill.Span) []item {
	var out []item
	for n := r.around(s); n != nil; n = n.Parent() {
		if n.Kind() != ast.KindListItem && n.Kind() != east.KindTableRow || n.Pos() < 0 {
			continue
		}
		it := item{text: strings.TrimLeft(string(r.d.md.LineText(r.d.md.Line(r.d.body+n.Pos()))), " \t>*+-0123456789.)")}
		for p := n.PreviousSibling(); p != nil; p = p.PreviousSibling() {
			it.index++
		}
		out = append(out, it)
	}
	return out
}

// sameItems reports whether each item has kept its place or its first line:
// others may be added before it, or it may be edited, but the kernel may not
// move into another one.
func sameItems(was, is []item) bool {
	return slices.EqualFunc(was, is, func(a, b item) bool { return a.index == b.index || a.text == b.text })
}

// nodes describes a span by the nodes of the reading.
func (r reading) nodes(s skill.Span) (chain, inside, links string) {
	from, end := s.Start-r.d.body, s.End-r.d.body
	nodes := slices.Concat(within(r.blocks, from, end), within(r.inline, from, end))
	slices.SortFunc(nodes, func(a, b placed) int { return cmp.Compare(a.order, b.order) })
	var in, to []string
	for _, p := range nodes {
		switch n := p.Node.(type) {
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
			in = append(in, fmt.Sprintf("%s+%d", r.chainOf(n), p.at-from))
		}
	}
	return r.chainOf(r.around(s)), strings.Join(in, " "), strings.Join(to, " ")
}

// chainOf is the kinds of n and of the nodes around it, outermost first.
func (r reading) chainOf(n ast.Node) string {
	var kinds []string
	for ; n != nil && n != r.doc; n = n.Parent() {
		kinds = append(kinds, r.kindName(n))
	}
	slices.Reverse(kinds)
	return strings.Join(kinds, "/")
}

// kindName is a node's kind; a paragraph is the same in a tight and a loose
// list. A table is known by its first two lines, and a cell by its column:
// readers differ in which further lines they add to a table.
func (r reading) kindName(n ast.Node) string {
	switch n := n.(type) {
	case *ast.TextBlock:
		return "Paragraph"
	case *ast.Heading:
		return fmt.Sprintf("Heading%d", n.Level)
	case *ast.List:
		if n.IsOrdered() {
			return "OrderedList"
		}
	case *east.Table:
		return r.tableName(n)
	case *east.TableCell:
		column := 1
		for p := n.PreviousSibling(); p != nil; p = p.PreviousSibling() {
			column++
		}
		return fmt.Sprintf("TableCell%d", column)
	}
	return n.Kind().String()
}

func (r reading) tableName(table ast.Node) string {
	head, odd := "", ""
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		if row.Pos() < 0 {
			continue
		}
		at := r.d.md.Line(r.d.body + row.Pos())
		line := string(r.d.md.LineText(at))
		if head == "" {
			head = string(r.d.md.Lines(at, at+2))
		}
		if !strings.Contains(line, "|") || indentOf(line) != indentOf(head) {
			odd = " with rows of another form"
		}
	}
	return fmt.Sprintf("Table %q%s", head, odd)
}

func indentOf(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// footnote is the text of the footnote with that index: its blocks with their
// bytes, and the targets of its links and footnotes. seen are the footnotes
// around it.
func (r reading) footnote(index int, seen map[int]bool) string {
	note, ok := r.notes[index]
	if seen[index] || !ok {
		return "footnote above, or without text"
	}
	seen[index] = true
	var b strings.Builder
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
			b.WriteString(r.footnote(n.Index, seen))
		}
		if n.Type() == ast.TypeBlock && n.Lines() != nil && n.Lines().Len() > 0 {
			fmt.Fprintf(&b, " %s %q", r.kindName(n), n.Lines().Value(r.d.raw[r.d.body:]))
		}
		return ast.WalkContinue, nil
	})
	return "footnote" + b.String()
}

// before describes what a span with a heading of its own ends: the headings
// in force directly before it, and the last of them if it has no text, ""
// otherwise.
func (r reading) before(s skill.Span) (inForce []string, empty string) {
	at := r.d.md.Opening(r.headings, s)
	i := slices.IndexFunc(r.headings, func(h skill.Heading) bool { return h.Start == at })
	if i < 1 {
		return nil, ""
	}
	for _, h := range skill.Above(r.headings, at-1) {
		inForce = append(inForce, h.Text)
	}
	last := r.headings[i-1]
	if last.Level < r.headings[i].Level {
		return inForce, ""
	}
	letters := 0
	for _, p := range within(r.blocks, last.Start-r.d.body, at-r.d.body) {
		switch p.Kind() {
		case ast.KindParagraph, ast.KindTextBlock, east.KindTableCell:
			letters += lettersIn(html.UnescapeString(skill.PlainText(p.Node, r.d.raw[r.d.body:])))
		case ast.KindCodeBlock, ast.KindFencedCodeBlock:
			letters += lettersIn(string(p.Lines().Value(r.d.raw[r.d.body:])))
		}
	}
	if letters < someLetters {
		empty = last.Text
	}
	return inForce, empty
}
