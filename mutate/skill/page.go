package skill

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// A rendering is what a document looks like to those who do not read its source:
// its syntax tree with GitHub's extensions and footnotes, and the page that a
// browser shows, in CommonMark and in GitHub's dialect.
type rendering struct {
	github ast.Node // positions are relative to the body
	pages  [2]page
	tags   []rawTag // in either dialect: a bar ends code in a table of one
}

var github = sync.OnceValue(func() parser.Parser {
	return goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote)).Parser()
})

// render is called once per document: see Document.rendering.
func (d *Document) render() rendering {
	r := rendering{github: github().Parse(text.NewReader(d.raw[d.body:]))}
	r.pages[0] = d.readPage(d.md.doc)
	r.pages[1] = d.readPage(r.github)
	r.tags = append(d.rawTags(d.md.doc), d.rawTags(r.github)...)
	return r
}

// html renders one syntax tree of the body, with a mark in front of every piece
// of text, code or HTML that belongs to the kernel: where the marks end up in the
// browser's tree is where the kernel is shown. What is swallowed by an attribute,
// a comment or a definition takes its mark with it.
func (d *Document) html(doc ast.Node, m marks) ([]byte, error) {
	p := pageWriter{d: d, m: m, spans: d.bodySpans()}
	r := renderer.NewRenderer(renderer.WithNodeRenderers(
		util.Prioritized(&p, 0),
		util.Prioritized(p.marking(html.NewRenderer(html.WithUnsafe())), 1000),
		util.Prioritized(p.marking(extension.NewTableHTMLRenderer()), 500),
		util.Prioritized(p.marking(extension.NewStrikethroughHTMLRenderer()), 500),
		util.Prioritized(p.marking(extension.NewTaskCheckBoxHTMLRenderer()), 500),
	))
	var b bytes.Buffer
	// What stands at the top of a body stands in the middle of a page.
	b.WriteString("<!DOCTYPE html><html><head></head><body>")
	if err := r.Render(&b, d.raw[d.body:], doc); err != nil {
		return nil, err
	}
	b.WriteString(m.end())
	return b.Bytes(), nil
}

// A pageWriter writes the marks, and footnotes without the numbers that another
// footnote elsewhere changes.
type pageWriter struct {
	d     *Document
	m     marks
	spans []Span
}

// RegisterFuncs implements renderer.NodeRenderer.
func (p *pageWriter) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindHTMLBlock, p.htmlBlock)
	reg.Register(east.KindFootnoteLink, p.marked(element("sup")))
	reg.Register(east.KindFootnoteBacklink, func(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
		return ast.WalkContinue, nil
	})
	reg.Register(east.KindFootnote, element("li"))
	reg.Register(east.KindFootnoteList, element("ol"))
}

// element renders a node as an element without attributes.
func element(name string) renderer.NodeRendererFunc {
	return func(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
		tag := "<" + name + ">"
		if !entering {
			tag = "</" + name + ">"
		}
		_, err := w.WriteString(tag)
		return ast.WalkContinue, err
	}
}

// marking is a NodeRenderer with marks in front of what it renders.
func (p *pageWriter) marking(r renderer.NodeRenderer) renderer.NodeRenderer {
	return markingRenderer{r, p}
}

type markingRenderer struct {
	inner renderer.NodeRenderer
	p     *pageWriter
}

func (r markingRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	r.inner.RegisterFuncs(markingRegisterer{reg, r.p})
}

type markingRegisterer struct {
	inner renderer.NodeRendererFuncRegisterer
	p     *pageWriter
}

func (r markingRegisterer) Register(kind ast.NodeKind, f renderer.NodeRendererFunc) {
	switch kind {
	case ast.KindText, ast.KindCodeSpan, ast.KindAutoLink, ast.KindRawHTML, ast.KindImage,
		ast.KindCodeBlock, ast.KindFencedCodeBlock, ast.KindThematicBreak, east.KindTaskCheckBox:
		f = r.p.marked(f)
	}
	r.inner.Register(kind, f)
}

func (p *pageWriter) marked(f renderer.NodeRendererFunc) renderer.NodeRendererFunc {
	return func(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			from, to := leafRange(n)
			p.mark(w, n.Kind(), p.d.body+from, p.d.body+to)
		}
		return f(w, src, n, entering)
	}
}

// leafRange is the range of a leaf in the body; of an inline one other than text
// only the beginning is known.
func leafRange(n ast.Node) (from, to int) {
	if t, ok := n.(*ast.Text); ok {
		return t.Segment.Start, t.Segment.Stop
	}
	from = n.Pos()
	to = from + 1
	if n.Type() == ast.TypeBlock && n.Lines() != nil && n.Lines().Len() > 0 {
		from, to = min(from, n.Lines().At(0).Start), n.Lines().At(n.Lines().Len()-1).Stop
	}
	return from, to
}

// mark writes a mark for every kernel span that a range of the file has a part of.
func (p *pageWriter) mark(w util.BufWriter, kind ast.NodeKind, from, to int) {
	i, _ := slices.BinarySearchFunc(p.spans, from, func(s Span, at int) int { return s.End - at - 1 })
	for ; i < len(p.spans) && from >= p.d.body && p.spans[i].Start < to; i++ {
		_, _ = w.WriteString(p.m.start(i, from < p.spans[i].Start, fmt.Sprintf("%s+%d", kind, max(0, from-p.spans[i].Start))))
	}
}

// htmlBlock writes raw HTML with a mark in front of every line of the kernel.
func (p *pageWriter) htmlBlock(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	b := n.(*ast.HTMLBlock)
	lines := b.Lines().Sliced(0, b.Lines().Len())
	if b.HasClosure() {
		lines = append(slices.Clone(lines), b.ClosureLine)
	}
	for _, l := range lines {
		p.mark(w, ast.KindHTMLBlock, p.d.body+l.Start, p.d.body+l.Stop)
		html.DefaultWriter.SecureWrite(w, l.Value(src))
	}
	return ast.WalkContinue, nil
}

// marks spells marks. They hold part of the text's own hash: no text can hold a
// mark that is taken for ours.
type marks string

const markStart, markEnd = "\ue000", "\ue001"

func (d *Document) marks() marks { return marks(markStart + d.Hash()[:16] + ":") }

// start is the mark in front of a piece of a span; partly says that the piece
// begins before the span.
func (m marks) start(span int, partly bool, leaf string) string {
	return fmt.Sprintf("%s%d:%t:%s%s", string(m), span, partly, leaf, markEnd)
}

func (m marks) end() string { return string(m) + markEnd }

// A marked is text of a page with the mark in front of it.
type marked struct {
	mark, text string // mark is "" for text without one
}

// cut divides a text at its marks.
func (m marks) cut(s string) []marked {
	var out []marked
	at := marked{}
	for {
		before, after, ok := strings.Cut(s, string(m))
		at.text = before
		out = append(out, at)
		if !ok {
			return out
		}
		at.mark, s, _ = strings.Cut(after, markEnd)
	}
}

// without is a text without the marks in it.
func (m marks) without(s string) string {
	var b strings.Builder
	for _, piece := range m.cut(s) {
		b.WriteString(piece.text)
	}
	return b.String()
}
