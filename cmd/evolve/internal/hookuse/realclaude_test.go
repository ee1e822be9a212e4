package hookuse

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/newhook"
	"github.com/skill-evolve/evolve/eval/agent/agenttest"
)

// TestRealClaude reads a transcript that the real Claude Code wrote, with guards that stop calls:
// by exit code 2, by JSON, and by JSON of a skeleton that notes it on the bus.
func TestRealClaude(t *testing.T) {
	claude := agenttest.RealClaude(t)
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "../../../hook-kit").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p := newPlace(t)
	w, err := newhook.Write(p.home, "no-force", "PreToolUse", "sh")
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(p.home, "no-reset.sh"), `case $(cat) in *"git reset --hard"*) echo "no reset: stash it" >&2; exit 2;; esac`)
	put(t, filepath.Join(p.home, "no-clean.py"), "import json, sys\nif 'git clean' in json.load(sys.stdin)['tool_input']['command']:\n    print(json.dumps({'hookSpecificOutput': {'hookEventName': 'PreToolUse', 'permissionDecision': 'deny', 'permissionDecisionReason': 'never clean: ask first'}}))\n")
	put(t, filepath.Join(p.home, ".claude", "settings.json"), settings("sh ~/no-reset.sh", filepath.Join(w.Folder, w.Files[0])))
	put(t, filepath.Join(p.project, ".claude", "settings.json"), settings("python3 "+filepath.Join(p.home, "no-clean.py")))
	var does []agenttest.Reply
	for _, command := range []string{"git reset --hard", "git reset --hard", "git push --force", "git clean", "git clean -n && git -C . status", "true"} {
		does = append(does, agenttest.Reply{Tools: []agenttest.Op{agenttest.Bash(command)}})
	}
	said := 0
	server := agenttest.Start(t, agenttest.Config{Side: "A title", Answer: func(agenttest.Request) agenttest.Reply {
		if said++; said <= len(does) {
			return does[said-1]
		}
		return agenttest.Reply{Text: "Done."}
	}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, claude, "-p", "--permission-mode", "bypassPermissions")
	c.Dir, c.Stdin = p.project, strings.NewReader("tidy up")
	c.Env = []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + p.home, "TMPDIR=" + t.TempDir(), "EVOLVE_HOME=" + p.data,
		"ANTHROPIC_API_KEY=" + agenttest.Key, "ANTHROPIC_BASE_URL=" + server.Root, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1", "IS_SANDBOX=1"}
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(p.home, ".claude", "projects", "*", "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if r := p.read(t); len(r.Guards) != 3 || r.Guards[0].Stopped != 0 {
		t.Errorf("a program's session counts: %q", r.short())
	}
	// As if a person had driven it.
	put(t, files[0], strings.NewReplacer(`"entrypoint":"sdk-cli"`, `"entrypoint":"cli"`, `"promptSource":"sdk"`, `"promptSource":"typed"`).Replace(string(text)))
	check(t, p.read(t),
		`no-reset.sh of claude-code, installed true: 2 in 1, asked 0, same 1, rewritten 0, ran 0, permitted 0, refused 0`,
		`  block "git reset --hard" known by command: stopped, "no reset: stash it"; same "git reset --hard": stopped`,
		`  block "git reset --hard" known by command: stopped, "no reset: stash it"`,
		`no-clean.py of claude-code, installed true: 2 in 1, asked 0, same 0, rewritten 1, ran 0, permitted 0, refused 0`,
		`  block "git clean" known by reason: stopped, "never clean: ask first"; rewritten "git clean -n && git -C . status": stopped`,
		`  block "git clean -n && git -C . status" known by reason: stopped, "never clean: ask first"`,
		`no-force.sh of claude-code, installed true: 1 in 1, asked 0, same 0, rewritten 0, ran 0, permitted 0, refused 0`,
		`  block "git push --force" known by bus: stopped, "Do not force a push: ask the user."`)
}
