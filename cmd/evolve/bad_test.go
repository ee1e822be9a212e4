package main

import (
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// ofGo is what errors of Go's own packages say, and no error of ours.
var ofGo = regexp.MustCompile(`strconv|unmarshal|Go (struct|value)|json: |[^.]yaml: |[^-]time: |exec: |sql|parsing regexp|invalid character|runtime error|executable file`)

// bad runs evolve with what nobody can mean: it ends with 2, prints nothing on stdout, and
// says on stderr in one line what is wrong, and in one what to type: bad show nothing.
func bad(ts *testscript.TestScript, neg bool, args []string) {
	code(ts, neg, append([]string{"2", "evolve"}, args...))
	errs := ts.ReadFile("stderr")
	lines := strings.Split(strings.TrimSuffix(errs, "\n"), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "evolve: ") || !strings.HasPrefix(lines[1], "hint: ") {
		ts.Fatalf("not one line of what is wrong and one of what to type:\n%s", errs)
	}
	if s := ofGo.FindString(errs); s != "" {
		ts.Fatalf("%q is not for people:\n%s", s, errs)
	}
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("it prints a result:\n%s", out)
	}
}
