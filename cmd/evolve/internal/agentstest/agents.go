// Package agentstest holds programs for --agent command, for the tests of the command
// line. They are in the binary of those tests and run under their own names.
package agentstest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Programs are the agents by their names.
var Programs = map[string]func(){"picker": picker, "widener": widener, "hearsay": hearsay, "rambler": rambler, "keeper": keeper, "vetter": vetter, "sayer": sayer, "warden": warden, "fencer": fencer}

// secondly answers the request of a second reader: no to each item but those that contain held;
// "" for another request.
func secondly(user, held string) string {
	_, rest, ok := strings.Cut(user, "\nAnswer each of the items 1 to ")
	if !ok {
		return ""
	}
	n, _ := strconv.Atoi(rest[:strings.IndexByte(rest, ',')])
	var b strings.Builder
	for i, part := range strings.Split(user, "\n> the item: ")[1:] {
		item, _, _ := strings.Cut(part, "\n")
		if held != "" && strings.Contains(item, held) {
			fmt.Fprintf(&b, "%d | yes | Never change the data file. | small files may be changed\n", i+1)
		} else if i < n {
			fmt.Fprintf(&b, "%d | no\n", i+1)
		}
	}
	return b.String()
}

// A search starts an agent hundreds of times, and most of such a start would be what the
// packages of evolve prepare for themselves. This package imports none of them, so that Go
// initialises it before most.
func init() {
	if program := Programs[filepath.Base(os.Args[0])]; program != nil {
		program()
		os.Exit(0)
	}
}
