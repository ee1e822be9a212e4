package check

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// An htmlTag is the beginning of raw HTML in a body: a tag, a declaration or an
// instruction. Comments are none, see htmlComments.
type htmlTag struct {
	at      int    // offset in the file
	key     string // the tag in one spelling, "details open"
	name    string // of the element, "" for what is no tag
	closes  bool
	plain   bool // a placeholder (<file name>), or a tag that shows its content as it is
	comment bool // in an HTML comment
}

// htmlStart matches a tag that may go over several lines, a declaration or an
// instruction.
var htmlStart = lazyregexp.New(`<(/?)([A-Za-z][A-Za-z0-9_-]*)((?:[\s/][^<>]*)?)(>?)|<(?:\?|![A-Za-z\[])[^<>\n]*`)

// htmlTags lists the raw HTML of the body outside of code, without plain tags
// in a paragraph of their own. Code is what both CommonMark and GitHub's
// dialect read as code.
func (d *document) htmlTags() []htmlTag {
	comments, spans := d.htmlComments(), d.bodySpans()
	var out []htmlTag
	for _, doc := range []ast.Node{d.md.Tree, d.GitHub()} {
		body, blocks := d.withoutCode(doc), htmlBlocks(doc)
		for _, m := range htmlStart.FindAllSubmatchIndex(body, -1) {
			if t := readTag(body, m); !t.plain || !d.apart(m[0], blocks, spans) {
				t.at = d.body + m[0]
				t.comment = slices.ContainsFunc(comments, func(c htmlComment) bool { return c.start <= t.at && t.at < c.end })
				out = append(out, t)
			}
		}
	}
	slices.SortFunc(out, func(a, b htmlTag) int { return a.at - b.at })
	return slices.CompactFunc(out, func(a, b htmlTag) bool { return a.at == b.at })
}

// readTag reads a match of htmlStart.
func readTag(src []byte, m []int) htmlTag {
	if m[4] < 0 {
		return htmlTag{key: string(src[m[0]:m[1]])}
	}
	t := htmlTag{name: strings.ToLower(string(src[m[4]:m[5]])), closes: m[3] > m[2]}
	attributes, complete := string(src[m[6]:m[7]]), m[9] > m[8]
	if !complete {
		t.key = string(src[m[0]:m[5]]) + " without its end"
		t.plain = attributes == "" && m[1] < len(src) && src[m[1]] != '<' // an address, as in <https://example.com>
		return t
	}
	t.key = fold(string(src[m[2]:m[3]]) + t.name + " " + attributes)
	line := bytes.TrimSpace(src[bytes.LastIndexByte(src[:m[0]], '\n')+1 : m[0]])
	rest, _, _ := bytes.Cut(src[m[1]:], []byte("\n"))
	alone := len(bytes.Trim(line, " \t\r>*+-.)0123456789")) == 0 && len(bytes.TrimSpace(rest)) == 0 // it begins an HTML block
	switch {
	case alone:
	case t.name == "br" || t.name == "wbr":
		t.plain = strings.Trim(attributes, " /") == ""
	case t.name == "sub" || t.name == "sup" || t.name == "kbd":
		t.plain = attributes == "" && (t.closes || bytes.Contains(rest, []byte("</"+t.name+">")))
	default:
		t.plain = !t.closes && !htmlElements()[t.name] && !strings.ContainsAny(attributes, "=\"'`/\n") && !concealing()[strings.TrimSpace(strings.ToLower(attributes))]
	}
	return t
}

var concealing = words("hidden inert popover")

// htmlBlocks lists the ranges of the HTML blocks of a body.
func htmlBlocks(doc ast.Node) []text.Segment {
	var out []text.Segment
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if b, ok := n.(*ast.HTMLBlock); ok && entering && b.Lines().Len() > 0 {
			out = append(out, text.NewSegment(b.Lines().At(0).Start, b.Lines().At(b.Lines().Len()-1).Stop))
		}
		return ast.WalkContinue, nil
	})
	return out
}

