package pi_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest/pi"
	"github.com/skill-evolve/evolve/harvest/work"
	"github.com/skill-evolve/evolve/harvest/work/worktest"
)

// does is a call of a tool, and its result.
func does(id, tool string, args map[string]any, result string, failed bool) []string {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return []string{called("a"+id, "", id, tool, string(raw)), resulted("r"+id, "", id, result, failed)}
}

func TestWork(t *testing.T) {
	type args = map[string]any
	for name, c := range map[string]struct {
		want  string
		lines [][]string
	}{
		"bash":      {"ran (go test) \"go test ./...\" = 0\n", [][]string{does("c1", "bash", args{"command": "go test ./..."}, "ok", false)}},
		"it failed": {"ran \"make\" = 2\n", [][]string{does("c1", "bash", args{"command": "make"}, "Command exited with code 3\n\n\nCommand exited with code 2", true)}},
		"it was aborted, or timed out": {"ran \"sleep 9\" = -1\nran \"sleep 8\" = -1\n", [][]string{does("c1", "bash", args{"command": "sleep 9"}, "Command aborted", true),
			does("c2", "bash", args{"command": "sleep 8"}, "Command timed out after 5 seconds", true)}},
		"no result": {"ran \"ls\"\n", [][]string{does("c1", "bash", args{"command": "ls"}, "", false)[:1]}},
		"edit":      {"changed a.go +\"2\" -\"1\"\n", [][]string{does("c1", "edit", args{"path": "/home/dev/project/a.go", "oldText": "0\n1", "newText": "0\n2"}, "ok", false)}},
		"edits": {"changed a.go +\"2\\n4\" -\"1\\n3\"\n", [][]string{does("c1", "edit",
			args{"path": "a.go", "edits": []args{{"oldText": "1", "newText": "2"}, {"oldText": "3", "newText": "4"}}}, "ok", false)}},
		"write":                      {"changed new.go +\"x\"\n", [][]string{does("c1", "write", args{"path": "new.go", "content": "x\n"}, "ok", false)}},
		"a failed change":            {"", [][]string{does("c1", "write", args{"path": "new.go", "content": "x"}, "EACCES", true), does("c2", "edit", args{"path": "a", "oldText": "1", "newText": "2"}, "not found", true)}},
		"other tools":                {"", [][]string{does("c1", "read", args{"path": "a.go"}, "x", false), does("c2", "grep", args{"pattern": "x"}, "", false)}},
		"what the user ran":          {"", [][]string{{message("b1", "", `"role":"bashExecution","command":"ls","output":"x","exitCode":0`)}}},
		"calls of an aborted answer": {"", [][]string{{message("a1", "", `"role":"assistant","stopReason":"aborted","content":[{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"ls"}}]`)}}},
	} {
		lines := []string{typed("u1", "", "go on")}
		for _, more := range c.lines {
			lines = append(lines, more...)
		}
		s := worktest.Read(t, pi.Kind, work.All, strings.Join(chain(lines...), "\n"))
		if got := worktest.Text(s.Turns[0].Work); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", name, got, c.want)
		}
	}
}

// What the agent did on another branch of the tree is not in the session.
func TestWorkOfOtherBranch(t *testing.T) {
	lines := []string{header("3"), typed("u1", "", "go on"), called("a1", "u1", "c1", "bash", `{"command":"make"}`), called("a2", "u1", "c2", "bash", `{"command":"ls"}`), resulted("r2", "a2", "c2", "x", false)}
	s := worktest.Read(t, pi.Kind, work.All, strings.Join(lines, "\n"))
	if got := worktest.Text(s.Turns[0].Work); got != "ran \"ls\" = 0\n" {
		t.Error(got)
	}
}

func TestLessWork(t *testing.T) {
	lines := append([]string{typed("u1", "", "go on")}, does("c1", "bash", map[string]any{"command": "ls"}, "x", false)...)
	lines = append(lines, does("c2", "write", map[string]any{"path": "a", "content": "x"}, "ok", false)...)
	for level, want := range map[work.Level]string{work.Off: "", work.Commands: "ran \"ls\" = 0\n"} {
		if got := worktest.Text(worktest.Read(t, pi.Kind, level, strings.Join(chain(lines...), "\n")).Turns[0].Work); got != want {
			t.Errorf("level %d: %s", level, got)
		}
	}
}

// Recorded sessions: what a real agent ran.
func TestRecordedWork(t *testing.T) {
	for folder, want := range map[string]string{
		"toolerror": "ran \"ls data/nope; exit 3\" = 3\nran \"ls data\" = 0\n",
		"parallel":  "ran \"wc -l data/revenue.csv\" = 0\nran \"head -1 data/revenue.csv\" = 0\n",
		"killed":    "ran \"ls data\" = 0\n",
	} {
		found, err := filepath.Glob("testdata/" + folder + "/sessions/*/*.jsonl")
		if err != nil || len(found) != 1 {
			t.Fatal(folder, found, err)
		}
		data, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		s := worktest.Read(t, pi.Kind, work.All, string(data))
		if got := worktest.Text(s.Turns[len(s.Turns)-1].Work); got != want {
			t.Errorf("%s: got\n%swant\n%s", folder, got, want)
		}
	}
}

// No secret in a command, an edit or a new file is kept.
func TestSecretsInWork(t *testing.T) {
	worktest.Secrets(t, pi.Kind, func(secret string) map[string]string {
		type args = map[string]any
		text := "an ordinary line\n" + secret + "\n"
		out := map[string]string{}
		for where, lines := range map[string][]string{
			"command":  does("c1", "bash", args{"command": secret}, "", false),
			"echo":     does("c1", "bash", args{"command": "echo \"" + secret + "\""}, "Command exited with code 1", true),
			"document": does("c1", "bash", args{"command": "cat > a.md <<EOF\n" + text + "EOF"}, "", false),
			"write":    does("c1", "write", args{"path": "docs/new.md", "content": text}, "ok", false),
			"added":    does("c1", "edit", args{"path": "docs/a.md", "oldText": "x", "newText": text}, "ok", false),
			"removed":  does("c1", "edit", args{"path": "docs/a.md", "edits": []args{{"oldText": text, "newText": "an ordinary line"}}}, "ok", false),
		} {
			out[where] = strings.Join(chain(append([]string{typed("u1", "", "go on")}, lines...)...), "\n")
		}
		return out
	})
}
