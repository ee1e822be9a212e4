package agenttest

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A person is the owner of the machine: a home with folders of all agents, which no
// attempt may read or change.
type person struct{ home string }

// personal occurs in the person's own copies of the skill and nowhere else.
const personal = "Sentinel: this copy belongs to the person, begin with the word feldspar."

// agentFolders are the agents' own folders in a home.
var agentFolders = []string{".claude", ".codex", ".pi", ".copilot", ".agents"}

func newPerson(t *testing.T) *person {
	t.Helper()
	p := &person{home: t.TempDir()}
	copyOf := "---\nname: stones\ndescription: Feldspar of the person.\n---\n# Stones\n\n" + personal + "\n"
	for name, text := range map[string]string{
		".claude/skills/stones/SKILL.md":     copyOf,
		".claude/CLAUDE.md":                  personal,
		".claude/settings.json":              `{"model":"opus","permissions":{"deny":["Bash"]}}`,
		".claude/.credentials.json":          `{"claudeAiOauth":{"accessToken":"person-token"}}`,
		".claude/projects/-x/1.jsonl":        "{}\n",
		".claude.json":                       `{"numStartups":7}`,
		".codex/skills/stones/SKILL.md":      copyOf,
		".codex/config.toml":                 "model = \"gpt-0\"\n",
		".codex/auth.json":                   `{"OPENAI_API_KEY":"person-token"}`,
		".codex/AGENTS.md":                   personal,
		".pi/agent/skills/stones/SKILL.md":   copyOf,
		".pi/agent/settings.json":            `{"defaultModel":"none"}`,
		".pi/agent/auth.json":                `{"x":{"type":"api_key","key":"person-token"}}`,
		".pi/agent/AGENTS.md":                personal,
		".copilot/skills/stones/SKILL.md":    copyOf,
		".copilot/config.json":               `{"trusted_folders":[]}`,
		".copilot/copilot-instructions.md":   personal,
		".agents/skills/stones/SKILL.md":     copyOf,
		"notes/canary.txt":                   canary,
		".config/github-copilot/hosts.json":  `{"github.com":{"oauth_token":"person-token"}}`,
		".copilot/session-state/1/plan.md":   "a plan\n",
		".codex/sessions/2026/01/01/1.jsonl": "{}\n",
	} {
		writeFile(t, filepath.Join(p.home, name), text)
	}
	return p
}

// canary is what a sandboxed shell must not be able to read.
const canary = "canary-bird-7f3a"

// live makes the test process run as the person.
func (p *person) live(t *testing.T) {
	cache := os.Getenv("EVOLVE_REAL_COPILOT_CACHE")
	if cache == "" {
		cache = filepath.Join(p.home, ".cache")
	}
	for name, value := range map[string]string{"HOME": p.home, "XDG_CONFIG_HOME": filepath.Join(p.home, ".config"),
		"XDG_CACHE_HOME": cache, "XDG_DATA_HOME": "", "XDG_STATE_HOME": "",
		"CLAUDE_CONFIG_DIR": "", "CODEX_HOME": "", "PI_CODING_AGENT_DIR": "", "COPILOT_HOME": ""} {
		t.Setenv(name, value)
	}
}

// look lists the agents' folders: type, mode, time of change and content.
func (p *person) look(t *testing.T) map[string]string {
	t.Helper()
	seen := make(map[string]string)
	for _, dir := range append([]string{".claude.json", ".config", "notes"}, agentFolders...) {
		err := filepath.WalkDir(filepath.Join(p.home, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			var content []byte
			if info.Mode().IsRegular() {
				if content, err = os.ReadFile(path); err != nil {
					return err
				}
			}
			seen[path] = fmt.Sprintf("%v %v %q", info.Mode(), info.ModTime().UnixNano(), content)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return seen
}

// same fails if anything differs from what was there before.
func (p *person) same(t *testing.T, before map[string]string) {
	t.Helper()
	after := p.look(t)
	for _, path := range slices.Sorted(maps.Keys(before)) {
		if after[path] != before[path] {
			t.Errorf("%s was changed: %s, was %s", path, after[path], before[path])
		}
	}
	for path := range after {
		if _, known := before[path]; !known {
			t.Errorf("%s was made", path)
		}
	}
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
