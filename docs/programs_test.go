package docs

import (
	"go/ast"
	"strings"
	"testing"
)

// starters are the files that look for a program or start one, which program
// that is, and why nothing that was found in a repository, a session or a case
// decides over it.
var starters = map[string]string{
	"cmd/evolve/internal/backend/choose.go":    "looks for the agents' programs",
	"cmd/evolve/internal/backend/ping.go":      "looks for the agents' programs",
	"cmd/evolve/cmd_cases_edit.go":             "the owner's $EDITOR",
	"cmd/evolve/internal/doctor/doctor.go":     "looks for the agents' programs",
	"cmd/evolve/internal/browser/browser.go":   "the owner's $BROWSER, or the system's program that opens pages",
	"cmd/evolve/internal/timer/system.go":      "systemctl, launchctl, crontab",
	"cmd/evolve/internal/timer/timer.go":       "looks for systemctl",
	"cmd/evolve/program.go":                    "looks for evolve itself",
	"cmd/evolve/internal/hooktest/command.go":  "looks for hook-kit, which hooks of one's own call in the sandbox",
	"harvest/hook/detach/detach.go":            "evolve itself, to harvest a session that has ended",
	"eval/agent/agenttest/play.go":             "for tests",
	"eval/agent/agenttest/record.go":           "for tests",
	"eval/agent/copilot/child.go":              "the agent, as process.Wrap prepared it",
	"eval/agent/pi/program.go":                 "looks for the agent's node",
	"eval/agent/process/inside_linux.go":       "in the sandbox: what it was made for",
	"eval/agent/process/launch.go":             "what the owner wants without a sandbox: an agent, a check that was trusted",
	"eval/agent/process/programs.go":           "looks for the program of a check that was trusted",
	"eval/agent/process/sandbox_darwin.go":     "sandbox-exec",
	"eval/agent/process/sandbox_linux.go":      "bwrap",
	"eval/agent/process/scope_linux.go":        "systemd-run, once, to see whether it bounds a shell's one command",
	"eval/agent/replay/program.go":             "looks for the agents' programs and their interpreters",
	"eval/git/repository.go":                   "git, which reads nothing of a repository's that could name a program",
	"mutate/script/python.go":                  "looks for python3, which parses a hook and never runs it",
	"tournament/report/browsertest/browser.go": "for tests",
}

// TestPrograms: a file that starts programs is in the list above, and git is
// started by eval/git alone.
func TestPrograms(t *testing.T) {
	calls := map[string]bool{"exec.Command": true, "exec.CommandContext": true, "exec.LookPath": true, "exec.Cmd": true,
		"os.StartProcess": true, "syscall.Exec": true, "syscall.ForkExec": true, "syscall.StartProcess": true, "unix.Exec": true}
	found := map[string]bool{}
	eachSource(t, func(name, _ string, f *ast.File) {
		starts := func(e ast.Expr) bool {
			s, ok := e.(*ast.SelectorExpr)
			if !ok {
				return false
			}
			pkg, ok := s.X.(*ast.Ident)
			return ok && calls[pkg.Name+"."+s.Sel.Name]
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit: // exec.Cmd{}
				found[name] = found[name] || starts(n.Type)
			case *ast.CallExpr:
				if !starts(n.Fun) {
					return true
				}
				found[name] = true
				for _, arg := range n.Args {
					if lit, ok := arg.(*ast.BasicLit); ok && strings.Trim(lit.Value, "\"`") == "git" {
						t.Errorf("%s starts git: go through eval/git, which keeps a repository's configuration from it", name)
					}
				}
			}
			return true
		})
		if found[name] && starters[name] == "" {
			t.Errorf("%s starts programs: say here which, and why nothing that was found in a repository decides over it", name)
		}
	})
	for name := range starters {
		if !found[name] {
			t.Errorf("%s starts no program any more", name)
		}
	}
}
