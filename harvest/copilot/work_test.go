package copilot_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest/copilot"
	"github.com/skill-evolve/evolve/harvest/work"
	"github.com/skill-evolve/evolve/harvest/work/worktest"
)

// begun is the first line of a session in a folder.
var begun = event("session.start", "s", 0, `"sessionId":"s1","context":{"cwd":"/home/dev/project"}`)

func marshal(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// exited is the end of a command.
func exited(call, code, output string) string {
	return ended(call, `"shellExecution":{"exitCode":`+code+`},"success":true,"result":{"content":`+quote(output+"\n<shellId: 0 completed with exit code "+code+">")+`}`)
}

func asked(request, call string) string {
	return event("permission.requested", "q-"+request, 2, `"requestId":"`+request+`","permissionRequest":{"kind":"shell","toolCallId":"`+call+`"}`)
}

func decided(request, result string) string {
	return event("permission.completed", "d-"+request, 3, `"requestId":"`+request+`","result":`+result)
}

const patch = "*** Begin Patch\n*** Update File: a.go\n@@\n one\n-two\n+three\n*** Add File: b.go\n+new\n*** End Patch\n"

func TestWork(t *testing.T) {
	denied := `"success":false,"error":{"message":"Permission denied","code":"denied"}`
	for name, c := range map[string]struct {
		want  string
		lines []string
	}{
		"bash": {"ran (go test) \"go test ./...\" = 0\nran \"make\" = 2\n", []string{called("a", "bash", "t1", `{"command":"go test ./...","description":"Test"}`), started("bash", "t1", `{}`), exited("t1", "0", "ok"),
			called("b", "bash", "t2", `{"command":"make"}`), exited("t2", "2", "no")}},
		"its event alone":  {"ran \"ls\" = 0\n", []string{started("powershell", "t1", `{"command":"ls"}`), exited("t1", "0", "x")}},
		"much output":      {"ran \"ls\" = 3\nran \"ls -l\" = 0\n", []string{called("a", "bash", "t1", `{"command":"ls"}`), exited("t1", "3", strings.Repeat("x", 20000)), called("b", "bash", "t2", `{"command":"ls -l"}`), exited("t2", "0", strings.Repeat("x", 20000))}},
		"older versions":   {"ran \"ls\" = 0\nran \"make\" = 2\n", []string{called("a", "bash", "t1", `{"command":"ls"}`), ended("t1", `"success":true,"result":{"content":"exit code 7\n<exited with exit code 0>"}`), called("b", "bash", "t2", `{"command":"make"}`), ended("t2", `"success":true,"result":{"content":"<exited with exit code 2>"}`)}},
		"it does not tell": {"ran \"ls\"\nran \"make\" = -1\nran \"sleep 9\"\n", []string{called("a", "bash", "t1", `{"command":"ls"}`), ended("t1", ok), called("b", "bash", "t2", `{"command":"make"}`), ended("t2", `"success":false,"error":{"message":"no shell","code":"failure"}`), called("c", "bash", "t3", `{"command":"sleep 9"}`)}},
		"create":           {"changed x.txt +\"hi\"\n", []string{called("a", "create", "t1", `{"path":"/home/dev/project/x.txt","file_text":"hi\n"}`), ended("t1", ok)}},
		"edit":             {"changed a.go +\"2\" -\"1\"\n", []string{called("a", "edit", "t1", `{"path":"a.go","old_str":"0\n1","new_str":"0\n2"}`), ended("t1", ok)}},
		"str_replace_editor": {"changed a.go +\"2\" -\"1\"\nchanged b.go +\"3\"\nchanged c.go +\"4\"\n", []string{called("a", "str_replace_editor", "t1", `{"command":"str_replace","path":"a.go","old_str":"1","new_str":"2"}`), ended("t1", ok),
			called("b", "str_replace_editor", "t2", `{"command":"create","path":"b.go","file_text":"3"}`), ended("t2", ok), called("c", "str_replace_editor", "t3", `{"command":"insert","path":"c.go","insert_line":1,"new_str":"4"}`), ended("t3", ok),
			called("d", "str_replace_editor", "t4", `{"command":"view","path":"d.go"}`), ended("t4", ok)}},
		"apply_patch":     {"changed a.go +\"three\" -\"two\"\nchanged b.go +\"new\"\n", []string{called("a", "apply_patch", "t1", quote(patch)), ended("t1", ok)}},
		"unparsed":        {"ran \"ls\" = 0\n", []string{called("a", "bash", "t1", quote(`{"command":"ls"}`)), exited("t1", "0", "")}},
		"a failed change": {"", []string{called("a", "edit", "t1", `{"path":"a.go","old_str":"1","new_str":"2"}`), ended("t1", `"success":false,"error":{"message":"No match","code":"failure"}`)}},
		"other tools":     {"", []string{called("a", "view", "t1", `{"path":"a.go"}`), ended("t1", ok), called("b", "grep", "t2", `{"command":"x"}`), ended("t2", ok)}},
		"of a subagent":   {"ran \"ls\" = 0\n", []string{of("x", called("a", "bash", "t1", `{"command":"ls"}`)), of("x", exited("t1", "0", ""))}},
		"the user refused": {"refused bash \"rm -rf build\": \"keep it\"\nrefused edit a.go\n", []string{called("a", "bash", "t1", `{"command":"rm -rf build"}`), asked("q1", "t1"), decided("q1", `{"kind":"denied-interactively-by-user","feedback":"keep it"}`), ended("t1", denied),
			called("b", "edit", "t2", `{"path":"a.go","old_str":"1","new_str":"2"}`), ended("t2", `"success":false,"error":{"message":"x","code":"rejected"}`)}},
		"a rule refused":   {"", []string{called("a", "bash", "t1", `{"command":"rm x"}`), asked("q1", "t1"), decided("q1", `{"kind":"denied-by-rules"}`), ended("t1", denied)}},
		"the user allowed": {"ran \"ls\" = 0\n", []string{called("a", "bash", "t1", `{"command":"ls"}`), asked("q1", "t1"), decided("q1", `{"kind":"approved"}`), exited("t1", "0", "")}},
	} {
		s := worktest.Read(t, copilot.Kind, work.All, strings.Join(append([]string{begun, said("u", "go on")}, c.lines...), "\n"))
		if got := worktest.Text(s.Turns[0].Work); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", name, got, c.want)
		}
	}
}

