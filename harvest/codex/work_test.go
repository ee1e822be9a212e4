package codex_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest/codex"
	"github.com/skill-evolve/evolve/harvest/work"
	"github.com/skill-evolve/evolve/harvest/work/worktest"
)

func function(id, tool, args string) string {
	return record("response_item", `{"type":"function_call","id":"fc_`+id+`","name":"`+tool+`","arguments":`+quote(args)+`,"call_id":"`+id+`"}`)
}

func custom(id, tool, input string) string {
	return record("response_item", `{"type":"custom_tool_call","id":"ctc_`+id+`","status":"completed","call_id":"`+id+`","name":"`+tool+`","input":`+quote(input)+`}`)
}

func customEnded(id, output string) string {
	return record("response_item", `{"type":"custom_tool_call_output","call_id":"`+id+`","output":`+quote(output)+`}`)
}

const patch = "*** Begin Patch\n*** Update File: a.go\n@@\n one\n-two\n+three\n*** Add File: b.go\n+new\n*** End Patch"

const patched = "changed a.go +\"three\" -\"two\"\nchanged b.go +\"new\"\n"

func success(id string) string {
	return customEnded(id, "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.")
}

func TestWork(t *testing.T) {
	exec := func(rest string) string { return event("item_completed", `,"turn_id":"t1","item":`+rest) }
	for name, c := range map[string]struct {
		want  string
		lines []string
	}{
		"exec_command": {"ran (go test) \"go test ./...\" = 1\nran \"cd /home/dev/project/sub && ls\" = 0\n", []string{
			called("c1", "go test ./..."), exited("c1", 1, "FAIL"),
			function("c2", "exec_command", `{"cmd":"ls","workdir":"/home/dev/project/sub"}`), exited("c2", 0, "")}},
		"its record comes first": {"ran \"ls\" = 0\n", []string{called("c1", "ls"), ran("c1", "completed", "", "x"), exited("c1", 0, "x")}},
		"shell": {"ran \"ls -l\" = 2\nran \"git log '--format=%h %s'\" = 0\n", []string{
			function("c1", "shell", `{"command":["bash","-lc","ls -l"]}`), resulted("c1", `{"output":"no","metadata":{"exit_code":2,"duration_seconds":0.1}}`),
			function("c2", "shell", `{"command":["git","log","--format=%h %s"],"workdir":"/home/dev/project"}`), resulted("c2", `{"output":"","metadata":{"exit_code":0}}`)}},
		"shell_command": {"ran \"make\" = 2\n", []string{
			function("c1", "shell_command", `{"command":"make","timeout_ms":1000}`), resulted("c1", "Exit code: 2\nWall time: 1 seconds\nOutput:\nExit code: 0")}},
		"local_shell_call": {"ran \"cd /home/dev/project/lib && ls\" = 0\n", []string{
			record("response_item", `{"type":"local_shell_call","call_id":"c1","status":"completed","action":{"type":"exec","command":["sh","-c","ls"],"working_directory":"/home/dev/project/lib"}}`), exited("c1", 0, "")}},
		"other tools":       {"", []string{function("c1", "mcp__x__y", `{"command":"rm -rf /"}`), function("c2", "update_plan", `{"plan":[]}`)}},
		"apply_patch":       {patched, []string{custom("c1", "apply_patch", patch), success("c1")}},
		"as a function":     {patched, []string{function("c1", "apply_patch", `{"input":`+quote(patch)+`}`), resulted("c1", "Success.")}},
		"one that failed":   {"", []string{custom("c1", "apply_patch", patch), customEnded("c1", "apply_patch verification failed: Failed to find expected lines")}},
		"in a command":      {patched, []string{called("c1", "apply_patch <<'EOF'\n"+patch+"\nEOF\n"), exited("c1", 0, "Success.")}},
		"as an argument":    {patched, []string{function("c1", "shell", `{"command":["apply_patch",`+quote(patch)+`]}`), exited("c1", 0, "Success.")}},
		"that failed":       {"", []string{called("c1", "apply_patch <<'EOF'\n"+patch+"\nEOF"), exited("c1", 1, "error")}},
		"in another folder": {strings.ReplaceAll(patched, "ed ", "ed sub/"), []string{called("c1", "cd sub && apply_patch <<EOF\n"+patch+"\nEOF"), exited("c1", 0, "")}},
		"by workdir": {strings.ReplaceAll(patched, "ed ", "ed sub/"), []string{
			function("c1", "shell", `{"command":["bash","-lc",`+quote("apply_patch <<EOF\n"+patch+"\nEOF")+`],"workdir":"sub"}`), exited("c1", 0, "")}},
		"with other commands": {patched + "ran (go test) \"go vet ./...\\ngo test ./...\" = 1\n", []string{
			called("c1", "go vet ./... && apply_patch <<'EOF'\n"+patch+"\nEOF\ngo test ./..."), exited("c1", 1, "FAIL")}},
		"a file that holds a patch": {"ran \"cat > p.txt <<'EOF'\\n" + strings.ReplaceAll(patch, "\n", `\n`) + "\\nEOF\" = 0\n", []string{
			called("c1", "cat > p.txt <<'EOF'\n"+patch+"\nEOF"), exited("c1", 0, "")}},
		"a command that goes on": {"ran (go test) \"go test ./...\" = 1\n", []string{
			called("c1", "go test ./..."), resulted("c1", "Chunk ID: a\nWall time: 10.0 seconds\nProcess running with session ID 42\nOutput:\n"),
			function("c2", "write_stdin", `{"session_id":42,"chars":""}`), resulted("c2", "Chunk ID: b\nWall time: 5.0 seconds\nProcess running with session ID 42\nOutput:\n"),
			function("c3", "write_stdin", `{"session_id":42,"chars":""}`), exited("c3", 1, "FAIL")}},
		"and has a record": {"ran \"make\" = 0\n", []string{
			called("c1", "make"), resulted("c1", "Chunk ID: a\nWall time: 10.0 seconds\nProcess running with session ID 42\nOutput:\n"), ran("c1", "completed", "", "done")}},
		"and has an event": {"ran \"make\" = 2\n", []string{
			called("c1", "make"), resulted("c1", "Chunk ID: a\nWall time: 10.0 seconds\nProcess running with session ID 42\nOutput:\n"),
			event("exec_command_end", `,"call_id":"c1","stdout":"x","aggregated_output":"\"exit_code\":0","exit_code":2,"status":"failed"`)}},
		"the user refused": {"refused exec_command \"rm -rf build\"\nrefused shell \"git push\"\nrefused apply_patch a.go\n", []string{
			called("c1", "rm -rf build"), resulted("c1", `exec_command failed for `+"`/bin/bash -lc 'rm -rf build'`"+`: CreateProcess { message: "Rejected(\"rejected by user\")" }`),
			function("c2", "shell", `{"command":["git","push"]}`), event("exec_command_end", `,"call_id":"c2","aggregated_output":"exec command rejected by user","exit_code":-1,"status":"declined"`), resulted("c2", "exec command rejected by user"),
			custom("c3", "apply_patch", patch), customEnded("c3", "patch rejected by user")}},
		"a rule refused": {"", []string{called("c1", "rm x"), resulted("c1", "exec command rejected: rm is forbidden by the policy"),
			custom("c2", "apply_patch", patch), customEnded("c2", "patch rejected: writing outside of the project")}},
		"it never began": {"", []string{called("c1", "ls"), resulted("c1", "failed to parse function arguments: missing field"), called("c2", "ls"), resulted("c2", "unsupported call: exec_command")}},
		"the turn was aborted": {"ran \"sleep 9\" = -1\n", []string{called("c1", "sleep 9"), resulted("c1", "Wall time: 3.0 seconds\naborted by user"),
			custom("c2", "apply_patch", patch), customEnded("c2", "aborted by user after 0.1s")}},
		"no output":       {"ran \"ls\"\n", []string{called("c1", "ls")}},
		"it read a skill": {"ran \"cat " + file + "\" = 0\n", []string{called("c1", "cat "+file), ran("c1", "completed", parsed("cat "+file, file), text), exited("c1", 0, text)}},
		"a program of the agent's": {"ran (pytest) \"pytest -q\" = 3\nchanged a.go +\"new\" -\"old\"\nchanged b.go +\"b\"\nrefused \"rm -rf x\"\n", []string{
			custom("c1", "exec", "await tools.exec_command({cmd:'pytest -q'})"),
			exec(`{"type":"CommandExecution","id":"e1","command":["/bin/bash","-lc","pytest -q"],"cwd":"file:///home/dev/project","parsed_cmd":[],"source":"unified_exec_startup","status":"failed","aggregated_output":"x","exit_code":3}`),
			exec(`{"type":"FileChange","id":"e2","changes":{"/home/dev/project/a.go":{"type":"update","unified_diff":"--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n"},"/home/dev/project/b.go":{"type":"add","content":"b\n"}},"status":"completed"}`),
			exec(`{"type":"FileChange","id":"e3","changes":{"/home/dev/project/c.go":{"type":"delete","content":"c\n"}},"status":"failed"}`),
			exec(`{"type":"CommandExecution","id":"e4","command":["bash","-lc","rm -rf x"],"source":"agent","status":"declined","aggregated_output":"exec command rejected by user","exit_code":-1}`),
			exec(`{"type":"CommandExecution","id":"e5","command":["bash","-lc","ls"],"source":"user_shell","status":"completed","aggregated_output":"","exit_code":0}`),
			customEnded("c1", "Script completed")}},
		"in older versions": {"ran \"ls\" = 0\nchanged a.go -\"x\"\n", []string{
			event("exec_command_end", `,"call_id":"e1","command":["bash","-lc","ls"],"cwd":"/home/dev/project","source":"agent","aggregated_output":"","exit_code":0,"status":"completed"`),
			event("patch_apply_end", `,"call_id":"e2","stdout":"","stderr":"","success":true,"changes":{"a.go":{"type":"delete","content":"x"}}`),
			event("patch_apply_end", `,"call_id":"e3","stderr":"no","success":false,"changes":{"b.go":{"type":"delete","content":"x"}}`)}},
		"a task in another folder": {"ran \"cd /home/dev/project/web && ls\" = 0\n", []string{
			record("turn_context", `{"cwd":"/home/dev/project/web","model":"m"}`), called("c1", "ls"), exited("c1", 0, "")}},
	} {
		lines := append([]string{opened(`"cli"`), started("t1"), typed("t1", "m1", "go on")}, c.lines...)
		s := worktest.Read(t, codex.Kind, work.All, strings.Join(lines, "\n"))
		if got := worktest.Text(s.Turns[0].Work); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", name, got, c.want)
		}
	}
}

