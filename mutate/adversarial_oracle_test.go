package mutate

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"go.yaml.in/yaml/v3"
)

// The oracle reads a skill without any help of package skill: bytes by
// search, structure from goldmark's tree, visibility from the rendered page.
// It knows two dialects, since the one of an agent's reader is unknown.
var dialects = map[string]goldmark.Markdown{
	"CommonMark": goldmark.New(goldmark.WithRendererOptions(html.WithUnsafe())),
	"GitHub":     goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote), goldmark.WithRendererOptions(html.WithUnsafe())),
}

// intact returns how the kernel of a shape was changed in a file, "" for not
// at all. description means that the description may differ.
func intact(s shape, file []byte, description bool) string {
	wasFront, wasBody := cutFront([]byte(s.text))
	isFront, isBody := cutFront(file)
	if msg := sameFront(wasFront, isFront, description); msg != "" {
		return msg
	}
	for name, md := range dialects {
		was, is := readTree(md, wasBody), readTree(md, isBody)
		at := 0
		fromWas := 0
		for i, k := range s.kernel {
			o := bytes.Index(wasBody[fromWas:], []byte(k)) + fromWas
			fromWas = o + len(k)
			want := was.facts(o, k)
			found, first := false, ""
			for p := at; ; p++ { // a copy of the kernel's text elsewhere is no crime
				j := bytes.Index(isBody[p:], []byte(k))
				if j < 0 {
					break
				}
				p += j
				got := is.facts(p, k)
				if got == want {
					at, found = p+len(k), true
					break
				}
				if first == "" {
					first = got
				}
			}
			switch {
			case found:
			case first == "":
				return fmt.Sprintf("%s: kernel block %d is gone or out of order", name, i+1)
			default:
				return fmt.Sprintf("%s: kernel block %d was\n%s\nand is\n%s", name, i+1, want, first)
			}
		}
		shownWas, shownIs := visible(md, wasBody, s.words), visible(md, isBody, s.words)
		for place, n := range shownWas {
			if shownIs[place] < n {
				return fmt.Sprintf("%s: the word %s of the kernel is shown %d times there and was %d times: %v", name, place, shownIs[place], n, shownIs)
			}
		}
	}
	return ""
}

var frontmatter = regexp.MustCompile(`(?s)\A(?:\x{feff})?---\r?\n.*?\n---(?:\r?\n|\z)`)

func cutFront(file []byte) (front, body []byte) {
	n := len(frontmatter.Find(file))
	return file[:n], file[n:]
}

func sameFront(was, is []byte, description bool) string {
	if bytes.Equal(was, is) {
		return ""
	}
	if !description {
		return "the frontmatter changed"
	}
	a, b := map[string]any{}, map[string]any{}
	trim := func(f []byte) []byte { return bytes.TrimPrefix(bytes.TrimSpace(f), []byte("\ufeff")) }
	inner := func(f []byte) []byte {
		return bytes.TrimSuffix(bytes.TrimPrefix(trim(f), []byte("---")), []byte("---"))
	}
	if err := yaml.Unmarshal(inner(was), &a); err != nil {
		return err.Error()
	}
	if err := yaml.Unmarshal(inner(is), &b); err != nil {
		return "the new frontmatter is not YAML: " + err.Error()
	}
	if len(a) != len(b) {
		return "the frontmatter has other keys"
	}
	for k := range a {
		if k != "description" && fmt.Sprint(a[k]) != fmt.Sprint(b[k]) {
			return "the frontmatter's " + k + " changed"
		}
	}
	return ""
}

// A tree is one reading of a body.
type tree struct {
	src []byte
	doc ast.Node
}

func readTree(md goldmark.Markdown, body []byte) tree {
	return tree{body, md.Parser().Parse(text.NewReader(body))}
}

