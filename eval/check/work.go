package check

import "strings"

// Work is what an agent did, in an attempt or in a recorded turn, as far as checks need
// it. It is bounded.
type Work struct {
	Steps []Step   `json:"steps,omitempty"` // in order
	Files []Change `json:"files,omitempty"` // that differ at the end, by Path
	// Cut: a limit was reached, or part of it is not known: something that is not here may
	// have happened nevertheless.
	Cut bool `json:"cut,omitempty"`
}

// A Step is a command line that ran, or an edit by one of the agent's tools.
type Step struct {
	Line   string `json:"line,omitempty"` // as a shell got it; "" for an edit
	Failed bool   `json:"failed,omitempty"`
	File   string `json:"file,omitempty"` // that an edit changed, as Change.Path
}

// A Change is a file that was made, changed or removed.
type Change struct {
	Path    string `json:"path"`              // slash-separated, below the workspace
	Added   string `json:"added,omitempty"`   // lines, without a mark before them
	Removed string `json:"removed,omitempty"` // likewise
}

// Map returns a copy of w, nil if it is nil, with f applied to all text.
func (w *Work) Map(f func(string) string) *Work {
	if w == nil {
		return nil
	}
	out := &Work{Steps: make([]Step, len(w.Steps)), Files: make([]Change, len(w.Files)), Cut: w.Cut}
	for i, s := range w.Steps {
		out.Steps[i] = Step{f(s.Line), s.Failed, f(s.File)}
	}
	for i, c := range w.Files {
		out.Files[i] = Change{f(c.Path), f(c.Added), f(c.Removed)}
	}
	return out
}

// Text is the work for a reader: the lines that differ, and then what was run and edited, in
// order. It is "" if nobody recorded it.
func (w *Work) Text() string {
	if w == nil {
		return ""
	}
	var b strings.Builder
	for _, c := range w.Files {
		b.WriteString("changed " + c.Path + "\n")
		mark(&b, "- ", c.Removed)
		mark(&b, "+ ", c.Added)
	}
	for _, s := range w.Steps {
		switch {
		case s.Line == "":
			b.WriteString("edited " + s.File)
		default:
			b.WriteString("ran " + s.Line)
		}
		if s.Failed {
			b.WriteString(" (it failed)")
		}
		b.WriteString("\n")
	}
	switch {
	case w.Cut:
		b.WriteString("(there was more, which was not recorded)\n")
	case b.Len() == 0:
		b.WriteString("(no file was changed, and no command was run)\n")
	}
	return b.String()
}

// mark writes lines with a mark before each.
func mark(b *strings.Builder, sign, text string) {
	for _, line := range lines(text) {
		b.WriteString(sign + line + "\n")
	}
}