// Recorded sessions: what a real agent ran, changed, and was kept from by its sandbox.
func TestRecordedWork(t *testing.T) {
	for file, want := range map[string]string{
		"testdata/toolerror": `ran "cat /home/dev/project/data/missing.csv" = 1
ran "ls data/nope; exit 3" = 3
ran "ls data" = 0
ran "cat /home/dev/project/data/revenue.csv" = 0
`,
		"testdata/sandbox":  "ran \"touch /tmp/should-not-exist-stub && curl -s http://127.0.0.1:1/\" = 1\n",
		"testdata/parallel": "ran \"cat /home/dev/project/data/revenue.csv\" = 0\nran \"wc -l data/revenue.csv\" = 0\nran \"head -1 data/revenue.csv\" = 0\n",
		"testdata/killed":   "ran \"ls data\" = 0\n",
		"../../eval/agent/codex/testdata/sessions/denied.jsonl": `ran "echo hi > f.txt; cat f.txt; echo $TMPDIR; " = 0
changed made.txt +"made"
ran "echo" = 1 (cut)
ran "echo; true" = 0 (cut)
ran "exit 3" = 3
`,
	} {
		if !strings.HasSuffix(file, ".jsonl") {
			found, err := filepath.Glob(file + "/sessions/*/*/*/rollout-*.jsonl")
			if err != nil || len(found) != 1 {
				t.Fatal(file, found, err)
			}
			file = found[0]
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := worktest.Read(t, codex.Kind, work.All, string(data))
		if got := worktest.Text(s.Turns[len(s.Turns)-1].Work); got != want {
			t.Errorf("%s: got\n%swant\n%s", file, got, want)
		}
	}
}

func TestLessWork(t *testing.T) {
	lines := strings.Join([]string{opened(`"cli"`), typed("t1", "m1", "go on"), called("c1", "ls"), exited("c1", 0, ""), custom("c2", "apply_patch", patch), success("c2")}, "\n")
	for level, want := range map[work.Level]string{work.Off: "", work.Commands: "ran \"ls\" = 0\n"} {
		if got := worktest.Text(worktest.Read(t, codex.Kind, level, lines).Turns[0].Work); got != want {
			t.Errorf("level %d: %s", level, got)
		}
	}
}

// No secret in a command, a patch or a record of changes is kept.
func TestSecretsInWork(t *testing.T) {
	worktest.Secrets(t, codex.Kind, func(secret string) map[string]string {
		const control = "+an ordinary line\n"
		added := control + "+" + strings.ReplaceAll(secret, "\n", "\n+") + "\n"
		add := "*** Begin Patch\n*** Add File: docs/new.md\n" + added + "*** End Patch"
		remove := "*** Begin Patch\n*** Update File: docs/a.md\n@@\n" + strings.ReplaceAll(added, "\n+", "\n-") + control + "*** End Patch"
		diff := quote("@@ -1 +1 @@\n" + added)
		out := map[string]string{}
		for where, calls := range map[string][]string{
			"command":  {called("c1", secret), exited("c1", 0, "")},
			"echo":     {called("c1", "echo '"+secret+"'"), exited("c1", 1, "")},
			"words":    {function("c1", "shell", `{"command":["tool",`+quote(secret)+`]}`), resulted("c1", "exec command rejected by user")},
			"document": {called("c1", "cat > docs/a.md <<'EOF'\nan ordinary line\n"+secret+"\nEOF"), exited("c1", 0, "")},
			"added":    {custom("c1", "apply_patch", add), success("c1")},
			"removed":  {custom("c1", "apply_patch", remove), success("c1")},
			"inline":   {called("c1", "apply_patch <<'EOF'\n"+add+"\nEOF"), exited("c1", 0, "")},
			"record":   {event("item_completed", `,"item":{"type":"FileChange","id":"e1","changes":{"docs/b.md":{"type":"update","unified_diff":`+diff+`}},"status":"completed"}`)},
		} {
			out[where] = strings.Join(append([]string{opened(`"cli"`), typed("t1", "m1", "go on")}, calls...), "\n")
		}
		return out
	})
}
