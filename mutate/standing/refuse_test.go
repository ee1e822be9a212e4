package standing_test

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/standing"
	"github.com/skill-evolve/evolve/mutate/subject"
)

func TestCheck(t *testing.T) {
	on := build(t, scene{files: files("~/.claude/CLAUDE.md ~/.codex/AGENTS.md AGENTS.md docs/rules.md docs/imported.md sub/deep/AGENTS.md .claude/rules/a.md ../AGENTS.md")})
	write(t, on.path("CLAUDE.md"), "See @docs/imported.md\n")
	t.Setenv("HOME", on.home)
	layout := &skill.Layout{Getenv: func(string) string { return "" }}
	l := &standing.Loader{Layout: layout}
	for _, c := range []struct{ name, agent, says string }{
		{"~/.claude/CLAUDE.md", "claude-code", ""},
		{"~/.claude/CLAUDE.md", "codex", "Codex does not load ~/.claude/CLAUDE.md: Claude Code does"},
		{"~/.codex/AGENTS.md", "claude-code", "Claude Code does not load ~/.codex/AGENTS.md: Codex does"},
		{"AGENTS.md", "codex", ""},
		{"AGENTS.md", "claude-code", "Claude Code does not load repo/AGENTS.md: Codex, pi, Copilot and Cursor do"},
		{"sub/deep/AGENTS.md", "codex", ""},
		{".claude/rules/a.md", "claude-code", ""},
		{"docs/imported.md", "claude-code", ""},
		{"docs/imported.md", "pi", "pi does not load"},
		{"docs/rules.md", "", "no agent is known to load repo/docs/rules.md"},
		{"docs/rules.md", "simulated", "no agent is known to load repo/docs/rules.md"},
		{"AGENTS.md", "", ""},
	} {
		key, err := layout.Key(on.path(c.name))
		if err != nil {
			t.Fatal(err)
		}
		err = l.Check(key, c.agent)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s for %q: %v, want %q", c.name, c.agent, err, c.says)
		}
	}
	if err := l.Check("dataviz", "codex"); err != nil {
		t.Errorf("a skill: %v", err)
	}
	write(t, on.path("../further/.git"), "gitdir: "+on.repo+"/.git/worktrees/further\n")
	if !l.Loads("codex", "", subject.OfFile(on.repo, "AGENTS.md"), on.path("../further")) {
		t.Error("a session in a further working tree does not load the repository's file")
	}
	if l.Loads("codex", "", subject.OfFile(on.repo, "AGENTS.md"), on.home) {
		t.Error("a session elsewhere loads a repository's file")
	}
	if !l.Loads("pi", "", subject.OfFile(on.repo, "AGENTS.md"), on.path("sub/deep")) {
		t.Error("a session in a folder of the repository does not load its file")
	}
}