// apart reports whether a plain tag ends with its own paragraph: it is in no
// HTML block, and a blank line separates it from the next kernel block.
func (d *document) apart(at int, blocks []text.Segment, spans []skill.Span) bool {
	if slices.ContainsFunc(blocks, func(b text.Segment) bool { return b.Start <= at && at < b.Stop }) {
		return false
	}
	for _, s := range spans {
		if s.Start > d.body+at {
			return blankLine.Match(d.raw[d.body+at : s.Start])
		}
	}
	return true
}

var blankLine = lazyregexp.New(`\n[ \t\r>]*\n`)

// checkHTML refuses raw HTML that is new before the end of the kernel, or new
// to the text in a section that holds kernel. Elsewhere the owner decides,
// except on elements that act on a whole page. The elements that are open at
// the start of a kernel block must be the same.
func checkHTML(parent, child *document) []Finding {
	var fs []Finding
	was, is := parent.htmlTags(), child.htmlTags()
	known, before := map[string]bool{}, map[string]int{}
	end, _ := parent.kernelEnd()
	for _, t := range was {
		known[t.key], known["/"+t.name] = true, true
		if t.at < end || pageWide()[t.name] {
			before[t.key]++
		}
	}
	end, section := child.kernelEnd()
	for _, t := range is {
		severity := Reject
		switch {
		case t.at < end || pageWide()[t.name]:
			if before[t.key]--; before[t.key] >= 0 {
				continue
			}
		case known[t.key]:
			continue
		case t.at >= section:
			severity = Quarantine
		}
		known[t.key] = true
		fs = append(fs, Finding{Rule: "new-html", Severity: severity, Line: child.md.FileLine(t.at), Phrase: shortened(t.key), Reason: fmt.Sprintf("the HTML %s is new", clip(t.key))})
	}
	a, b := parent.bodySpans(), child.bodySpans()
	for i := 0; i < len(a) && i < len(b); i++ {
		if x, y := openElements(was, a[i].Start), openElements(is, b[i].Start); x != y {
			fs = append(fs, Finding{Rule: "kernel-in-html", Severity: Reject, Line: b[i].Line, Reason: fmt.Sprintf("the kernel block stood in %s and now stands in %s", orNone(x), orNone(y))})
		}
	}
	return fs
}

// disputed is markup that readers of Markdown parse differently. It is
// counted, and may not be new before the end of the kernel.
var disputed = []struct {
	what string
	re   *lazyregexp.Regexp
}{
	{"a character that some readers take for a line break", lazyregexp.New("[\\x00\\v\\f\\x{85}\\x{2028}\\x{2029}\\x{feff}]")},
	{"a heading or an item with a special space behind its mark", lazyregexp.New(`(?m)^[ \t>*+\-.)0-9]*[#*+\-.)][\x{a0}\x{2000}-\x{200b}\x{202f}\x{205f}\x{3000}]`)},
	{"a line that begins as a fence and is none", lazyregexp.New("(?m)^[ \\t>*+\\-.)0-9]*```[^`\\n]*`[^\\n]*$")},
	{"an item that begins on the line below its mark", lazyregexp.New(`(?m)^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]*\n[ \t]+\S`)},
	{"a line of tabs behind a table", lazyregexp.New(`\|[^\n]*\n *\t[ \t]*\n`)},
	{"a link definition that its line does not end", lazyregexp.New(`(?m)^[ \t>]*(?:[-*+]|\d{1,9}[.)])?[ \t]*\[[^\]\n]+\]:[ \t]*(?:$|(?:<[^>\n]*>|[^\s<]\S*)?[ \t]*\n?[ \t]*(?:"[^"\n]*|'[^'\n]*|\([^)\n]*)$)`)},
	{"a link definition with an empty title", lazyregexp.New(`(?m)^[ \t>]*(?:[-*+]|\d{1,9}[.)])?[ \t]*\[[^\]\n]+\]:[^\n]*[ \t](?:""|''|\(\))[ \t]*$`)},
	{"a link definition before an indented line", lazyregexp.New(`(?m)^[ \t>]*(?:[-*+]|\d{1,9}[.)])?[ \t]*\[[^\]\n]+\]:[^\n]*\n[ >]*(?: {4}|\t)[ \t]*\S`)},
	{"a comment that its line does not end", lazyregexp.New(`(?m)<!--(?:[^-\n]|-[^-\n]|--[^>\n])*-{0,2}$`)},
	{"an item underlined as a heading", lazyregexp.New(`(?m)^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t][^\n]*(?:\n[^\n]*[^ \t>\n][^\n]*)*?\n[ \t>]*=+[ \t]*$`)},
}

