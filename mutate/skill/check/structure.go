package check

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
	"github.com/yuin/goldmark/ast"
	"go.yaml.in/yaml/v3"
)

// checkStructure compares the Markdown around the kernel with the parent's.
// Equal bytes are not enough: a fence, a comment or a quote that swallows a
// kernel block makes it inert.
func checkStructure(parent, child *document) []Finding {
	var fs []Finding
	a, b := parent.bodySpans(), child.bodySpans()
	if len(a) == 0 || len(b) == 0 {
		a, b = nil, nil // nothing to read twice
	}
	before, after := parent.readings(a), child.readings(b)
	for i := 0; i < len(a) && i < len(b); i++ {
		was, is := before.place(a[i]), after.place(b[i])
		add := func(rule, format string, args ...any) {
			fs = append(fs, Finding{Rule: rule, Severity: Reject, Line: b[i].Line, Reason: "the kernel block " + fmt.Sprintf(format, args...)})
		}
		switch {
		case was.path != is.path:
			add("kernel-heading", "stood under %s and now stands under %s", was.path, is.path)
		case voidedBy(was.before, is.before) != "":
			add("kernel-heading", "now follows the heading %q", voidedBy(was.before, is.before))
		case is.empty != "" && was.empty != is.empty:
			add("kernel-heading", "now follows the heading %q, which has nothing below it", is.empty)
		case !was.comment && is.comment:
			add("kernel-in-comment", "is now inside an HTML comment")
		case was.chain != is.chain:
			add("kernel-node", "was a Markdown %s and is now a %s", was.chain, is.chain)
		case was.inside != is.inside:
			add("kernel-node", "reads differently in Markdown: %s, now %s", was.inside, is.inside)
		case was.links != is.links:
			add("kernel-link", "has other links than before: %s, now %s", orNone(was.links), orNone(is.links))
		case was.github != is.github:
			add("kernel-node", "reads differently with GitHub's extensions: %s, now %s", was.github, is.github)
		case !sameItems(was.items, is.items):
			add("kernel-item", "is in another item of its list or table")
		}
	}
	fs = append(fs, checkUnclosed(parent, child)...)
	fs = append(fs, checkHTML(parent, child)...)
	fs = append(fs, checkDisputed(parent, child)...)
	return append(fs, checkTokens(parent, child)...)
}

// quotedPath distinguishes paths that look alike unquoted: a heading without
// text, and one that holds the separator.
func quotedPath(headings []skill.Heading) string {
	if len(headings) == 0 {
		return "no heading"
	}
	var names []string
	for _, h := range headings {
		name := fmt.Sprintf("%q", h.Text)
		if h.In != "" {
			name += " in a " + h.In
		}
		names = append(names, name)
	}
	return strings.Join(names, " > ")
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// A place describes the Markdown around and in a kernel span.
type place struct {
	path    string   // headings above
	before  []string // headings that end at the span's start
	empty   string   // the last of them if nothing is below it
	chain   string   // kinds of the nodes around its first byte, outermost first
	inside  string   // chains and relative offsets of the nodes that begin in it
	github  string   // headings, chain, inside and links with GitHub's extensions and footnotes
	items   []item   // list items and table rows around it
	links   string   // what its links lead to, which a definition elsewhere decides
	comment bool     // inside an HTML comment that began before it
}

// readings are the parses of a document's kernel: CommonMark, and Markdown
// with the extensions that most readers know.
type readings struct {
	commonMark, github reading
	comments           []htmlComment
}

func (d *document) readings(spans []skill.Span) readings {
	if len(spans) == 0 {
		return readings{}
	}
	return readings{d.reading(d.md.Tree), d.reading(d.GitHub()), d.htmlComments()}
}

func (r readings) place(s skill.Span) place {
	p := place{path: r.commonMark.path(s)}
	p.before, p.empty = r.commonMark.before(s)
	p.chain, p.inside, p.links = r.commonMark.nodes(s)
	chain, inside, links := r.github.nodes(s)
	p.github = strings.Join([]string{r.github.path(s), chain, inside, links}, " ")
	p.items = r.github.items(s)
	p.comment = slices.ContainsFunc(r.comments, func(c htmlComment) bool { return c.start < s.Start && s.Start < c.end })
	return p
}

func (r reading) path(s skill.Span) string {
	return quotedPath(skill.Above(r.headings, r.d.md.Opening(r.headings, s)))
}

// An htmlComment is one <!-- … --> outside of code; unclosed ones reach to
// the end of the file, as they do for readers of the plain text.
type htmlComment struct {
	start, end int
	closed     bool
}

// htmlComments searches the text, not CommonMark's tree: a <!-- in the middle
// of a paragraph hides the text after it from a reader, even if a renderer
// shows it. <!--> is a whole comment to HTML and the beginning of one to a
// pattern that strips comments: here it begins one.
func (d *document) htmlComments() []htmlComment {
	text := d.withoutCode(d.md.Tree)
	var out []htmlComment
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte("<!--"))
		if i < 0 {
			return out
		}
		c := htmlComment{start: at + i, end: len(text)}
		if j := bytes.Index(text[c.start+4:], []byte("-->")); j >= 0 {
			c.end, c.closed = c.start+4+j+3, true
		}
		at = c.end
		c.start, c.end = c.start+d.body, c.end+d.body
		out = append(out, c)
	}
}

