package check

import (
	"github.com/skill-evolve/evolve/mutate/skill"
)

// A document is a skill's text with the structures that the checks read.
type document struct {
	*skill.Document
	raw   []byte
	body  int // offset of the body in raw
	md    *skill.Outline
	spans []skill.Span
}

func read(d *skill.Document) *document {
	raw := d.Render()
	return &document{d, raw, len(raw) - len(d.Body()), d.Outline(), d.Kernel()}
}

// bodySpans are the kernel spans after the frontmatter.
func (d *document) bodySpans() []skill.Span {
	for i, s := range d.spans {
		if s.Start >= d.body {
			return d.spans[i:]
		}
	}
	return nil
}