func checkDisputed(parent, child *document) []Finding {
	var fs []Finding
	was, is := parent.throughKernel(), child.throughKernel()
	for _, p := range disputed {
		all := p.re.FindAllIndex(is, -1)
		if len(all) > len(p.re.FindAllIndex(was, -1)) {
			fs = append(fs, Finding{Rule: "kernel-node", Severity: Reject, Line: child.md.FileLine(child.body + all[0][0]), Reason: p.what + " is new before the kernel's end"})
		}
	}
	return fs
}

// throughKernel is the body up to the end of the kernel's last paragraph.
func (d *document) throughKernel() []byte {
	end, _ := d.kernelEnd()
	if end == 0 {
		return nil
	}
	if blank := blankLine.FindIndex(d.raw[end:]); blank != nil {
		return d.raw[d.body : end+blank[1]]
	}
	return d.raw[d.body:]
}

// kernelEnd is the offset after the last kernel block of the body, and that
// of the end of its section; 0 if there is none.
func (d *document) kernelEnd() (block, section int) {
	spans := d.bodySpans()
	if len(spans) == 0 {
		return 0, 0
	}
	block = spans[len(spans)-1].End
	for _, h := range d.md.Headings {
		if h.Start >= block {
			return block, h.Start
		}
	}
	return block, len(d.raw)
}

// openElements names the elements that are open at an offset, outermost first.
func openElements(tags []htmlTag, at int) string {
	var open []htmlTag
	for _, t := range tags {
		switch {
		case t.at >= at || t.comment || t.name == "" || voidElements()[t.name]:
		case !t.closes:
			open = append(open, t)
		default:
			for i := len(open) - 1; i >= 0; i-- {
				if open[i].name == t.name {
					open = open[:i]
					break
				}
			}
		}
	}
	var names []string
	for _, t := range open {
		names = append(names, "<"+t.key+">")
	}
	return strings.Join(names, " ")
}

// pageWide are elements that change a whole page, or hide their content from
// it.
var pageWide = words("html head body script style link base meta template iframe frame frameset object embed applet")

var voidElements = words("area base br col embed hr img input link meta param source track wbr")

// The elements that a browser knows, of today and of once, but for those of SVG
// and MathML, which do nothing outside of <svg> and <math>.
var htmlElements = words(`a abbr acronym address applet area article aside audio b base basefont bdi bdo
	bgsound big blink blockquote body br button canvas caption center cite code col colgroup data datalist
	dd del details dfn dialog dir div dl dt em embed fencedframe fieldset figcaption figure font footer
	form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe image img input ins isindex
	kbd keygen label legend li link listing main map mark marquee math menu menuitem meta meter multicol
	nav nextid nobr noembed noframes noscript object ol optgroup option output p param permission picture
	plaintext portal pre progress q rb rp rt rtc ruby s samp script search section select selectedcontent
	slot small source spacer span strike strong style sub summary sup svg table tbody td template textarea
	tfoot th thead time title tr track tt u ul var video wbr xmp`)

func words(s string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		m := map[string]bool{}
		for w := range strings.FieldsSeq(s) {
			m[w] = true
		}
		return m
	})
}

func fold(s string) string { return strings.Join(strings.Fields(s), " ") }
