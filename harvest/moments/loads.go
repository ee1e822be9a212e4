package moments

import (
	"path"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/subject"
)

// names are the files of standing instructions that agents load, by the end of their paths.
var names = map[string][]string{
	"claude-code": {"CLAUDE.md", "CLAUDE.local.md"},
	"codex":       {"AGENTS.md", "AGENTS.override.md"},
	"copilot-cli": {"AGENTS.md", "copilot-instructions.md"},
	"gemini":      {"GEMINI.md"},
	"pi":          {"AGENTS.md", "CLAUDE.md"},
}

// Usual is a Loads that goes by the names of files alone: a file in a folder of a repository
// is taken for loaded in all of it.
func Usual(agent, _ string, file subject.Ref, _ string) bool {
	_, at := file.Place()
	return slices.Contains(names[agent], path.Base(at)) || agent == "claude-code" && strings.HasPrefix(at, ".claude/rules/")
}
