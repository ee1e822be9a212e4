package standing_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/standing"
)

const page = "../../docs/instructions.md"

// TestPage holds the table in docs/instructions.md to the one in the code. -update writes it.
func TestPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("| agent | file | from where up | also below | unless there is | version |\n|---|---|---|---|---|---|\n")
	for _, r := range standing.Table {
		up, below, unless, seen := r.Above, "", "", r.Seen
		switch {
		case strings.HasPrefix(r.File, "~/"):
			up = "your home"
		case up == "":
			up = "-"
		}
		if r.Below {
			below = "once it works there"
		}
		if len(r.After) > 0 {
			unless = "`" + strings.Join(r.After, "`, `") + "`"
			if r.Alone {
				unless += ", here or above"
			}
		}
		if r.Paths != "" {
			below = strings.TrimPrefix(below+"; not at once with `"+r.Paths+"`", "; ")
		}
		if seen == "" {
			seen = "not confirmed"
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s | %s |\n", plain.Agent(r.Agent), r.File, up, below, unless, seen)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), "| agent |")
	end := strings.Index(rest, "\n\n")
	if !ok || end < 0 {
		t.Fatal("the page has no table")
	}
	want := head + b.String() + rest[end+1:]
	if *record {
		write(t, page, want)
	} else if want != string(text) {
		t.Error("docs/instructions.md has another table: go test ./mutate/standing -run TestPage -update")
	}
}
