package gemini_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest/gemini"
	"github.com/skill-evolve/evolve/harvest/work"
	"github.com/skill-evolve/evolve/harvest/work/worktest"
)

// does is a session of one turn, in which the model calls a tool.
func does(tool, status string, args map[string]any, output string) string {
	call, err := json.Marshal(map[string]any{"id": "m2", "timestamp": "2026-11-20T18:00:02.000Z", "type": "gemini", "content": "done", "toolCalls": []any{map[string]any{
		"id": "c1", "name": tool, "status": status, "args": args,
		"result": []any{map[string]any{"functionResponse": map[string]any{"response": map[string]any{"output": output}}}}}}})
	if err != nil {
		panic(err)
	}
	return strings.Join([]string{head, `{"id":"m1","timestamp":"2026-11-20T18:00:01.000Z","type":"user","content":"go on"}`, string(call)}, "\n")
}

func TestWork(t *testing.T) {
	type args = map[string]any
	for name, c := range map[string]struct{ transcript, want string }{
		"command": {does("run_shell_command", "success", args{"command": "go test ./..."}, "Output: ok\nExit Code: 1"), "ran (go test) \"go test ./...\" = 1\n"},
		"write":   {does("write_file", "success", args{"file_path": "docs/new.md", "content": "x\n"}, ""), "changed docs/new.md +\"x\"\n"},
		"replace": {does("replace", "success", args{"file_path": "a.go", "old_string": "0\n1", "new_string": "0\n2"}, ""), "changed a.go +\"2\" -\"1\"\n"},
		"failed":  {does("replace", "error", args{"file_path": "a.go", "old_string": "1", "new_string": "2"}, ""), ""},
		"stopped": {does("run_shell_command", "cancelled", args{"command": "make"}, ""), ""},
		"other":   {does("read_file", "success", args{"file_path": "a.go"}, "x"), ""},
	} {
		s := worktest.Read(t, gemini.Kind, work.All, c.transcript)
		if got := worktest.Text(s.Turns[0].Work); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", name, got, c.want)
		}
	}
}

// No secret in a command, an edit or a new file is kept.
func TestSecretsInWork(t *testing.T) {
	type args = map[string]any
	worktest.Secrets(t, gemini.Kind, func(secret string) map[string]string {
		text := "an ordinary line\n" + secret + "\n"
		return map[string]string{
			"command": does("run_shell_command", "success", args{"command": secret}, ""),
			"write":   does("write_file", "success", args{"file_path": "docs/new.md", "content": text}, ""),
			"added":   does("replace", "success", args{"file_path": "docs/a.md", "old_string": "x", "new_string": text}, ""),
			"removed": does("replace", "success", args{"file_path": "docs/a.md", "old_string": text, "new_string": "an ordinary line"}, ""),
		}
	})
}
