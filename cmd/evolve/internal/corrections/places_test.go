package corrections

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/corrections"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// A rule is looked for in what the sessions that corrected it load, and no other project's.
func TestPlaces(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for name, text := range map[string]string{
		"src/shop/.git/HEAD":            "",
		"src/shop/CLAUDE.md":            "@docs/style.md\n\n- Run the linter before you report.\n",
		"src/shop/docs/style.md":        "- Draw no pie charts.\n",
		"src/shop/sub/more.go":          "",
		"src/site/.git/HEAD":            "",
		".claude/rules/prices.md":       "- Prices have two decimals.\n",
		".codex/AGENTS.md":              "- Never push to main.\n",
		".claude/skills/plot/SKILL.md":  "---\nname: plot\ndescription: Plots.\n---\n- Use a log scale.\n",
		"elsewhere/not/a/repository.md": "",
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	corrected := func(id, agent, folder, rule, concerns string) *harvest.Session {
		return &harvest.Session{ID: id, Agent: agent, Path: id, CWD: filepath.Join(home, folder), Turns: []harvest.Turn{
			{ID: id + "1", Prompt: "do it", Answer: "done", Reading: &harvest.Reading{Label: harvest.Corrected, Rule: rule, Concerns: concerns, Words: rule, Reply: 1, By: "model"}},
			{ID: id + "2", Prompt: rule, Answer: "so"}}}
	}
	const lint, pies, prices, push, log, tabs, dates = "Run the linter before you report", "Draw no pie charts", "Prices have two decimals",
		"Never push to main", "Use a log scale", "Indent by tabs alone", "Write dates as ISO 8601 has them"
	sessions := []*harvest.Session{
		corrected("a", "claude-code", "src/shop/sub", lint, "standing"),
		corrected("b", "claude-code", "src/shop", pies, ""),
		corrected("c", "claude-code", "src/site", prices, "standing"),
		corrected("d", "claude-code", "src/site", push, "standing"), // Codex alone has it
		corrected("e", "claude-code", "src/shop", log, "skill:plot"),
		corrected("f", "claude-code", "src/shop", tabs, "standing"),
		corrected("g", "codex", "src/shop", dates, "standing"),
		corrected("h", "codex", "src/site", dates, "standing"),
	}
	r := corrections.Of(sessions, nil, "", nil)
	p := newPlaces(&skill.Layout{Getenv: func(string) string { return "" }}, sessions)
	r.Standing(p.texts(r))
	p.place(r)
	want := map[string][3]string{
		lint:   {"shop/CLAUDE.md"},
		pies:   {"shop/docs/style.md"},
		prices: {"~/.claude/rules/prices.md"},
		push:   {"", "site/AGENTS.md", "~/.claude/CLAUDE.md"},
		log:    {"SKILL.md"},
		tabs:   {"", "shop/CLAUDE.md", "~/.claude/CLAUDE.md"},
		dates:  {"", "", "~/.codex/AGENTS.md"},
	}
	for _, x := range r.Rules {
		if w := x.Written; [3]string{w.File, w.Project, w.Own} != want[x.Rule] {
			t.Errorf("%s: %+v, want %q", x.Rule, w, want[x.Rule])
		}
	}
	if len(r.Rules) != len(want) {
		t.Errorf("%d rules, want %d", len(r.Rules), len(want))
	}
}