// facts is all that must stay the same of the kernel text at offset o: the
// headings above it, and every leaf block that it has a part in with the nodes
// around that, and every link and piece of markup in it. Offsets are relative to
// the kernel; what lies outside of it is not looked at.
func (t tree) facts(o int, kernel string) string {
	end := o + len(kernel)
	inline := strings.HasPrefix(kernel, "!`")
	var b strings.Builder
	at := o // of what is shown first: a heading there ends the sections before it
	for line := range strings.Lines(kernel) {
		if at += len(line); !strings.HasPrefix(line, "<!--") {
			break
		}
	}
	fmt.Fprintf(&b, "under %q\n", t.headings(at-1))
	_ = ast.Walk(t.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		if n.Type() == ast.TypeInline {
			t.inlineFacts(&b, n, o, end, inline)
			return ast.WalkContinue, nil
		}
		lo, hi := t.extent(n)
		if lo < 0 || hi <= o || lo >= end {
			return ast.WalkContinue, nil
		}
		fmt.Fprintf(&b, "%s", chainOf(n))
		if !inline {
			fmt.Fprintf(&b, " %d–%d", max(lo-o, -1), min(hi, end+2)-o)
		}
		b.WriteByte('\n')
		return ast.WalkContinue, nil
	})
	return b.String()
}

// extent is the range of the lines of a leaf block, -1 for none. Line breaks at
// its end are no part of it.
func (t tree) extent(n ast.Node) (lo, hi int) {
	lines := n.Lines()
	if lines == nil || lines.Len() == 0 {
		if n.Kind() == ast.KindThematicBreak && n.Pos() >= 0 {
			return n.Pos(), n.Pos() + 1
		}
		return -1, -1
	}
	lo, hi = lines.At(0).Start, lines.At(lines.Len()-1).Stop
	if h, ok := n.(*ast.HTMLBlock); ok && h.HasClosure() {
		hi = max(hi, h.ClosureLine.Stop)
	}
	for hi > lo && (t.src[hi-1] == '\n' || t.src[hi-1] == '\r') {
		hi--
	}
	return lo, hi
}

func (t tree) inlineFacts(b *strings.Builder, n ast.Node, o, end int, inline bool) {
	if inline && n.Kind() != ast.KindCodeSpan {
		return // what is in its line is harness
	}
	first := n
	for first.FirstChild() != nil {
		first = first.FirstChild()
	}
	s, ok := first.(*ast.Text)
	if !ok || s.Segment.Start < o || s.Segment.Start >= end || n.Kind() == ast.KindText {
		return
	}
	fmt.Fprintf(b, "  %s at %d", n.Kind(), s.Segment.Start-o)
	switch n := n.(type) {
	case *ast.Link:
		fmt.Fprintf(b, " to %s %s", n.Destination, n.Title)
	case *ast.Image:
		fmt.Fprintf(b, " of %s %s", n.Destination, n.Title)
	}
	b.WriteByte('\n')
}

func chainOf(n ast.Node) string {
	s := ""
	for ; n != nil && n.Kind() != ast.KindDocument; n = n.Parent() {
		name := n.Kind().String()
		switch n := n.(type) {
		case *ast.TextBlock: // a tight list's paragraph
			name = "Paragraph"
		case *ast.Heading:
			name = fmt.Sprintf("Heading%d", n.Level)
		case *ast.List:
			name = fmt.Sprintf("List%t", n.IsOrdered())
		}
		s = "/" + name + s
	}
	return s
}

// headings is the path of headings above offset at.
func (t tree) headings(at int) []string {
	var levels []int
	var path []string
	for n := t.doc.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok {
			continue
		}
		start := h.Pos()
		if h.Lines().Len() > 0 {
			start = h.Lines().At(0).Start
		}
		if start > at {
			continue
		}
		for len(levels) > 0 && levels[len(levels)-1] >= h.Level {
			levels, path = levels[:len(levels)-1], path[:len(path)-1]
		}
		name := ""
		if h.Lines().Len() > 0 {
			name = strings.Join(strings.Fields(string(h.Lines().Value(t.src))), " ")
		}
		levels, path = append(levels, h.Level), append(path, name)
	}
	return path
}
