package skill

import (
	"bytes"
	"sort"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// An outline is what CommonMark makes of a body: the skeleton that kernel
// sections, markers and the structure check hang on. Offsets are into the
// whole file.
type outline struct {
	raw      []byte
	body     int   // offset of the body in raw
	starts   []int // offset of each line of the body
	headings []heading
	fences   []fence
	doc      ast.Node // positions are relative to body
}

// A heading is a heading of the document itself: one in a list or in a quote
// opens no section.
type heading struct {
	start int // offset of the line it begins on
	level int
	text  string // without markup
	in    string // the lists and quotes around it
}

// A fence is a fenced code block, by lines (indices into outline.starts).
type fence struct {
	first, last int // opening line, closing line (or last content line)
	info        string
	closed      bool
}

// readOutline reads a body. One that takes too long to read is an error, and has
// no headings, fences or nodes.
func readOutline(raw []byte, body int) (*outline, *SyntaxError) {
	o := &outline{raw: raw, body: body, doc: ast.NewDocument()}
	for at := body; at < len(raw); {
		o.starts = append(o.starts, at)
		_, at = cutLine(raw, at)
	}
	if err := o.tooCostly(); err != nil {
		return o, err
	}
	src := raw[body:]
	o.doc = goldmark.DefaultParser().Parse(text.NewReader(src))
	_ = ast.Walk(o.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		if n, ok := n.(*ast.FencedCodeBlock); ok {
			o.fences = append(o.fences, o.readFence(n))
		}
		return ast.WalkContinue, nil
	})
	o.headings = o.headingsOf(o.doc)
	return o, nil
}

// headingsOf lists the headings of one reading of the body.
func (o *outline) headingsOf(doc ast.Node) []heading {
	var out []heading
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Pos() >= 0 {
			out = append(out, o.headingOf(h))
		}
	}
	return out
}

func (o *outline) headingOf(h *ast.Heading) heading {
	return heading{start: o.starts[o.line(o.body+h.Pos())], level: h.Level, text: plainText(h, o.raw[o.body:])}
}

// lines are the lines from index i to before j, without the last line break.
func (o *outline) lines(i, j int) []byte {
	return o.raw[o.starts[i]:o.lineEnd(min(j, len(o.starts))-1)]
}

// line is the index of the line that holds offset at.
func (o *outline) line(at int) int {
	return max(0, sort.SearchInts(o.starts, at+1)-1)
}

// lineEnd is the offset behind the last byte of line i, before its line break.
func (o *outline) lineEnd(i int) int {
	line, _ := cutLine(o.raw, o.starts[i])
	return o.starts[i] + len(line)
}

// lineText is line i without its line break.
func (o *outline) lineText(i int) []byte {
	line, _ := cutLine(o.raw, o.starts[i])
	return line
}

// fileLine is the 1-based line of the file that holds offset at.
func (o *outline) fileLine(at int) int {
	return 1 + bytes.Count(o.raw[:at], []byte("\n"))
}

func (o *outline) readFence(n *ast.FencedCodeBlock) fence {
	f := fence{first: o.line(o.body + max(0, n.Pos()))}
	f.last = f.first
	if n.Info != nil {
		f.info = string(n.Info.Segment.Value(o.raw[o.body:]))
	}
	if k := n.Lines().Len(); k > 0 {
		f.last = o.line(o.body + n.Lines().At(k-1).Start)
	}
	// goldmark does not say whether a closing line was found: look at the
	// line that would be it.
	opening := bytes.TrimLeft(o.raw[o.body+max(0, n.Pos()):o.lineEnd(f.first)], " \t")
	if len(opening) == 0 {
		return f
	}
	run := len(opening) - len(bytes.TrimLeft(opening, string(opening[:1])))
	if f.last+1 < len(o.starts) {
		end := bytes.Trim(o.lineText(f.last+1), " \t>")
		if len(end) >= run && len(bytes.TrimLeft(end, string(opening[:1]))) == 0 {
			f.last, f.closed = f.last+1, true
		}
	}
	return f
}

// inFence reports whether line i is part of a fenced code block.
func (o *outline) inFence(i int) bool {
	for _, f := range o.fences {
		if f.first <= i && i <= f.last {
			return true
		}
	}
	return false
}

// path is the path of headings in force at offset at, "Tagger > Security". A
// heading that begins at the offset is part of it.
func (o *outline) path(at int) string { return joinPath(above(o.headings, at)) }

// above lists the headings in force at offset at, outermost first.
func above(headings []heading, at int) []heading {
	var stack []heading
	for _, h := range headings {
		if h.start > at {
			break
		}
		stack = push(stack, h)
	}
	return stack
}

// opening is the offset at which what a span shows begins: at its first heading, if
// only markers, comments and blank lines come before that. Sections before the span
// end there.
func (o *outline) opening(headings []heading, s Span) int {
	for _, h := range headings {
		if h.start < s.Start {
			continue
		}
		if h.start < s.End && silentLines.Match(o.raw[s.Start:h.start]) {
			return h.start
		}
		break
	}
	return s.Start
}

// silentLines matches blank lines and comments of one line.
var silentLines = lazyregexp.New(`^(?:[ \t]*(?:<!--[^<>]*-->[ \t]*)?\r?\n)*$`)

// push opens a section: it closes those of the same and of deeper levels.
func push(stack []heading, h heading) []heading {
	for len(stack) > 0 && stack[len(stack)-1].level >= h.level {
		stack = stack[:len(stack)-1]
	}
	return append(stack, h)
}

func joinPath(stack []heading) string {
	var names []string
	for _, h := range stack {
		names = append(names, h.text)
	}
	return strings.Join(names, " > ")
}

// section is the byte range of the section that heading i opens, subsections
// included, blank lines at its end and the last line break not.
func (o *outline) section(i int) (start, end int) {
	h := o.headings[i]
	last := len(o.starts) - 1
	for _, next := range o.headings[i+1:] {
		if next.level <= h.level {
			last = o.line(next.start) - 1
			break
		}
	}
	// Blank is what CommonMark calls so: a form feed goes on a paragraph.
	for last > o.line(h.start) && len(bytes.Trim(o.lineText(last), " \t")) == 0 {
		last--
	}
	return h.start, o.lineEnd(last)
}

// plainText is a node's text without markup, runs of spaces folded.
func plainText(n ast.Node, src []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			switch n := n.(type) {
			case *ast.Text:
				b.Write(n.Segment.Value(src))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte(' ')
				}
			case *ast.String:
				b.Write(n.Value)
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}
