package skill

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
	"go.yaml.in/yaml/v3"
)

// DescriptionSpan is the byte range of the description's value in the
// frontmatter, quotes and block indicator included. ok is false if the
// description is kernel: without Options.EvolveDescription, or if the value
// is written in a way that cannot be replaced alone (an alias, a tag, a mapping
// in braces). It is the one part of the harness that View does not show; a
// mutator reads it with Description and writes it with WithDescription.
func (d *Document) DescriptionSpan() (start, end int, ok bool) {
	v := d.front.description
	return v[0], v[1], d.err == nil && v[1] > 0
}

// WithDescription replaces the description's value by text, written as a YAML
// scalar on one line (quoted unless neither the old value nor the new one
// needs quotes). Every other byte stays. It fails if the description is
// kernel, and if text is blank or not UTF-8. Validate checks the
// specification's limit.
func (d *Document) WithDescription(text string) (*Document, error) {
	if d.err != nil {
		return nil, d.err
	}
	start, end, ok := d.DescriptionSpan()
	switch {
	case !ok && d.opts.EvolveDescription:
		return nil, errors.New("replace description: its value is not written as a scalar of its own")
	case !ok:
		return nil, errors.New("replace description: it is kernel here")
	case strings.TrimSpace(text) == "":
		return nil, errors.New("replace description: the new text is blank")
	case len(text) > maxViewBytes:
		return nil, fmt.Errorf("replace description: the new text has %d bytes", len(text))
	case !utf8.ValidString(text):
		return nil, errors.New("replace description: the new text is not UTF-8")
	case text == d.Description():
		return d, nil
	}
	forms := []string{quoteYAML(text)}
	if old := d.raw[start]; old != '"' && old != '\'' && old != '|' && old != '>' && plainYAML.MatchString(text) {
		forms = append([]string{text}, forms...)
	}
	for _, form := range forms {
		child, err := Parse(splice(d.raw, start, end, form), d.opts)
		if err == nil && child.Description() == text && SameKernel(d, child) == "" {
			return child, nil
		}
	}
	return nil, fmt.Errorf("replace description: no way to write %q reads back the same", text)
}

func splice(b []byte, start, end int, with string) []byte {
	return append(append(bytes.Clone(b[:start]), with...), b[end:]...)
}

// plainYAML is a cautious subset of what needs no quotes.
var plainYAML = lazyregexp.New(`^[\pL][\pL\pN .,;()/'-]*[\pL\pN.)]$`)

// quoteYAML writes s as a double-quoted scalar on one line.
func quoteYAML(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x20 || r >= 0x7f && r <= 0xa0:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r == 0x2028 || r == 0x2029 || r == 0xfeff || r >= 0xfff0 && r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// locateDescription finds the bytes of the description's value and keeps them
// only if replacing them changes nothing else: YAML has more ways to write a
// scalar than this scanner knows.
func (f *frontmatter) locateDescription(raw []byte) {
	if f.root == nil || f.root.Style&yaml.FlowStyle != 0 {
		return
	}
	for i := 0; i+1 < len(f.root.Content); i += 2 {
		k, v := f.root.Content[i], f.root.Content[i+1]
		if k.Value != "description" || v.Kind != yaml.ScalarNode || v.Anchor != "" || v.Style&yaml.TaggedStyle != 0 {
			continue
		}
		start, end, ok := scalarRange(raw[:f.close], f.lineOffset(raw, v.Line), k.Column-1, v)
		if !ok {
			return
		}
		const probe = "a probe that no skill holds"
		changed, err := cutFrontmatter(splice(raw, start, end, `"`+probe+`"`))
		if err != nil || changed.root == nil || !sameExcept(f.root, changed.root, i+1, probe) {
			return
		}
		f.description = [2]int{start, end}
		return
	}
}

// lineOffset is the offset of the n-th line (1-based) of the YAML.
func (f *frontmatter) lineOffset(raw []byte, n int) int {
	at := f.yaml
	for ; n > 1 && at < f.close; n-- {
		_, at = cutLine(raw, at)
	}
	return at
}

// scalarRange is the byte range of the scalar v that begins on the line at
// offset line, in a mapping whose keys are indented by indent.
func scalarRange(b []byte, line, indent int, v *yaml.Node) (start, end int, ok bool) {
	start = line
	for column := 1; column < v.Column && start < len(b); column++ { // columns count characters
		_, n := utf8.DecodeRune(b[start:])
		start += n
	}
	if start >= len(b) {
		return 0, 0, false
	}
	switch {
	case v.Style&yaml.DoubleQuotedStyle != 0:
		for i := start + 1; i < len(b); i++ {
			if b[i] == '\\' {
				i++
			} else if b[i] == '"' {
				return start, i + 1, b[start] == '"'
			}
		}
		return 0, 0, false
	case v.Style&yaml.SingleQuotedStyle != 0:
		for i := start + 1; i < len(b); i++ {
			if b[i] == '\'' && i+1 < len(b) && b[i+1] == '\'' {
				i++
			} else if b[i] == '\'' {
				return start, i + 1, b[start] == '\''
			}
		}
		return 0, 0, false
	}
	block := v.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	for at := start; at < len(b); {
		text, next := cutLine(b, at)
		blanks := len(text) - len(bytes.TrimLeft(text, " \t"))
		switch {
		case len(text) == blanks && at > start: // a blank line: part of it if more follows
		case at > start && blanks <= indent:
			return start, end, end > start
		default:
			comment := -1
			if !block {
				comment = plainComment(text, at > start)
			}
			if comment >= 0 {
				text = text[:comment]
			}
			if text = bytes.TrimRight(text, " \t"); len(text) > 0 {
				end = at + len(text)
			}
			if comment >= 0 {
				return start, end, end > start
			}
		}
		at = next
	}
	return start, end, end > start
}

// plainComment is the offset of a comment in a line of a plain scalar, -1 for
// none.
func plainComment(line []byte, continued bool) int {
	for i, c := range line {
		if c == '#' && (i > 0 && (line[i-1] == ' ' || line[i-1] == '\t') || i == 0 && continued) {
			return i
		}
	}
	return -1
}

// sameExcept reports whether two mappings are equal except for the value at
// index i, which must read text in the second.
func sameExcept(a, b *yaml.Node, i int, text string) bool {
	if len(a.Content) != len(b.Content) || b.Content[i].Value != text {
		return false
	}
	for j := range a.Content {
		if j != i && !sameNode(a.Content[j], b.Content[j]) {
			return false
		}
	}
	return true
}

func sameNode(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || a.Tag != b.Tag || a.Value != b.Value || a.Anchor != b.Anchor || len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		if !sameNode(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}
