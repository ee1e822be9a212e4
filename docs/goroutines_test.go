package docs

import (
	"go/ast"
	"strings"
	"testing"
)

// unshielded are the files whose goroutines do not call what they do through
// eval.Shielded, and why none of them can panic on what it reads, or what then
// happens. A panic in a goroutine ends the process with its value on stderr.
var unshielded = map[string]string{
	"cmd/evolve/cmd_review.go":              "reads a line",
	"cmd/evolve/internal/term/terminal.go":  "reads a line",
	"cmd/evolve/internal/term/signals.go":   "waits for a signal; clears the terminal where the process ends anyway",
	"cmd/evolve/internal/fleetcmd/ready.go": "writes the time into a file",
	"eval/agent/copilot/child.go":           "serve shields its parts; the other waits for a program",
	"eval/agent/process/child.go":           "starts a program and waits for it",
	"eval/agent/process/inside_linux.go":    "hands on signals, in a process of its own",
	"eval/agent/process/relay_linux.go":     "copies bytes; the report that it reads is this program's own",
	"eval/agent/process/streams.go":         "copies bytes; Line is shielded by itself",
	"eval/agent/process/watch_linux.go":     "reads what the kernel says of processes",
	"eval/agent/process/wrap_unix.go":       "waits for the end of a pipe",
	"eval/fleet/worker/worker.go":           "says hello, extends leases and asks for messages; jobs are shielded where they are read and done",
	"eval/git/limits.go":                    "waits for git, or for a file system, with the files that find and follow read",
	"eval/git/objects.go":                   "waits for the end of a program",
	"eval/run.go":                           "conc's pool hands a panic on to whoever waits",
	"harvest/hook/kit/input.go":             "recovers by itself: no hook may end with the code that blocks",
	"store/sqlite/open.go":                  "the writer: each job is shielded by itself",
}

// TestGoroutinesAreShielded: a file that starts a goroutine calls eval.Shielded,
// or stands in the list above.
func TestGoroutinesAreShielded(t *testing.T) {
	started := map[string]bool{}
	eachSource(t, func(name, text string, f *ast.File) {
		starts := false
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				starts = true
			case *ast.CallExpr: // sync.WaitGroup, conc's pools
				s, ok := n.Fun.(*ast.SelectorExpr)
				starts = starts || ok && s.Sel.Name == "Go"
			}
			return true
		})
		if starts {
			started[name] = true
			if unshielded[name] == "" && !strings.Contains(text, "eval.Shielded(") {
				t.Errorf("%s starts a goroutine in which a panic would end the process: call eval.Shielded in it, or say here why it cannot", name)
			}
		}
	}, "agenttest")
	for name := range unshielded {
		if !started[name] {
			t.Errorf("%s starts no goroutine any more", name)
		}
	}
	if len(started) < 10 {
		t.Errorf("%d files start goroutines: was the tree walked?", len(started))
	}
}
