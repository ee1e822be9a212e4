package docs

import (
	"go/ast"
	"strings"
	"testing"
)

// frontend is the command line: it alone reads what a person types, prints, and knows
// exit codes.
const frontend = "cmd/evolve/"

// ownProcess are packages that are also a program of their own, started by evolve, by a
// test or by a hook, whose streams are their interface.
var ownProcess = []string{"eval/agent/process/", "eval/agent/agenttest/", "cmd/hook-kit/"}

// TestOnlyTheCommandLineTalks: no package but the command line uses the process' streams,
// ends the process, or knows the libraries that parse commands.
func TestOnlyTheCommandLineTalks(t *testing.T) {
	talks := map[string]bool{"fmt.Print": true, "fmt.Printf": true, "fmt.Println": true,
		"os.Stdin": true, "os.Stdout": true, "os.Stderr": true, "os.Exit": true}
	seen := 0
	eachSource(t, func(name, _ string, f *ast.File) {
		if strings.HasPrefix(name, frontend) {
			seen++
			return
		}
		for _, im := range f.Imports {
			if path := strings.Trim(im.Path.Value, `"`); strings.HasPrefix(path, "github.com/spf13/") {
				t.Errorf("%s imports %s: commands and flags belong to the command line", name, path)
			}
		}
		for _, own := range ownProcess {
			if strings.HasPrefix(name, own) {
				return
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && talks[x.Name+"."+s.Sel.Name] {
				t.Errorf("%s uses %s.%s: return a result or an error, and let the command line print it", name, x.Name, s.Sel.Name)
			}
			return true
		})
	})
	if seen < 20 {
		t.Errorf("%d files of the command line: was the tree walked?", seen)
	}
}
