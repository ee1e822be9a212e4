package permission

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/agent/agenttest"
)

// TestRealClaude has the real Claude Code decide on calls: it stops those that a rule is about,
// and no others.
func TestRealClaude(t *testing.T) {
	claude := agenttest.RealClaude(t)
	home, work, bin := t.TempDir(), t.TempDir(), t.TempDir()
	rules := []string{"Bash(git reset --hard:*)", "Bash(npm *)", "Bash(git * --force)", "Bash(make)", "Edit(generated/**)", "Edit(go.sum)", "Edit(/only.txt)", "Edit(a/b.txt)", "Edit(docs)", "Edit(src/**/*.pb.go)", "Edit(/top/**)", "Edit(in/deep/**)"}
	// The program makes a file that is named by its number among the arguments.
	for _, name := range []string{"git", "npm", "npmx", "make"} {
		script := "#!/bin/sh\nfor x; do case $x in [0-9]*) : >\"" + work + "/ran-$x\";; esac; done\n"
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	lines := []string{"git reset --hard %d", "git reset --harder %d", "git reset %d", "cd /tmp && git reset --hard %d", "echo x | git reset --hard %d", "git 'reset' --hard %d",
		"git reset --hard $(echo %d)", `bash -c "git reset --hard %d"`, `sh -c 'git reset --hard %d'`, `eval "git reset --hard %d"`, "git -C x reset --hard %d", "if true; then git reset --hard %d; fi", "(git reset --hard %d)",
		"npm %d", "npm run %d", "npmx %d", "git push %d --force", "git push %d --force x", "touch ran-%d; make", "touch ran-%d; make x", "touch ran-%d; echo git reset --hard"}
	files := []string{"generated/%d", "generated/x/%d", "web/generated/%d", "generatedx/%d", "a%d/go.sum", "a%d/xgo.sum", "only.txt", "b/only.txt", "a/b.txt", "x/a/b.txt", "docs/a/%d", "y/docs/%d", "mydocs/%d", "src/x/y%d.pb.go", "src/x%d.pb.go", "src/x%d.go", "top/%d", "x/top/%d", "in/deep/%d", "x/in/deep/%d"}
	type try struct {
		op   agenttest.Op
		call Call
		ran  string
	}
	var tries []try
	for i, line := range lines {
		line = fmt.Sprintf(line, i)
		input, _ := json.Marshal(map[string]string{"command": line})
		tries = append(tries, try{agenttest.Bash(line), Call{"Bash", input, work}, fmt.Sprintf("ran-%d", i)})
	}
	for i, file := range files {
		if strings.Contains(file, "%d") {
			file = fmt.Sprintf(file, i)
		}
		input, _ := json.Marshal(map[string]string{"file_path": filepath.Join(work, file)})
		tries = append(tries, try{agenttest.Write(filepath.Join(work, file), "x"), Call{"Write", input, work}, file})
	}
	settings, _ := json.Marshal(map[string]any{"permissions": map[string]any{"deny": rules}})
	if err := errors.Join(os.Mkdir(filepath.Join(work, ".claude"), 0o700), os.WriteFile(filepath.Join(work, ".claude", "settings.json"), settings, 0o600)); err != nil {
		t.Fatal(err)
	}
	said := 0
	server := agenttest.Start(t, agenttest.Config{Side: "A title", Answer: func(agenttest.Request) agenttest.Reply {
		if said++; said <= len(tries) {
			return agenttest.Reply{Tools: []agenttest.Op{tries[said-1].op}}
		}
		return agenttest.Reply{Text: "Done."}
	}})
	p := exec.CommandContext(t.Context(), claude, "-p", "--permission-mode", "bypassPermissions")
	p.Dir, p.Stdin = work, strings.NewReader("try")
	p.Env = []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + home, "CLAUDE_CONFIG_DIR=" + home, "TMPDIR=" + t.TempDir(),
		"ANTHROPIC_API_KEY=" + agenttest.Key, "ANTHROPIC_BASE_URL=" + server.Root, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1", "IS_SANDBOX=1"}
	if out, err := p.CombinedOutput(); err != nil || said <= len(tries) {
		t.Fatalf("%v after %d answers: %s", err, said, out)
	}
	for _, x := range tries {
		about := ""
		for _, text := range rules {
			if rule(t, text).Matches(x.call) {
				about = text
			}
		}
		_, err := os.Stat(filepath.Join(work, x.ran))
		if stopped := err != nil; stopped != (about != "") {
			t.Errorf("%s was stopped: %v; a rule is about it: %q", x.call.Input, stopped, about)
		}
	}
}
