package skill

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// An item is the list item, table row or table cell that a piece of kernel is in:
// which one of its list, and what the harness says in it. A cell goes by what
// stands at the head of its column.
type item struct {
	index int
	text  string
	all   map[string]int // texts of its list, and how often they stand there
}

// item is that of the element n.
func (r *pageReader) item(n *html.Node) item {
	if it, ok := r.items[n]; ok {
		return it
	}
	var it item
	row := n.Parent
	if n.DataAtom == atom.Td || n.DataAtom == atom.Th {
		row = firstRow(n)
	}
	l := r.list(row)
	it.all = l.all
	if it.index = r.list(n.Parent).index[n]; it.index < len(l.texts) {
		it.text = l.texts[it.index]
	}
	r.items[n] = it
	return it
}

// A list is the items of a list, or the rows or cells of a table.
type list struct {
	index map[*html.Node]int
	texts []string
	all   map[string]int
}

func (r *pageReader) list(parent *html.Node) list {
	l, ok := r.lists[parent]
	if ok {
		return l
	}
	l = list{index: map[*html.Node]int{}, all: map[string]int{}}
	for c := parent.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode {
			l.index[c] = len(l.texts)
			l.texts = append(l.texts, r.harnessText(c))
			l.all[l.texts[len(l.texts)-1]]++
		}
	}
	r.lists[parent] = l
	return l
}

// harnessText is what stands in an element beside kernel and inner lists.
func (r *pageReader) harnessText(n *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node)
	kernel := false // the last piece before this was of the kernel
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			for _, piece := range r.marks.cut(n.Data) {
				partly := strings.Contains(piece.mark, ":true:")
				if kernel = piece.mark != ""; partly {
					piece.text = strings.TrimSuffix(piece.text, "!") // it begins the command
				}
				if !kernel || partly {
					b.WriteString(piece.text)
				}
			}
			return
		}
		if n.DataAtom == atom.Code && kernel {
			kernel = false
			return
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.DataAtom != atom.Ul && c.DataAtom != atom.Ol {
				walk(c)
			}
		}
	}
	walk(n)
	return fold(b.String())
}

// firstRow is the first row of the table that a cell is in.
func firstRow(cell *html.Node) *html.Node {
	row := cell.Parent
	table := row
	for table.Parent != nil && table.DataAtom != atom.Table {
		table = table.Parent
	}
	var find func(*html.Node) *html.Node
	find = func(n *html.Node) *html.Node {
		if n.DataAtom == atom.Tr {
			return n
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if r := find(c); r != nil {
				return r
			}
		}
		return nil
	}
	if first := find(table); first != nil {
		return first
	}
	return row
}

// same reports whether it is the item that was: another may come before it, or
// its text may be edited where it stands, but the kernel may not come under
// another one.
func (it item) same(was item) bool {
	switch {
	case it.text == was.text:
		return it.index == was.index || it.text == "" || it.all[it.text] <= 1
	case it.index == was.index:
		return it.all[was.text] == 0
	}
	return false
}

func sameItems(was, is []item) bool {
	return slices.EqualFunc(is, was, item.same)
}
