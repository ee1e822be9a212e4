package main

import (
	"io"
	"runtime"

	"github.com/skill-evolve/evolve/eval/plain"
	"golang.org/x/term"
)

// terminal reports whether w is one.
func terminal(w any) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// unwrapped is the file behind a stream of ours, for a program that needs the terminal
// itself; w where there is none.
func unwrapped(w io.Writer) io.Writer {
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

// dumb reports whether the terminal cannot do more than to write on.
func dumb(getenv func(string) string) bool {
	term := getenv("TERM")
	return term == "dumb" || term == "" && runtime.GOOS != "windows"
}

// coloured reports whether what is written to w may have colours: only on a
// terminal that can, and not against NO_COLOR (no-color.org).
func (a *app) coloured(w any) bool {
	return terminal(w) && a.getenv("NO_COLOR") == "" && !dumb(a.getenv)
}

// columns is how wide a terminal is; 0 where w is none.
func columns(w any) int {
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

// newTable is a table for stdout that is written to w.
func (a *app) newTable(w io.Writer) *plain.Table {
	t := plain.NewTable(w)
	t.Width = columns(a.stdout)
	return t
}

// folded is text as it fits stdout, where that is a terminal.
func (a *app) folded(text string) string { return plain.Fold(text, columns(a.stdout)) }
