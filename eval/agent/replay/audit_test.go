package replay

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

func testBounds() *bounds {
	return &bounds{
		workspace: "/ws/evolve-case-1", home: "/ws/evolve-replay-1/home", skill: "stones",
		allowed: append([]string{"/ws/evolve-case-1", "/ws/evolve-replay-1", "/dev", "/proc", "/opt"}, systemDirs...),
		shared:  []string{"/tmp", "/ws"},
		forbidden: []forbidden{{"/home/dev/.claude", "the owner's agent"}, {"/home/dev/src/stones", "another copy of the skill"},
			{"/home/dev/shop", "the recorded repository"}, {"/data/evolve", "evolve's own data"}},
	}
}

// A labelled row of the table.
type row struct {
	line       int
	want, kind string
	accesses   []Access
	text       string
}

func table(t testing.TB) (rows []row) {
	t.Helper()
	text, err := os.ReadFile("testdata/audit.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.SplitN(line, "\t", 3)
		if len(f) != 3 {
			t.Fatalf("testdata/audit.txt:%d: %d fields", i+1, len(f))
		}
		r := row{line: i + 1, want: f[0], kind: f[1], text: f[2]}
		if cmd, ok := strings.CutPrefix(f[2], "$ "); ok {
			r.accesses = []Access{{Tool: "Bash", Command: unescape(cmd)}}
		} else {
			tool, input, _ := strings.Cut(f[2], " ")
			r.accesses = Accesses(tool, []byte(input), false)
		}
		rows = append(rows, r)
	}
	return rows
}

// unescape reads \n as a line break; \\n is a backslash before one.
func unescape(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, `\\n`, "\\\n"), `\n`, "\n")
}

// Every row of the labelled table passes; a known miss or false alarm would have a
// verdict of its own in its row ("clean!").
func TestAuditTable(t *testing.T) {
	rows := table(t)
	if len(rows) < 90 {
		t.Fatalf("%d rows", len(rows))
	}
	met := map[string]int{}
	for _, r := range rows {
		got, reason := testBounds().audit(false, r.accesses)
		if string(got) != r.want {
			t.Errorf("testdata/audit.txt:%d: %s: %s (%s), want %s", r.line, r.text, got, reason, r.want)
			continue
		}
		if (reason == "") != (got == eval.Clean) {
			t.Errorf("testdata/audit.txt:%d: %s with the reason %q", r.line, got, reason)
		}
		met[r.want]++
	}
	t.Logf("%d rows: %v", len(rows), fmt.Sprint(met))
}
