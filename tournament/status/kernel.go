package status

import (
	"bytes"
	"time"

	"github.com/skill-evolve/evolve/mutate/script"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// KernelParts is what `evolve kernel show --json` prints: schema 1.
type KernelParts struct {
	Schema    int          `json:"schema"`
	Skill     string       `json:"skill"`
	Path      string       `json:"path"`
	SHA       string       `json:"sha256"` // of the kernel
	Confirmed *time.Time   `json:"confirmed"`
	Bytes     int          `json:"bytes"`
	Harness   int          `json:"harness_bytes"`
	Share     float64      `json:"harness_share"` // of the file's bytes, [0,1]
	Spans     []KernelSpan `json:"spans"`

	marks string // "" for those of Markdown
}

// A KernelSpan is one part of a kernel, by its lines.
type KernelSpan struct {
	First   int    `json:"first_line"`
	Last    int    `json:"last_line"`
	Heading string `json:"heading,omitempty"`
	Reason  string `json:"reason"`
}

// Marks are the lines that lock what is between them.
func (r *KernelParts) Marks() string {
	if r.marks != "" {
		return r.marks
	}
	return "<!-- kernel --> … <!-- /kernel -->"
}

// KernelOf describes a document's kernel.
func KernelOf(live *skill.Live) *KernelParts {
	text := live.Doc.Render()
	r := &KernelParts{Schema: 1, Skill: live.Name, Path: live.Path, SHA: live.Doc.KernelHash(), Bytes: len(text), Spans: []KernelSpan{}}
	kernel := 0
	for _, s := range live.Doc.Kernel() {
		kernel += s.End - s.Start
		last := s.Line + bytes.Count(bytes.TrimRight(text[s.Start:s.End], "\r\n"), []byte("\n"))
		reason := s.Reason
		switch hook := live.Doc.Options().Script != ""; {
		case hook && s.Start == 0 && bytes.HasPrefix(text, []byte("#!")) && last == 1:
			reason = "what runs it"
		case hook && reason == "":
			reason = "marked"
		}
		r.Spans = append(r.Spans, KernelSpan{s.Line, last, s.Heading, reason})
	}
	if live.Doc.Options().Script != "" {
		r.marks = "# kernel … # /kernel"
		if live.Doc.Language() == script.JavaScript {
			r.marks = "// kernel … // /kernel"
		}
	}
	r.Harness = r.Bytes - kernel
	if r.Bytes > 0 {
		r.Share = float64(r.Harness) / float64(r.Bytes)
	}
	return r
}
