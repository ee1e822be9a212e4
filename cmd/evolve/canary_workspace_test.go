package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Secrets are in the files of a recorded repository, which an agent reads: it
// repeats them in its answer, its trace, its failure, in files that it writes
// and on stderr. None is stored, printed, or shown to a judge.
func TestSecretsInAWorkspace(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	f := &field{}
	var mu sync.Mutex
	var seen [][]byte
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // the judge
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		seen = append(seen, body)
		mu.Unlock()
		reply(w, map[string]any{"choices": []any{map[string]any{"finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": `{"score": 0, "reason": "no"}`}}},
			"usage": map[string]any{"prompt_tokens": 90, "completion_tokens": 4}})
	}))
	defer web.Close()
	home, data, temp, out, repo := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	claude := filepath.Join(home, ".claude")
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(claude, "skills", "plot", "SKILL.md"), "---\nname: plot\ndescription: Draws charts.\n---\n\n# Charts\n\n- Draw what is asked for.\n")
	n := 0
	for i := range secretsFor(0) {
		text := f.plant("workspace", i)
		if strings.ContainsAny(text, "\"\n") { // what sh puts into JSON below
			f.planted["workspace"] = f.planted["workspace"][:len(f.planted["workspace"])-1]
			continue
		}
		write(filepath.Join(repo, fmt.Sprintf("s%02d.txt", n)), text)
		n++
	}
	commit := func(args ...string) string {
		t.Helper()
		c := exec.Command(git, append([]string{"-C", repo, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		c.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		text, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, text)
		}
		return strings.TrimSpace(string(text))
	}
	commit("init", "-q")
	commit("add", ".")
	commit("commit", "-q", "-m", "all")
	head := commit("rev-parse", "HEAD")
	var cases bytes.Buffer
	for i := range n {
		line, err := json.Marshal(map[string]any{"id": fmt.Sprint("c", i), "skill": "plot", "prompt": fmt.Sprintf("plot number %02d", i), "split": "test",
			"workspace": map[string]string{"repo": repo, "commit": head},
			"checks":    []map[string]any{{"type": "contains", "value": "never there", "feedback": "say it"}, {"type": "judge", "rubric": "says so"}}})
		if err != nil {
			t.Fatal(err)
		}
		cases.Write(append(line, '\n'))
	}
	agent := filepath.Join(out, "agent.sh")
	write(agent, `#!/bin/sh
IN=$(cat)
case $IN in *'"ping"'*) echo '{"ok":true,"name":"reader","version":"1"}'; exit ;; esac
I=$(echo "$IN" | sed -n 's/.*plot number \([0-9][0-9]\).*/\1/p' | head -c 2)
S=$(cat "s$I.txt") || exit 1
echo "it says $S" >&2
echo "$S" >"copy-$I.txt"
echo "{\"answer\":\"I read: $S\",\"trace\":[{\"name\":\"Bash\",\"input\":{\"command\":\"echo $S\"}},{\"name\":\"Bash\",\"input\":\"$S\",\"failed\":true}]}"
: >`+out+`/read.$I
`)
	evolve := func(stdin string, args ...string) {
		t.Helper()
		c := exec.Command(os.Args[0], append(args, "--claude-home", claude)...)
		c.Env = []string{"EVOLVE_TEST_AS_MAIN=1", "EVOLVE_HOME=" + data, "HOME=" + home, "TMPDIR=" + temp, "PATH=" + os.Getenv("PATH"), "OPENAI_API_KEY=sk-test-not-a-key"}
		c.Stdin = strings.NewReader(stdin)
		text, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("evolve %s: %v: %s", args[0], err, text)
		}
		f.search(t, "what `evolve "+args[0]+"` prints", text)
	}
	evolve(cases.String(), "cases", "import", "-")
	evolve("", "privacy", "agree", "command:"+filepath.Base(agent))
	evolve("", "compare", "plot", "none", "--agent", "command", "--command", "sh "+agent, "--sandbox", "none", "--max-retries", "1",
		"--judge-agent", "openai", "--judge-model", "sim-task", "--reflect-agent", "openai", "--reflect-model", "sim-reflect", "--base-url", web.URL+"/v1", "--json")
	evolve("", "log", "plot", "--json")
	read, err := filepath.Glob(filepath.Join(out, "read.*"))
	if err != nil || len(read) != n || n < 10 {
		t.Errorf("%d of %d secrets were read: this test shows less than it says", len(read), n)
	}
	f.searchFiles(t, "", []string{data, temp})
	marks := 0
	for i, body := range seen {
		f.search(t, fmt.Sprintf("request %d", i), body)
		marks += bytes.Count(body, []byte("[redacted:"))
	}
	if marks < n {
		t.Errorf("the judge was shown %d placeholders of %d secrets", marks, n)
	}
	t.Logf("%d secrets read, %d requests to the judge with %d placeholders", n, len(seen), marks)
}
