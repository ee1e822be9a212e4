package report

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
)

// LineKind is the kind of a line of a diff.
type LineKind string

const (
	Context LineKind = "context"
	Kernel  LineKind = "kernel" // context that evolve can never change
	Added   LineKind = "added"
	Removed LineKind = "removed"
	Hunk    LineKind = "hunk" // "@@ -1,4 +1,6 @@"
	// NoNewline: the text of the line before it ends without a line feed.
	NoNewline LineKind = "no-newline"
)

// A Line is one line of a diff, without its mark and line feed.
type Line struct {
	Kind LineKind `json:"kind"`
	Text string   `json:"text"`
}

// A Diff is the difference between two texts of a skill.
type Diff struct {
	From  string `json:"from"` // labels
	To    string `json:"to"`
	Lines []Line `json:"lines"` // empty if the texts are equal
	// Plus and Minus count the lines that were added and removed.
	Plus  int `json:"added"`
	Minus int `json:"removed"`
	// KernelChanged is never true of a candidate: only an owner's edit
	// changes the kernel between two versions.
	KernelChanged bool `json:"kernel_changed"`
}

// Between compares two texts line by line, three lines of context.
func Between(from, to string, old, new *skill.Document) (*Diff, error) {
	from, to = subject.Readable(from), subject.Readable(to)
	d := &Diff{From: from, To: to, Lines: []Line{}, KernelChanged: old.KernelHash() != new.KernelHash()}
	a, b := string(old.Render()), string(new.Render())
	u, err := udiff.ToUnifiedDiff(from, to, a, udiff.Lines(a, b), udiff.DefaultContextLines)
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", from, to, err)
	}
	kernel := kernelLines(old)
	for _, h := range u.Hunks {
		at, n, m := h.FromLine, 0, 0 // at is the 1-based line of the old text
		var lines []Line
		for _, l := range h.Lines {
			k := Context
			switch l.Kind {
			case udiff.Insert:
				k, m, d.Plus = Added, m+1, d.Plus+1
			case udiff.Delete:
				k, n, d.Minus = Removed, n+1, d.Minus+1
			default:
				n, m = n+1, m+1
				if kernel[at] {
					k = Kernel
				}
			}
			if l.Kind != udiff.Insert {
				at++
			}
			text, fed := strings.CutSuffix(l.Content, "\n")
			if lines = append(lines, Line{k, text}); !fed {
				lines = append(lines, Line{NoNewline, `\ No newline at end of file`})
			}
		}
		d.Lines = append(append(d.Lines, Line{Hunk, fmt.Sprintf("@@ -%d,%d +%d,%d @@", h.FromLine, n, h.ToLine, m)}), lines...)
	}
	return d, nil
}

// Patch is the difference as patch(1) reads it, "" if there is none.
func Patch(from, to string, old, new *skill.Document) string {
	return udiff.Unified(subject.Readable(from), subject.Readable(to), string(old.Render()), string(new.Render()))
}

// kernelLines holds the 1-based lines of d that are kernel, in whole or in part.
func kernelLines(d *skill.Document) map[int]bool {
	text, out := d.Render(), map[int]bool{}
	for _, s := range d.Kernel() {
		if s.Start == s.End {
			continue
		}
		last := s.Line + bytes.Count(text[s.Start:s.End-1], []byte("\n"))
		for n := s.Line; n <= last; n++ {
			out[n] = true
		}
	}
	return out
}

// mark is the first character of a line in text.
var mark = map[LineKind]string{Context: " ", Kernel: "=", Added: "+", Removed: "-", Hunk: ""}

var colour = map[LineKind]string{Kernel: "\x1b[2m", Added: "\x1b[32m", Removed: "\x1b[31m", Hunk: "\x1b[36m"}

// Mark is the first character of a line of this kind in text.
func (k LineKind) Mark() string { return mark[k] }

// Text is the diff for a terminal, in colour or not.
func (d *Diff) Text(coloured bool) string {
	if len(d.Lines) == 0 {
		return fmt.Sprintf("%s and %s are the same text\n", plain.Text(d.From), plain.Text(d.To))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", plain.Text(d.From), plain.Text(d.To))
	if d.KernelChanged {
		b.WriteString("!!! the locked lines differ between these two: their owner has edited them\n")
	}
	for _, l := range d.Lines {
		if l.Kind == Kernel {
			b.WriteString("=== lines that begin with = are locked, unchanged: evolve cannot edit them\n")
			break
		}
	}
	var words []string
	if coloured {
		words = changedWords(d.Lines)
	}
	for i, l := range d.Lines {
		text := mark[l.Kind] + visible(l)
		if c := colour[l.Kind]; coloured && c != "" {
			if words[i] != "" {
				text = mark[l.Kind] + words[i]
			}
			text = c + text + "\x1b[0m"
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}

// visible is a line without control characters. Those that were added or
// removed are named, so that lines that differ never look the same.
func visible(l Line) string {
	if l.Kind != Added && l.Kind != Removed {
		return plain.Text(l.Text)
	}
	text, carriage := strings.CutSuffix(l.Text, "\r")
	var b strings.Builder
	for _, r := range text {
		if r < ' ' || plain.Text(string(r)) != "" {
			b.WriteRune(r) // sequences for terminals go as a whole, below
		} else {
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	out := plain.Text(b.String())
	if carriage {
		out += "^M"
	}
	return out
}