func TestLessWork(t *testing.T) {
	lines := strings.Join([]string{begun, said("u", "go on"), called("a", "bash", "t1", `{"command":"ls"}`), exited("t1", "0", ""), called("b", "create", "t2", `{"path":"a","file_text":"x"}`), ended("t2", ok)}, "\n")
	for level, want := range map[work.Level]string{work.Off: "", work.Commands: "ran \"ls\" = 0\n"} {
		if got := worktest.Text(worktest.Read(t, copilot.Kind, level, lines).Turns[0].Work); got != want {
			t.Errorf("level %d: %s", level, got)
		}
	}
}

// Recorded sessions: what a real agent ran and changed.
func TestRecordedWork(t *testing.T) {
	for pattern, want := range map[string]string{
		"testdata/toolerror/session-state/*/events.jsonl": "ran \"ls data/nope; exit 3\" = 3\nran \"ls data\" = 0\n",
		"testdata/parallel/session-state/*/events.jsonl":  "ran \"wc -l data/revenue.csv\" = 0\nran \"head -1 data/revenue.csv\" = 0\n",
		"testdata/subagent/session-state/*/events.jsonl":  "ran \"wc -l data/revenue.csv\" = 0\n",
		"testdata/denied/session-state/*/events.jsonl":    "",
		// Streams of events, which have those of the file and more.
		"../../eval/agent/copilot/testdata/events/tools.jsonl":       "changed x.txt +\"hi\"\nran \"cat x.txt; exit 3\" = 3\n",
		"../../eval/agent/copilot/testdata/events/tools-patch.jsonl": "changed x.txt +\"hi\"\nran \"cat x.txt; exit 3\" = 3\n",
	} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) != 1 {
			t.Fatal(pattern, found, err)
		}
		data, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		s := worktest.Read(t, copilot.Kind, work.All, string(data))
		if got := worktest.Text(s.Turns[len(s.Turns)-1].Work); got != want {
			t.Errorf("%s: got\n%swant\n%s", pattern, got, want)
		}
	}
}

// No secret in a command, an edit, a new file or a patch is kept.
func TestSecretsInWork(t *testing.T) {
	worktest.Secrets(t, copilot.Kind, func(secret string) map[string]string {
		type args = map[string]any
		text := "an ordinary line\n" + secret + "\n"
		change := "*** Begin Patch\n*** Update File: docs/a.md\n@@\n an ordinary line\n-x\n+" + strings.ReplaceAll(secret, "\n", "\n+") + "\n*** End Patch\n"
		out := map[string]string{}
		for where, lines := range map[string][]string{
			"command": {called("a", "bash", "t1", marshal(args{"command": secret})), exited("t1", "0", "")},
			"refused": {called("a", "bash", "t1", marshal(args{"command": "echo '" + secret + "'"})), asked("q", "t1"), decided("q", marshal(args{"kind": "denied-interactively-by-user", "feedback": "not " + secret}))},
			"create":  {called("a", "create", "t1", marshal(args{"path": "docs/a.md", "file_text": text})), ended("t1", ok)},
			"added":   {called("a", "edit", "t1", marshal(args{"path": "docs/a.md", "old_str": "x", "new_str": text})), ended("t1", ok)},
			"removed": {called("a", "edit", "t1", marshal(args{"path": "docs/a.md", "old_str": text, "new_str": "an ordinary line"})), ended("t1", ok)},
			"patch":   {called("a", "apply_patch", "t1", quote(change)), ended("t1", ok)},
		} {
			out[where] = strings.Join(append([]string{begun, said("u", "go on")}, lines...), "\n")
		}
		return out
	})
}
