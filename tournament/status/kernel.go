package status

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval/plain"
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

	marks string // the lines that lock what is between them
}

// A KernelSpan is one part of a kernel, by its lines.
type KernelSpan struct {
	First   int    `json:"first_line"`
	Last    int    `json:"last_line"`
	Heading string `json:"heading,omitempty"`
	Reason  string `json:"reason"`
}

// Text is r for a terminal of so many columns, 0 for any, with the next step.
func (r *KernelParts) Text(columns int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: locked lines %.12s, ", r.Skill, r.SHA)
	if r.Confirmed != nil {
		fmt.Fprintf(&b, "confirmed on %s\n", r.Confirmed.Local().Format(time.DateOnly))
	} else {
		fmt.Fprintf(&b, "not confirmed by you\n")
	}
	t := plain.NewTable(&b)
	t.Width = columns
	fmt.Fprintln(t, "LINES\tHEADING\tWHY")
	for _, s := range r.Spans {
		lines := fmt.Sprint(s.First)
		if s.Last > s.First {
			lines += fmt.Sprintf("-%d", s.Last)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", lines, cmp.Or(s.Heading, "-"), s.Reason)
	}
	t.Flush()
	fmt.Fprintf(&b, "the rest: %d of %d bytes (%.0f %%) may evolve\n", r.Harness, r.Bytes, 100*r.Share)
	switch {
	case r.Share == 0:
		fmt.Fprintf(&b, "next: everything is locked, so there is nothing to evolve; mark less of it\n")
	case r.Confirmed == nil:
		fmt.Fprintf(&b, "next: `evolve kernel confirm %s`, or mark more with %s\n", r.Skill, r.marks)
	}
	return b.String()
}

// KernelOf describes a document's kernel.
func KernelOf(live *skill.Live) *KernelParts {
	text := live.Doc.Render()
	r := &KernelParts{Schema: 1, Skill: live.Name, Path: live.Path, SHA: live.Doc.KernelHash(), Bytes: len(text), Spans: []KernelSpan{}, marks: "<!-- kernel --> … <!-- /kernel -->"}
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
