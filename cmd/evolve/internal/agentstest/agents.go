// Package agentstest holds programs for --agent command, for the tests of the command
// line. They are in the binary of those tests and run under their own names.
package agentstest

import (
	"os"
	"path/filepath"
)

// Programs are the agents by their names.
var Programs = map[string]func(){"picker": picker, "widener": widener, "hearsay": hearsay, "rambler": rambler, "keeper": keeper, "vetter": vetter, "sayer": sayer}

// A search starts an agent hundreds of times, and most of such a start would be what the
// packages of evolve prepare for themselves. This package imports none of them, so that Go
// initialises it before most.
func init() {
	if program := Programs[filepath.Base(os.Args[0])]; program != nil {
		program()
		os.Exit(0)
	}
}
