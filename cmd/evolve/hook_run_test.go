package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// kit puts hook-kit on the PATH of a script.
func kit(ts *testscript.TestScript, _ bool, _ []string) {
	dir := filepath.Join(ts.Getenv("WORK"), "kit")
	c := exec.Command("go", "build", "-o", dir+"/", "../hook-kit")
	out, err := c.CombinedOutput() // in the folder and with the cache of the tests
	if err != nil {
		ts.Fatalf("build hook-kit: %v: %s", err, out)
	}
	ts.Setenv("PATH", dir+string(os.PathListSeparator)+ts.Getenv("PATH"))
}

// writeOverruled is a program for scripts: overruled DIR FROM N writes N sessions of a person
// who refuses every push with force, and permits a commit whose message speaks of one.
func writeOverruled() {
	dir := os.Args[1]
	from, err := strconv.Atoi(os.Args[2])
	n, err2 := strconv.Atoi(os.Args[3])
	if errors.Join(err, err2) != nil {
		panic(errors.Join(err, err2))
	}
	forced := []string{"git push --force", "git push origin main --force", "git push -f origin main", "cd /w && git push origin HEAD --force", "git push origin dev -f"}
	for i := from; i < from+n; i++ {
		id := fmt.Sprintf("%08x-1111-4222-8333-444444444444", i+1)
		at := time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC).Add(time.Duration(i) * 12 * time.Hour)
		var b bytes.Buffer
		line := func(v map[string]any) {
			at = at.Add(time.Second)
			v["sessionId"], v["cwd"], v["version"], v["entrypoint"], v["timestamp"] = id, "/w", "2.1.329", "cli", at.Format("2006-01-02T15:04:05.000Z")
			if err := json.NewEncoder(&b).Encode(v); err != nil {
				panic(err)
			}
		}
		line(map[string]any{"type": "user", "uuid": id + "-0", "promptId": id, "permissionMode": "default", "promptSource": "typed", "message": map[string]any{"role": "user", "content": fmt.Sprintf("publish part %d", i)}})
		call := func(k int, command string, result map[string]any) {
			tool := fmt.Sprintf("toolu_%d_%d", i, k)
			line(map[string]any{"type": "assistant", "message": map[string]any{"role": "assistant", "id": fmt.Sprintf("m%d-%d", i, k), "content": []any{map[string]any{"type": "tool_use", "id": tool, "name": "Bash", "input": map[string]any{"command": command}}}}})
			result["type"] = "user"
			said, _ := result["userFeedback"].(string)
			content := map[string]any{"type": "tool_result", "tool_use_id": tool, "content": "ok"}
			if said != "" {
				content["is_error"], content["content"] = true, "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\n"+said
			}
			result["message"] = map[string]any{"role": "user", "content": []any{content}}
			line(result)
		}
		call(0, fmt.Sprintf("git commit -m \"part %d, no git push --force\"", i), map[string]any{"toolUseResult": map[string]any{"stdout": "ok"}, "permissionDecision": map[string]any{"decision": "accept", "source": "user_temporary", "grantScope": "once"}})
		call(1, "git push origin part", map[string]any{"toolUseResult": map[string]any{"stdout": "ok"}, "permissionDecision": map[string]any{"decision": "accept", "source": "user_temporary", "grantScope": "once"}})
		call(2, forced[i%len(forced)], map[string]any{"toolDenialKind": "user-rejected", "userFeedback": "never git push with --force"})
		path := filepath.Join(dir, "projects", "-w", id+".jsonl")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, b.Bytes(), 0o600)); err != nil {
			panic(err)
		}
	}
}
