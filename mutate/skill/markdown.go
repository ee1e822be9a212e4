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

// An Outline is the CommonMark structure of a body: the skeleton that kernel
// sections, markers and the structure check are based on. Offsets are into
// the whole file.
type Outline struct {
	raw      []byte
	body     int   // offset of the body in raw
	Starts   []int // offset of each line of the body
	Headings []Heading
	Fences   []Fence
	Tree     ast.Node // positions are relative to body
}

// A Heading is a heading of the document itself: one in a list or in a quote
// opens no section.
type Heading struct {
	Start int // offset of the line it begins on
	Level int
	Text  string // without markup
	In    string // the lists and quotes around it
}

// A Fence is a fenced code block, by lines (indices into outline.starts).
type Fence struct {
	First, Last int // opening line, closing line (or last content line)
	Info        string
	Closed      bool
}

// readOutline reads a body. For one that takes too long to read it returns an
// error, and no headings, fences or nodes.
func readOutline(raw []byte, body int) (*Outline, *SyntaxError) {
	o := &Outline{raw: raw, body: body, Tree: ast.NewDocument()}
	for at := body; at < len(raw); {
		o.Starts = append(o.Starts, at)
		_, at = cutLine(raw, at)
	}
	if err := o.tooCostly(); err != nil {
		return o, err
	}
	src := raw[body:]
	o.Tree = goldmark.DefaultParser().Parse(text.NewReader(src))
	_ = ast.Walk(o.Tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		if n, ok := n.(*ast.FencedCodeBlock); ok {
			o.Fences = append(o.Fences, o.readFence(n))
		}
		return ast.WalkContinue, nil
	})
	o.Headings = o.headingsOf(o.Tree)
	return o, nil
}

// headingsOf lists the headings of one reading of the body.
func (o *Outline) headingsOf(doc ast.Node) []Heading {
	var out []Heading
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Pos() >= 0 {
			out = append(out, o.HeadingOf(h))
		}
	}
	return out
}

// HeadingOf returns the heading of h in the file.
func (o *Outline) HeadingOf(h *ast.Heading) Heading {
	return Heading{Start: o.Starts[o.Line(o.body+h.Pos())], Level: h.Level, Text: PlainText(h, o.raw[o.body:])}
}

// Lines are the lines from index i to before j, without the last line break.
func (o *Outline) Lines(i, j int) []byte {
	return o.raw[o.Starts[i]:o.lineEnd(min(j, len(o.Starts))-1)]
}

// Line is the index of the line that holds offset at.
func (o *Outline) Line(at int) int {
	return max(0, sort.SearchInts(o.Starts, at+1)-1)
}

// lineEnd is the offset behind the last byte of line i, before its line break.
func (o *Outline) lineEnd(i int) int {
	line, _ := cutLine(o.raw, o.Starts[i])
	return o.Starts[i] + len(line)
}

// LineText is line i without its line break.
func (o *Outline) LineText(i int) []byte {
	line, _ := cutLine(o.raw, o.Starts[i])
	return line
}

// FileLine is the 1-based line of the file that holds offset at.
func (o *Outline) FileLine(at int) int {
	return 1 + bytes.Count(o.raw[:at], []byte("\n"))
}

func (o *Outline) readFence(n *ast.FencedCodeBlock) Fence {
	f := Fence{First: o.Line(o.body + max(0, n.Pos()))}
	f.Last = f.First
	if n.Info != nil {
		f.Info = string(n.Info.Segment.Value(o.raw[o.body:]))
	}
	if k := n.Lines().Len(); k > 0 {
		f.Last = o.Line(o.body + n.Lines().At(k-1).Start)
	}
	// goldmark does not report whether a closing line was found: look at the
	// line that would be it.
	opening := bytes.TrimLeft(o.raw[o.body+max(0, n.Pos()):o.lineEnd(f.First)], " \t")
	if len(opening) == 0 {
		return f
	}
	run := len(opening) - len(bytes.TrimLeft(opening, string(opening[:1])))
	if f.Last+1 < len(o.Starts) {
		end := bytes.Trim(o.LineText(f.Last+1), " \t>")
		if len(end) >= run && len(bytes.TrimLeft(end, string(opening[:1]))) == 0 {
			f.Last, f.Closed = f.Last+1, true
		}
	}
	return f
}

// inFence reports whether line i is part of a fenced code block.
func (o *Outline) inFence(i int) bool {
	for _, f := range o.Fences {
		if f.First <= i && i <= f.Last {
			return true
		}
	}
	return false
}

// path is the path of headings in force at offset at, "Tagger > Security". A
// heading that begins at the offset is part of it.
func (o *Outline) path(at int) string { return joinPath(Above(o.Headings, at)) }

// Above lists the headings in force at offset at, outermost first.
func Above(headings []Heading, at int) []Heading {
	var stack []Heading
	for _, h := range headings {
		if h.Start > at {
			break
		}
		stack = push(stack, h)
	}
	return stack
}

// Opening is the offset of a span's first visible text: its first heading, if
// only markers, comments and blank lines come before that. Sections before
// the span end there.
func (o *Outline) Opening(headings []Heading, s Span) int {
	for _, h := range headings {
		if h.Start < s.Start {
			continue
		}
		if h.Start < s.End && silentLines.Match(o.raw[s.Start:h.Start]) {
			return h.Start
		}
		break
	}
	return s.Start
}

// silentLines matches blank lines and comments of one line.
var silentLines = lazyregexp.New(`^(?:[ \t]*(?:<!--[^<>]*-->[ \t]*)?\r?\n)*$`)

// push opens a section: it closes those of the same and of deeper levels.
func push(stack []Heading, h Heading) []Heading {
	for len(stack) > 0 && stack[len(stack)-1].Level >= h.Level {
		stack = stack[:len(stack)-1]
	}
	return append(stack, h)
}

func joinPath(stack []Heading) string {
	var names []string
	for _, h := range stack {
		names = append(names, h.Text)
	}
	return strings.Join(names, " > ")
}

// section is the byte range of the section that heading i opens, subsections
// included, blank lines at its end and the last line break not.
func (o *Outline) section(i int) (start, end int) {
	h := o.Headings[i]
	last := len(o.Starts) - 1
	for _, next := range o.Headings[i+1:] {
		if next.Level <= h.Level {
			last = o.Line(next.Start) - 1
			break
		}
	}
	// Blank is a blank line in CommonMark's sense: a form feed continues a
	// paragraph.
	for last > o.Line(h.Start) && len(bytes.Trim(o.LineText(last), " \t")) == 0 {
		last--
	}
	return h.Start, o.lineEnd(last)
}

// PlainText is a node's text without markup, runs of spaces folded.
func PlainText(n ast.Node, src []byte) string {
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
			case *ast.AutoLink:
				b.Write(n.Label(src))
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}
