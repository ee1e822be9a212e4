package newhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval/agent/agenttest"
	"github.com/skill-evolve/evolve/eval/guard/rulefile"
)

// TestRealClaude has the real Claude Code call the skeletons, installed as their README
// says: what each answers reaches the model, and what it stops does not run.
func TestRealClaude(t *testing.T) {
	claude := agenttest.RealClaude(t)
	bin := built(t)
	forced := []agenttest.Reply{{Tools: []agenttest.Op{agenttest.Bash("touch ran && git push --force")}}}
	for _, c := range []struct {
		event, answer string // "": the skeleton's own
		prompt        string
		does          []agenttest.Reply
		want          string // in a later request
		runs          string // of the call: "yes", "no", or "" if it makes no file
	}{
		{event: "PreToolUse", prompt: "push it", does: forced, want: "Do not force a push: ask the user.", runs: "no"},
		{event: "PreToolUse", answer: "context", prompt: "push it", does: forced, want: "Do not force a push: ask the user.", runs: "yes"},
		// In these two sessions a call needs a permission, and nobody can be asked for it.
		{event: "PreToolUse", answer: "allow", prompt: "push it", does: forced, runs: "yes"},
		{event: "PreToolUse", answer: "ask", prompt: "push it", does: forced, runs: "no"},
		{event: "PostToolUse", prompt: "push it", does: []agenttest.Reply{{Tools: []agenttest.Op{agenttest.Bash("true || git push --force")}}}, want: "The push was forced: tell the user."},
		{event: "PostToolBatch", prompt: "tidy", does: []agenttest.Reply{{Tools: []agenttest.Op{agenttest.Skill("nosuch")}}}, want: "A call was refused: read why before you try it again."},
		{event: "UserPromptSubmit", prompt: "make a release", want: "Read RELEASING.md before you begin."},
		{event: "UserPromptExpansion", prompt: "/deploy", want: "Read DEPLOYING.md before you begin."},
		{event: "SessionStart", prompt: "hello", want: "Run the linter before you commit."},
		{event: "Stop", prompt: "do it", does: []agenttest.Reply{{Text: "Done, with one TODO left."}}, want: "Something is left to do: do it, or tell the user why not."},
	} {
		t.Run(c.event+c.answer, func(t *testing.T) {
			home, work := t.TempDir(), t.TempDir()
			w, err := Write(home, "my-hook", c.event, "sh")
			if err != nil {
				t.Fatal(err)
			}
			script := filepath.Join(w.Folder, w.Files[0])
			text, err := os.ReadFile(script)
			if err != nil {
				t.Fatal(err)
			}
			mode := "bypassPermissions"
			if c.answer != "" {
				text = bytes.ReplaceAll(text, []byte("answer block"), []byte("answer "+c.answer))
			}
			if c.answer == "allow" || c.answer == "ask" {
				mode = "default"
			}
			if err := os.WriteFile(script, text, 0o700); err != nil {
				t.Fatal(err)
			}
			install(t, w, filepath.Join(home, "settings.json"))
			deploy := filepath.Join(home, "skills", "deploy")
			if err := errors.Join(os.MkdirAll(deploy, 0o700), os.WriteFile(filepath.Join(deploy, "SKILL.md"), []byte("---\nname: deploy\ndescription: Deploys\n---\nDeploy it.\n"), 0o600)); err != nil {
				t.Fatal(err)
			}
			said := 0
			server := agenttest.Start(t, agenttest.Config{Side: "A title", Answer: func(agenttest.Request) agenttest.Reply {
				if said++; said <= len(c.does) {
					return c.does[said-1]
				}
				return agenttest.Reply{Text: "Done."}
			}})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			p := exec.CommandContext(ctx, claude, "-p", "--permission-mode", mode)
			p.Dir, p.Stdin = work, strings.NewReader(c.prompt)
			p.Env = []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + home, "CLAUDE_CONFIG_DIR=" + home, "TMPDIR=" + t.TempDir(), "EVOLVE_HOME=" + filepath.Join(home, "data"),
				"ANTHROPIC_API_KEY=" + agenttest.Key, "ANTHROPIC_BASE_URL=" + server.Root, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1", "IS_SANDBOX=1"}
			out, err := p.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			// The hook's text is in no request but one that it was called for.
			if !slices.ContainsFunc(server.Requests()[min(len(c.does), len(server.Requests())):], func(q agenttest.Request) bool { return strings.Contains(q.Text, c.want) }) {
				t.Errorf("no request of %d has %q: %s", len(server.Requests()), c.want, out)
			}
			if _, err := os.Stat(filepath.Join(work, "ran")); c.runs != "" && (err == nil) != (c.runs == "yes") {
				t.Errorf("the call should run: %s; what it makes: %v", c.runs, err)
			}
		})
	}
}

// TestRealClaudeRuleFile has it call a rule file, installed as its README says: the call is
// stopped, and what the rule says reaches the model; a call beside it runs.
func TestRealClaudeRuleFile(t *testing.T) {
	claude := agenttest.RealClaude(t)
	bin, home, work := built(t), t.TempDir(), t.TempDir()
	w, err := WriteRule(home, "no-force", rulefile.Rule{Tool: "Bash", Program: "git", Words: []string{"push", "-f"}, Say: "Push without -f."}, "git push -f")
	if err != nil {
		t.Fatal(err)
	}
	install(t, w, filepath.Join(home, "settings.json"))
	does := []agenttest.Op{agenttest.Bash("touch stopped && git push -uf origin main"), agenttest.Bash("touch ran || git push")}
	said := 0
	server := agenttest.Start(t, agenttest.Config{Side: "A title", Answer: func(agenttest.Request) agenttest.Reply {
		if said++; said <= len(does) {
			return agenttest.Reply{Tools: does[said-1 : said]}
		}
		return agenttest.Reply{Text: "Done."}
	}})
	p := exec.CommandContext(t.Context(), claude, "-p", "--permission-mode", "bypassPermissions")
	p.Dir, p.Stdin = work, strings.NewReader("push it")
	p.Env = []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + home, "CLAUDE_CONFIG_DIR=" + home, "TMPDIR=" + t.TempDir(), "EVOLVE_HOME=" + filepath.Join(home, "data"),
		"ANTHROPIC_API_KEY=" + agenttest.Key, "ANTHROPIC_BASE_URL=" + server.Root, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1", "IS_SANDBOX=1"}
	if out, err := p.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !slices.ContainsFunc(server.Requests(), func(q agenttest.Request) bool { return strings.Contains(q.Text, "Push without -f.") }) {
		t.Errorf("no request of %d has what the rule says", len(server.Requests()))
	}
	for name, want := range map[string]bool{"stopped": false, "ran": true} {
		if _, err := os.Stat(filepath.Join(work, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// install puts the entry of the README into settings.
func install(t *testing.T, w *Written, settings string) {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(w.Folder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	entry := readme[bytes.Index(readme, []byte("\n    {")):]
	text, err := json.Marshal(map[string]json.RawMessage{"hooks": bytes.TrimSpace(entry)})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
