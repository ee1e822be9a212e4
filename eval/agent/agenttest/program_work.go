package agenttest

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/check"
)

// Every program's work looks the same, and its checks are met.
func programWorked(st *stage) {
	c := plainCase(append([]eval.Check{
		{Type: eval.Ran, Value: "grep diamond"},
		{Type: eval.NotRan, Value: "grep", After: check.LastEdit},
		{Type: eval.Ran, Value: "cat no-such-stone", After: check.LastEdit},
		{Type: eval.NotRan, Value: "git push"},
		{Type: eval.Changed, Path: "data/**"},
		{Type: eval.NotChanged, Path: "out/index.txt"},
		{Type: eval.Added, Value: "^quartz,7$", Path: "*.csv"},
		{Type: eval.NotAdded, Value: "hardness"}}, fileChecks...)...)
	g := &tester{Checks: &eval.Checks{TrustExec: true, Programs: process.Programs{}}, other: &eval.Case{ID: c.ID}}
	sandbox := process.Available()
	if sandbox == nil {
		c.Files[stoneTests] = fmt.Sprintf(testScript, table, written, filepath.Join(st.person.home, "notes", "canary.txt"))
		c.Checks, g.other.Checks = append(c.Checks, tests("diamond")), []eval.Check{tests("emerald")}
	}
	r := st.goodBy(g, variant(st.T), c)
	want := &check.Work{
		Steps: []check.Step{{Line: looks}, {File: written}, {File: written}, {Line: appends}, {Line: misses, Failed: true}},
		Files: []check.Change{{Path: table, Added: "quartz,7\n"}, {Path: written, Added: "a diamond\n"}},
	}
	if !reflect.DeepEqual(r.Work, want) {
		st.Errorf("work = %s, want %s", compact(r.Work), compact(want))
	}
	if sandbox != nil {
		st.Logf("tests are not graded: %v", sandbox)
		return
	}
	if got := g.grade.Checks; len(got) != 1 || got[0].Score != 0 || got[0].Missing || !strings.Contains(got[0].Evidence, "no emerald") {
		st.Errorf("a test that fails on the work is graded %s", compact(got))
	}
}

// stoneTests is the test script of the case's repository. It sees the work that was left, and
// none of the person's files; what it writes is no work of the agent's.
const (
	stoneTests = "tests/stones.sh"
	testScript = `set -e
echo tested > out/report.txt
grep -qx quartz,7 %s
grep -qx "a $1" %s || { echo "no $1"; exit 1; }
test ! -e %s
`
)

// tests is a command that its owner confirmed: it succeeds if the agent wrote about a stone.
func tests(stone string) eval.Check {
	return eval.Check{Type: eval.Tests, Value: "unit", Command: []string{"sh", stoneTests, stone}}
}

// A tester grades another case too, by the same work.
type tester struct {
	*eval.Checks
	other *eval.Case
	grade eval.Grade
}

func (g *tester) Grade(ctx context.Context, c *eval.Case, a eval.Attempt, workspace string) (eval.Grade, error) {
	var err error
	if g.grade, err = g.Checks.Grade(ctx, g.other, a, workspace); err != nil {
		return eval.Grade{}, err
	}
	return g.Checks.Grade(ctx, c, a, workspace)
}
