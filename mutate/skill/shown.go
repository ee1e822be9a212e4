package skill

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A page is what a browser makes of a body.
type page struct {
	err    error          // it is not readable: nested deeper than a parser goes
	kernel [][]shown      // what is shown of each kernel span of the body, in the order of the page
	active map[string]int // elements that run, load or restyle, as often as they stand
}

// A shown is one piece of a kernel span on the page.
type shown struct {
	leaf   string   // kind of the node and its offset in the span, "Text+12"
	chain  string   // elements around it with their attributes, innermost first
	path   string   // headings above it, of Markdown or HTML, wherever they stand; "" before the heading that the span begins with
	after  string   // in a heading: the one directly before, which has nothing below it and ends here
	before []string // in a heading: those in force right before it, which it may end
	items  []item   // list items, table rows and cells that it is in, innermost first
}

// Elements that change a whole page wherever they stand on it, or keep their
// content from it.
var activeElements = map[string]bool{
	"script": true, "style": true, "link": true, "base": true, "meta": true, "template": true,
	"iframe": true, "frame": true, "frameset": true, "object": true, "embed": true, "applet": true,
}

// readPage renders a syntax tree of the body and reads it as a browser does.
func (d *Document) readPage(doc ast.Node) page {
	m := d.marks()
	text, err := d.html(doc, m)
	if err != nil {
		return page{err: err}
	}
	root, err := parseHTML(text)
	if err != nil {
		return page{err: err}
	}
	r := pageReader{marks: m, page: page{kernel: make([][]shown, len(d.bodySpans())), active: map[string]int{}}, chains: map[*html.Node]string{}, items: map[*html.Node]item{}, lists: map[*html.Node]list{}}
	headings := d.md.headingsOf(doc)
	for _, s := range d.bodySpans() {
		r.silent = append(r.silent, d.md.opening(headings, s)-s.Start)
	}
	r.read(root)
	return r.page
}

// parseHTML is html.Parse, which panics on elements nested too deeply.
func parseHTML(text []byte) (root *html.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("read the rendered page: %v", p)
		}
	}()
	return html.Parse(bytes.NewReader(text))
}

// A pageReader walks a page in its order.
type pageReader struct {
	page
	marks    marks
	headings []heading
	path     string   // of headings
	letters  int      // letters and digits that have been shown since the last heading
	inside   bool     // a heading
	after    string   // see shown
	before   []string // see shown
	silent   []int    // by span: bytes before the heading that it begins with
	chains   map[*html.Node]string
	items    map[*html.Node]item
	lists    map[*html.Node]list // by what is around the items
}

func (r *pageReader) read(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		for _, piece := range r.marks.cut(n.Data) {
			if piece.mark != "" {
				r.found(n.Parent, piece.mark)
			}
			if !r.inside {
				r.letters += lettersIn(piece.text)
			}
		}
	case html.ElementNode:
		if activeElements[n.Data] {
			r.active[r.activeKey(n)]++
		}
		if level := headingLevel(n); level > 0 {
			r.before = nil
			for _, h := range r.headings {
				r.before = append(r.before, h.text)
			}
			if last := len(r.headings) - 1; last >= 0 && r.letters < someLetters && r.headings[last].level >= level {
				r.after = r.headings[last].text
			}
			r.headings = push(r.headings, heading{level: level, text: fold(r.text(n))})
			r.path = quotedPath(r.headings)
			r.inside = true
			defer func() { r.inside, r.letters, r.before, r.after = false, 0, nil, "" }()
		}
		if n.DataAtom == atom.Img && !r.inside {
			r.letters += lettersIn(r.alt(n))
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		r.read(c)
	}
}

// found notes a piece of the kernel in the element n.
func (r *pageReader) found(n *html.Node, mark string) {
	first, leaf, _ := strings.Cut(mark, ":")
	_, leaf, _ = strings.Cut(leaf, ":")
	span, err := strconv.Atoi(first)
	if err != nil || span >= len(r.kernel) {
		return
	}
	s := shown{leaf: leaf, chain: r.chain(n), path: r.path, after: r.after, before: r.before}
	if s.path == "" {
		s.path = quotedPath(nil)
	}
	_, offset, _ := strings.Cut(leaf, "+")
	if at, err := strconv.Atoi(offset); err == nil && at < r.silent[span] {
		s.path = ""
	}
	for at := n; at != nil; at = at.Parent {
		switch at.DataAtom {
		case atom.Li, atom.Tr, atom.Td, atom.Th:
			s.items = append(s.items, r.item(at))
		}
	}
	r.kernel[span] = append(r.kernel[span], s)
}

// chain is n and the elements around it with their attributes. Paragraphs are
// left out, for a list is tight or loose as its other items are, and so is the
// number that a list begins with.
func (r *pageReader) chain(n *html.Node) string {
	if n == nil || n.Type != html.ElementNode {
		return ""
	}
	if s, ok := r.chains[n]; ok {
		return s
	}
	s := r.chain(n.Parent)
	if n.DataAtom != atom.P || len(n.Attr) > 0 {
		s = "<" + n.Data + r.attributes(n) + ">" + s
	}
	r.chains[n] = s
	return s
}

func (r *pageReader) attributes(n *html.Node) string {
	var names []string
	for _, a := range n.Attr {
		if n.DataAtom == atom.Ol && a.Key == "start" {
			continue
		}
		names = append(names, fmt.Sprintf(" %s=%q", r.marks.without(a.Key), r.marks.without(a.Val)))
	}
	slices.Sort(names)
	return strings.Join(names, "")
}

func headingLevel(n *html.Node) int {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return int(n.Data[1] - '0')
	}
	return 0
}

// activeKey is an active element with its attributes, and with its text where it
// is a program or a style sheet. One that is never closed holds the rest of the
// page, which is not its own.
func (r *pageReader) activeKey(n *html.Node) string {
	key := n.Data + r.attributes(n)
	if n.Data != "script" && n.Data != "style" || n.FirstChild == nil || strings.Contains(n.FirstChild.Data, r.marks.end()) {
		return key
	}
	return key + " " + r.text(n)
}

// alt is what an image shows to those who do not see it.
func (r *pageReader) alt(n *html.Node) string {
	for _, a := range n.Attr {
		if a.Key == "alt" {
			return r.marks.without(a.Val)
		}
	}
	return ""
}

// text is the text in n without marks.
func (r *pageReader) text(n *html.Node) string {
	var b strings.Builder
	for n := range n.Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(r.marks.without(n.Data))
		}
	}
	return b.String()
}

func fold(s string) string { return strings.Join(strings.Fields(s), " ") }
