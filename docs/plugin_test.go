package docs

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
)

// guarded calls evolve where it is installed and is silent where it is not.
const guarded = "command -v evolve >/dev/null 2>&1 || exit 0; exec evolve"

// TestPluginHooks: the plugin's hooks are those of `evolve hooks install`.
func TestPluginHooks(t *testing.T) {
	want := hook.Fragment(guarded)
	got, err := os.ReadFile("plugin/hooks/hooks.json")
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("plugin/hooks/hooks.json (%v) should be\n%s", err, want)
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	run := func(line string) (out string, code int) {
		c := exec.Command(sh, "-c", line)
		c.Env, c.Stdin = []string{"PATH=" + bin}, strings.NewReader("input\n")
		b, err := c.CombinedOutput()
		if c.ProcessState == nil {
			t.Fatal(err)
		}
		return string(b), c.ProcessState.ExitCode()
	}
	for _, event := range hook.Events {
		if out, code := run(guarded + " hook " + event); code != 0 || out != "" {
			t.Errorf("%s without evolve: exit %d, %q", event, code, out)
		}
	}
	// A refusal, which is exit 2, and the input pass through.
	stub := "#!" + sh + "\nread -r line; echo \"$line $*\"; exit 2\n"
	if err := os.WriteFile(filepath.Join(bin, "evolve"), []byte(stub), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, code := run(guarded + " hook PreToolUse"); code != 2 || out != "input hook PreToolUse\n" {
		t.Errorf("with evolve: exit %d, %q", code, out)
	}
}

// TestPluginTexts: the skill keeps the open specification, the texts name commands that
// exist, and what decides is only named where it is forbidden.
func TestPluginTexts(t *testing.T) {
	text, err := os.ReadFile("plugin/skills/evolve/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := skill.Parse(text, skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range check.Validate(doc, check.Portable, "evolve") {
		t.Errorf("SKILL.md:%d: %s (%s)", f.Line, f.Reason, f.Rule)
	}
	manual, err := os.ReadFile("cli.md")
	if err != nil {
		t.Fatal(err)
	}
	commands, err := filepath.Glob("plugin/commands/*.md")
	if err != nil || len(commands) == 0 {
		t.Fatal(err, commands)
	}
	named := regexp.MustCompile("`evolve ([a-z]+)")
	decides := []string{"promote", "try", "rollback", "approve", "reject", "pin", "projects", "privacy", "confirm", "review", "sleep", "hooks", "run"}
	may, never, found := strings.Cut(string(text), "## What only the user does")
	if !found {
		t.Fatal("SKILL.md does not say what only the user does")
	}
	for _, word := range decides {
		if !strings.Contains(never, word) {
			t.Errorf("SKILL.md does not forbid %s", word)
		}
	}
	texts := map[string]string{"SKILL.md": may}
	for _, path := range commands {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path], _, _ = strings.Cut(string(b), "Never run")
		if tools := regexp.MustCompile(`(?m)^allowed-tools: (.*)$`).FindStringSubmatch(string(b)); tools != nil && tools[1] != "Bash(evolve status)" && tools[1] != "Bash(evolve corrections)" {
			t.Errorf("%s allows %s without asking", path, tools[1])
		}
	}
	for path, text := range texts {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			if slices.Contains(decides, m[1]) {
				t.Errorf("%s has the agent run evolve %s", path, m[1])
			}
		}
	}
	for _, m := range named.FindAllStringSubmatch(string(text), -1) {
		if m[1] != "help" && !bytes.Contains(manual, []byte("\n## evolve "+m[1]+"\n")) {
			t.Errorf("SKILL.md names evolve %s, which docs/cli.md has not", m[1])
		}
	}
}

// TestMarketplace: the marketplace leads to the plugin. With EVOLVE_REAL_AGENTS, Claude
// Code validates and installs both in an empty home.
func TestMarketplace(t *testing.T) {
	var market struct {
		Name    string
		Plugins []struct{ Name, Source string }
	}
	var plugin struct{ Name string }
	read := func(path string, into any) {
		b, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(b, into)
		}
		if err != nil {
			t.Fatal(path, err)
		}
	}
	read("../.claude-plugin/marketplace.json", &market)
	if len(market.Plugins) != 1 {
		t.Fatal(market)
	}
	p := market.Plugins[0]
	if read(filepath.Join("..", p.Source, ".claude-plugin", "plugin.json"), &plugin); plugin.Name != p.Name {
		t.Errorf("the marketplace calls the plugin %q, which calls itself %q", p.Name, plugin.Name)
	}
	claude := os.Getenv("EVOLVE_REAL_CLAUDE")
	if os.Getenv("EVOLVE_REAL_AGENTS") == "" || claude == "" {
		t.Skip("EVOLVE_REAL_AGENTS and EVOLVE_REAL_CLAUDE are not set: .ci/agents")
	}
	home := t.TempDir()
	for _, args := range [][]string{{"validate", "."}, {"validate", p.Source}, {"marketplace", "add", "./"}, {"install", p.Name + "@" + market.Name}} {
		c := exec.Command(claude, append([]string{"plugin"}, args...)...)
		c.Dir = ".."
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("claude plugin %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