// withoutCode is the body with the code (blocks and spans) of one of its readings
// blanked out, byte for byte.
func (d *document) withoutCode(doc ast.Node) []byte {
	text := bytes.Clone(d.raw[d.body:])
	blank := func(from, to int) {
		for i := max(0, from); i < to && i < len(text); i++ {
			if text[i] != '\n' {
				text[i] = ' '
			}
		}
	}
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			for i := range n.Lines().Len() {
				s := n.Lines().At(i)
				blank(s.Start, s.Stop)
			}
		case *ast.CodeSpan:
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				if t, ok := c.(*ast.Text); ok {
					blank(t.Segment.Start, t.Segment.Stop)
				}
			}
		}
		return ast.WalkContinue, nil
	})
	return text
}

// checkUnclosed rejects a fence or a comment that swallows the rest of the
// file. If the parent has it already, it is only shown: the kernel is under
// it either way, and the owner has to decide.
func checkUnclosed(parent, child *document) []Finding {
	var fs []Finding
	severity := func(parentHas bool) Severity {
		if parentHas {
			return Warn
		}
		return Reject
	}
	if line := child.unclosedFence(); line > 0 {
		fs = append(fs, Finding{Rule: "unclosed-fence", Severity: severity(parent.unclosedFence() > 0), Line: line, Reason: "the code fence is never closed"})
	}
	if line := child.unclosedComment(); line > 0 {
		fs = append(fs, Finding{Rule: "unclosed-comment", Severity: severity(parent.unclosedComment() > 0), Line: line, Reason: "the HTML comment is never closed"})
	}
	return fs
}

// unclosedFence is the line of the first code fence without an end, 0 for none.
func (d *document) unclosedFence() int {
	for _, f := range d.md.Fences {
		if !f.Closed {
			return d.md.FileLine(d.md.Starts[f.First])
		}
	}
	return 0
}

func (d *document) unclosedComment() int {
	for _, c := range d.htmlComments() {
		if !c.closed {
			return d.md.FileLine(c.start)
		}
	}
	return 0
}

// argumentToken matches what an agent replaces when the skill is called.
var argumentToken = lazyregexp.New(`\\\$|\$ARGUMENTS\b(?:\[\d+\])?|\$\d+|\$\{CLAUDE_\w*\}`)

// checkTokens compares the byte-sensitive tokens with the parent's: as many
// of each as before.
func checkTokens(parent, child *document) []Finding {
	was, is := parent.tokens(), child.tokens()
	var fs []Finding
	all := maps.Clone(was)
	maps.Copy(all, is)
	for _, token := range slices.Sorted(maps.Keys(all)) {
		if was[token] != is[token] {
			line := 0
			if i := bytes.Index(child.raw[child.body:], []byte(token)); i >= 0 {
				line = child.md.FileLine(child.body + i)
			}
			fs = append(fs, Finding{Rule: "argument-tokens", Severity: Reject, Line: line, Reason: fmt.Sprintf("the token %s stood %d times and now stands %d times", clip(token), was[token], is[token])})
		}
	}
	return fs
}

func (d *document) tokens() map[string]int {
	n := map[string]int{}
	body := d.raw[d.body:]
	for _, t := range argumentToken.FindAll(body, -1) {
		n[string(t)]++
	}
	for _, name := range d.argumentNames() {
		for _, t := range regexp.MustCompile(`\$`+regexp.QuoteMeta(name)+`\b`).FindAll(body, -1) {
			n[string(t)]++
		}
	}
	for _, s := range skill.ShellSpans(d.md) {
		n[string(d.raw[s[0]:s[1]])]++
	}
	return n
}

var argumentName = lazyregexp.New(`[A-Za-z_]\w*`)

// argumentNames are the named arguments of the frontmatter.
func (d *document) argumentNames() []string {
	v := d.Value("arguments")
	if v == nil {
		return nil
	}
	nodes := []*yaml.Node{v}
	if v.Kind == yaml.SequenceNode {
		nodes = v.Content
	}
	var names []string
	for _, n := range nodes {
		if n = skill.Follow(n); n.Kind == yaml.ScalarNode {
			names = append(names, argumentName.FindAllString(n.Value, -1)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// clip shortens a quotation to one line of a message.
func clip(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	r := []rune(s)
	if len(r) > 80 {
		s = string(r[:79]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
