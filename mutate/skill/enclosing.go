package skill

import (
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
	"github.com/yuin/goldmark/ast"
)

// HTML in the harness reaches further than CommonMark says: a <details> ends as
// a block at the next blank line, and hides what follows it until </details>.
var (
	// A tag with its attributes. A quoted value may hold anything, line breaks
	// and whole paragraphs included: so does an attribute for a browser.
	htmlTag = lazyregexp.New(`(?s)<(/?)([A-Za-z][A-Za-z0-9-]*)((?:\s+(?:"[^"]*"|'[^']*'|[^<>"'])*)?)(/?)>`)

	// Elements that hide their content, strike it out or quote it, closed or not.
	// <title> and <select> hide too, and are left out: skills write <title> for
	// a word to be filled in.
	hidingTag = lazyregexp.New(`(?i)^(?:details|dialog|template|script|style|textarea|noscript|noframes|noembed|iframe|xmp|plaintext|pre|blockquote|del|s|strike|svg)$`)
	concealed = lazyregexp.New(`(?i)(?:^|\s)hidden\b|display\s*:\s*none|visibility\s*:\s*hidden|aria-hidden|font-size\s*:\s*0|opacity\s*:\s*0`)

	voidTag = lazyregexp.New(`(?i)^(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)$`)

	tagStart = lazyregexp.New(`<[A-Za-z]`)
)

// A tag is one HTML tag of a body.
type tag struct {
	start, end int
	name       string
	closes     bool
	hides      bool // what it opens is hidden, struck out or quoted
	comment    bool // stands in an HTML comment
}

// tags lists the HTML tags of the body outside of code. Those in comments are
// among them: whoever reads a comment otherwise than we do sees them open.
func (d *Document) tags() []tag {
	text := d.md.withoutCode()
	comments := d.md.htmlComments()
	var out []tag
	for _, m := range htmlTag.FindAllSubmatchIndex(text, -1) {
		name := strings.ToLower(string(text[m[4]:m[5]]))
		if voidTag.MatchString(name) || m[9] > m[8] && !hidingTag.MatchString(name) {
			continue
		}
		t := tag{start: d.body + m[0], end: d.body + m[1], name: name, closes: m[3] > m[2]}
		t.hides = hidingTag.MatchString(name) || concealed.Match(text[m[6]:m[7]])
		for _, c := range comments {
			t.comment = t.comment || c.start <= t.start && t.start < c.end
		}
		out = append(out, t)
	}
	return out
}

// enclosing names the HTML elements around a span: those that hide, from their
// opening tag on, others where their closing tag stands behind the span. An
// unclosed <name> of another kind is a word to be filled in.
func enclosing(tags []tag, s Span) []string {
	var open []tag
	for _, t := range tags {
		switch {
		case t.start < s.Start && t.end > s.Start:
			return []string{"attribute of <" + t.name + ">"}
		case t.start >= s.Start:
		case !t.closes:
			open = append(open, t)
		case !t.comment:
			for i := len(open) - 1; i >= 0; i-- {
				if open[i].name == t.name {
					open = slices.Delete(open, i, i+1)
					break
				}
			}
		}
	}
	var names []string
	for _, t := range open {
		if t.hides || closedBehind(tags, t.name, s.End) {
			names = append(names, "<"+t.name+">")
		}
	}
	slices.Sort(names)
	return names
}

// closedBehind reports whether behind offset at an element is closed that was
// not opened there.
func closedBehind(tags []tag, name string, at int) bool {
	depth := 0
	for _, t := range tags {
		switch {
		case t.start < at || t.name != name:
		case !t.closes:
			depth++
		case depth == 0:
			return true
		default:
			depth--
		}
	}
	return false
}

// unclosedTag is the line of the first HTML block that ends within a tag, 0 for
// none: a browser reads on until the tag ends, and takes what is between for an
// attribute.
func (d *Document) unclosedTag() int {
	line := 0
	_ = ast.Walk(d.md.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		b, ok := n.(*ast.HTMLBlock)
		if !entering || !ok || line > 0 || b.HTMLBlockType < ast.HTMLBlockType6 || b.Lines().Len() == 0 {
			return ast.WalkContinue, nil
		}
		text := b.Lines().Value(d.raw[d.body:])
		if tagStart.Match(htmlTag.ReplaceAll(text, nil)) {
			line = d.md.fileLine(d.body + b.Lines().At(0).Start)
		}
		return ast.WalkContinue, nil
	})
	return line
}
