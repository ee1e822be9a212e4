package term

import (
	"io"
	"runtime"

	"github.com/skill-evolve/evolve/eval/plain"
	"golang.org/x/term"
)

// IsTerminal reports whether w is a terminal.
func IsTerminal(w any) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// Unwrapped is the file behind one of our streams, for a program that needs
// the terminal itself; w if there is none.
func Unwrapped(w io.Writer) io.Writer {
	switch w := w.(type) {
	case *console:
		return w.Writer
	case *beside:
		return w.w
	case plainTerminal:
		return w.File
	}
	return w
}

// dumb reports whether the terminal can only append text.
func dumb(getenv func(string) string) bool {
	term := getenv("TERM")
	return term == "dumb" || term == "" && runtime.GOOS != "windows"
}

// Coloured reports whether output to w may have colours: only on a terminal
// that has them, and not if NO_COLOR is set (no-color.org).
func (t *Terminal) Coloured(w any) bool {
	return IsTerminal(w) && t.Getenv("NO_COLOR") == "" && !dumb(t.Getenv)
}

// Columns is the width of a terminal; 0 if w is none.
func Columns(w any) int {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok {
		return 0
	}
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return n
}

func bold(s string) string { return "\x1b[1m" + s + "\x1b[0m" }

// NewTable is a table for stdout that is written to w.
func (t *Terminal) NewTable(w io.Writer) *plain.Table {
	table := plain.NewTable(w)
	table.Width = Columns(t.Stdout)
	return table
}

// Folded is text folded to the width of stdout, if that is a terminal.
func (t *Terminal) Folded(text string) string { return plain.Fold(text, Columns(t.Stdout)) }
