package check

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
