// Package skill reads a SKILL.md as bytes, kernel (never changed) and harness
// (evolved), and finds skills on disk.
package skill

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"go.yaml.in/yaml/v3"
)

// Options define what counts as kernel beyond the rules of the format.
type Options struct {
	// EvolveDescription makes the frontmatter's description value harness.
	EvolveDescription bool
	// Instructions: it is a file of standing instructions, no SKILL.md. It needs no
	// frontmatter, and lines that import other files are kernel.
	Instructions bool
	// Script is the name of the file, of a hook's script, which says its language if no
	// shebang does. It has neither frontmatter nor Markdown, and its kernel is what
	// script.Kernel finds.
	Script string
}

// A SyntaxError is why a document cannot be used.
type SyntaxError struct {
	Line int // 1-based in the file
	Msg  string

	plain bool // it is of no SKILL.md
}

func (e *SyntaxError) Error() string {
	if e.plain {
		return fmt.Sprintf("line %d: %s", e.Line, e.Msg)
	}
	return fmt.Sprintf("parse SKILL.md: line %d: %s", e.Line, e.Msg)
}

// A Document is a SKILL.md as bytes, cut into kernel and harness. It is
// immutable. Render(Parse(b)) == b for every b.
type Document struct {
	raw  []byte
	opts Options
	err  error // what Parse returned; View and WithView refuse a broken document

	front frontmatter
	body  int // offset of the first byte after the frontmatter (and a byte order mark)
	md    *Outline
	spans []Span

	github func() ast.Node // the body in GitHub's dialect with footnotes; positions are relative to the body
}

// Options are those that d was parsed with.
func (d *Document) Options() Options { return d.opts }

// Parse cuts b into kernel and harness. The Document is never nil and always
// renders to b; the error is a *SyntaxError (frontmatter not YAML or not
// closed, kernel markers unbalanced or nested, metadata.kernel naming a
// section that does not exist, Markdown that takes too long to read). With an
// error all of the document counts as kernel, and nothing may be run from it.
func Parse(b []byte, o Options) (*Document, error) {
	d := &Document{raw: bytes.Clone(b), opts: o}
	d.github = sync.OnceValue(func() ast.Node { return githubParser().Parse(text.NewReader(d.raw[d.body:])) })
	if err := d.parse(); err != nil {
		err.plain = o.Instructions || o.Script != ""
		d.err = err
		d.spans = []Span{{Start: 0, End: len(d.raw), Line: 1, Reason: "the file does not parse: " + err.Msg}}
		return d, err
	}
	return d, nil
}

var githubParser = sync.OnceValue(func() parser.Parser {
	return goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote)).Parser()
})

// parse fills in everything that is derived from the bytes. It returns the
// concrete type so that a nil is really nil.
func (d *Document) parse() *SyntaxError {
	if d.opts.Script != "" {
		return d.parseScript()
	}
	front, err := cutFrontmatter(d.raw)
	if err != nil && d.opts.Instructions { // they may begin with a rule across the page
		front, err = frontmatter{end: byteOrder(d.raw)}, nil
	}
	d.front, d.body = front, front.end
	md, costly := readOutline(d.raw, d.body)
	d.md = md
	if err = cmp.Or(err, costly); err != nil {
		return err
	}
	if d.opts.EvolveDescription {
		d.front.locateDescription(d.raw)
	}
	d.spans, err = findKernel(d)
	return err
}

// Render returns the document's bytes.
func (d *Document) Render() []byte { return bytes.Clone(d.raw) }

// Hash is the SHA-256 of the whole file in hex: a candidate's name.
func (d *Document) Hash() string { return HashText(d.raw) }

// HashText is the SHA-256 of text in hex, as Hash and Install use it.
func HashText(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// KernelHash is the SHA-256 in hex over the kernel spans, in order. Each span
// is preceded by its length (8 bytes, big endian), so that moving a byte from
// one span to the next changes the hash.
func (d *Document) KernelHash() string {
	h := sha256.New()
	var n [8]byte
	for _, s := range d.spans {
		binary.BigEndian.PutUint64(n[:], uint64(s.End-s.Start))
		h.Write(n[:])
		h.Write(d.raw[s.Start:s.End])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Err is what Parse returned; nothing may be run from a broken document.
func (d *Document) Err() error { return d.err }

// Outline is the CommonMark structure of the body.
func (d *Document) Outline() *Outline { return d.md }

// GitHub is the body in GitHub's dialect with footnotes. Positions are relative to the
// body.
func (d *Document) GitHub() ast.Node { return d.github() }

// Frontmatter is the mapping of the frontmatter, nil if it has no keys or is absent.
func (d *Document) Frontmatter() *yaml.Node { return d.front.root }

// HasFrontmatter reports whether the file begins with a frontmatter.
func (d *Document) HasFrontmatter() bool { return d.front.present }

// Value is the node below a top-level key of the frontmatter, nil if it is absent.
func (d *Document) Value(key string) *yaml.Node { return d.front.value(key) }

// Name is the frontmatter's name, "" if absent.
func (d *Document) Name() string { return d.front.text("name") }

// Description is the frontmatter's description, "" if absent.
func (d *Document) Description() string { return d.front.text("description") }

// Body is everything after the frontmatter: what an agent reads when the skill
// is loaded. A byte order mark is not part of it.
func (d *Document) Body() []byte { return bytes.Clone(d.raw[d.body:]) }

// A Span is one run of kernel bytes.
type Span struct {
	Start, End int    // byte offsets into Render()
	Line       int    // 1-based line of Start
	Heading    string // path of headings above what it shows, its own first one included, "Tagger > Security"; "" for the frontmatter
	Reason     string // why it is kernel, in words for the owner
}

// Kernel returns the kernel spans in order, not overlapping. A span in the
// body does not hold the line break that ends it.
func (d *Document) Kernel() []Span { return append([]Span(nil), d.spans...) }

// bodySpans are the kernel spans after the frontmatter.
func (d *Document) bodySpans() []Span {
	for i, s := range d.spans {
		if s.Start >= d.body {
			return d.spans[i:]
		}
	}
	return nil
}
