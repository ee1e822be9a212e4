package claude_test

import (
	"slices"
	"strings"
	"testing"
)

// Every working folder that a line names is known, wherever in the line it is, and also
// if the line is never decoded.
func TestFolders(t *testing.T) {
	in := func(folder, line string) string { return strings.Replace(line, "/home/dev/project", folder, 1) }
	const head = `{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/old","sessionId":"s1","type":"user","message":{"role":"user","content":[{"tool_use_id":"t","type":"tool_result","content":"x"}]},"toolUseResult":{"cwd":"/no"},"uuid":"u9"}`
	const middle = `{"parentUuid":null,"message":{"role":"user","content":"go on"},"cwd":"/middle","x":{},"type":"user","uuid":"u8","sessionId":"s1"}`
	s, problems := read(t, typed("p", "u", "plot it"),
		in("/second", said("m", "done")),
		in("/result", resulted("t", `a text with \"cwd\":\"/text\" and "cwd":"/quoted"`, false)),
		in(`C:\\Users\\dev`, resulted("t2", strings.Repeat("long ", 5000), false)),
		head, middle,
		`{"type":"queue-operation","content":"`+strings.Repeat("x", 5000)+`","cwd":"/queue","sessionId":"s1"}`,
		`{"type":"summary","summary":"of no folder"}`,
		typed("p2", "u2", "thanks"),
		strings.Replace(head, `"cwd":"/no"`, `"cwd":"/home/dev/project"`, 1), strings.Replace(strings.Replace(head, "/old", "/older", 1), `"cwd":"/no"`, `"cwd":"/home/dev/project"`, 1),
		typed("p3", "u3", "go on"), strings.Replace(resulted("t3", "x", false), `"toolUseResult":{},"timestamp":"2026-11-20T18:14:45.571Z","entrypoint":"cli","cwd":"/home/dev/project"`, `"toolUseResult":{"path":"/home/dev/project"},"cwd":"/last"`, 1))
	want := []string{"/home/dev/project", "/second", "/result", `C:\Users\dev`, "/old", "/middle", "/queue", "/older", "/last"}
	if len(problems) > 0 || !slices.Equal(s.Folders, want) || s.CWD != want[0] {
		t.Errorf("worked in %q, %v, want %q", s.Folders, problems, want)
	}
}
