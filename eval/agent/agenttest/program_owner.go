package agenttest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/setup"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/standing"
	"github.com/skill-evolve/evolve/mutate/subject"
)

// project is the folder of which the owner's agent has notes.
const project = "/src/shop"

// ownTexts are all places in which some agent may look for what its owner tells it: "~/…" in
// the home, else in the project's tree. Each holds a sentinel of its own, after what is given
// here.
var ownTexts = map[string]string{
	"~/.claude/CLAUDE.md":                                "@imported.md\n- see @~/notes/imported.md\n`@~/notes/code.md`\n",
	"~/.claude/imported.md":                              "",
	"~/notes/imported.md":                                "",
	"~/notes/code.md":                                    "",
	"~/.claude/rules/plain.md":                           "",
	"~/.claude/rules/deep/below.md":                      "",
	"~/.claude/rules/paths.md":                           "---\npaths: [\"*.sql\"]\n---\n",
	"~/.claude/projects/-src-shop/memory/MEMORY.md":      "",
	"~/.claude/projects/-src-other/memory/MEMORY.md":     "",
	"~/.codex/AGENTS.md":                                 "",
	"~/.codex/memories/memory_summary.md":                "",
	"~/.pi/agent/AGENTS.md":                              "",
	"~/.pi/agent/CLAUDE.md":                              "",
	"~/.pi/agent/APPEND_SYSTEM.md":                       "",
	"~/.copilot/copilot-instructions.md":                 "",
	"~/.copilot/instructions/own.instructions.md":        "",
	"~/.copilot/instructions/deep/below.instructions.md": "",
	"~/.copilot/AGENTS.md":                               "",
	"sub/CLAUDE.md":                                      "",
	"sub/AGENTS.md":                                      "",
	".claude/rules/paths.md":                             "---\npaths: [\"**/*.sql\"]\n---\n",
	".github/instructions/sql.instructions.md":           "---\napplyTo: \"**/*.sql\"\n---\n",
	"CLAUDE.md":                                          "@docs/imported.md\n",
	"docs/imported.md":                                   "",
	"CLAUDE.local.md":                                    "",
	".claude/CLAUDE.md":                                  "",
	".claude/rules/plain.md":                             "",
	"AGENTS.md":                                          "",
	".github/copilot-instructions.md":                    "",
	".github/instructions/all.instructions.md":           "---\napplyTo: \"**\"\n---\n",
	"GEMINI.md":                                          "",
	".claude/skills/of-claude/SKILL.md":                  "",
	".agents/skills/of-agents/SKILL.md":                  "",
	".pi/skills/of-pi/SKILL.md":                          "",
	".github/skills/of-github/SKILL.md":                  "",
	"~/.claude/output-styles/own.md":                     "",
	"~/.codex/memories/rollout_summaries/one.md":         "",
	"~/.claude/projects/-src-shop/memory/on-demand.md":   "",
}

// sentinelOf is what the text at that place tells the model.
func sentinelOf(place string) string { return "Sentinel of the text at " + place + " here." }

// ownText is the text of a place; a skill tells it in its description.
func ownText(place string) string {
	if filepath.Base(place) == "SKILL.md" {
		return fmt.Sprintf("---\nname: %s\ndescription: %s\n---\nDo so.\n", filepath.Base(filepath.Dir(place)), sentinelOf(place))
	}
	return ownTexts[place] + sentinelOf(place) + "\n"
}

// ownSet makes the owner's home, and collects from it.
func ownSet(st *stage, home string) *setup.Set {
	st.Helper()
	for place := range ownTexts {
		if below, ok := strings.CutPrefix(place, "~/"); ok {
			writeFile(st.T, filepath.Join(home, below), ownText(place))
		}
	}
	writeFile(st.T, filepath.Join(home, ".codex", "config.toml"), "[features]\nmemories = true\n")
	set, err := setup.Collect(st.p.Name, setup.Where{Home: home, Getenv: func(string) string { return "" }})
	if err != nil || set == nil {
		st.Fatalf("the owner's set-up: %v, %v", set, err)
	}
	return set
}

// programOwner: what loads at the owner's loads in both arms, and nowhere else. A hook of the
// project does not run.
func programOwner(st *stage) {
	for _, place := range st.p.Loads {
		if _, known := ownTexts[place]; !known {
			st.Fatalf("%s is no place", place)
		}
	}
	ran := filepath.Join(st.dir, "hook-ran")
	gems := filepath.Join(st.dir, "gems")
	writeFile(st.T, filepath.Join(gems, "SKILL.md"), "---\nname: gems\ndescription: Names gems that are cut.\n---\n# Gems\n")
	for _, v := range []eval.Variant{variant(st.T), {Name: "stones"}} {
		dir := filepath.Join(st.temp, "evolve-case-1")
		for place := range ownTexts {
			if !strings.HasPrefix(place, "~/") {
				writeFile(st.T, filepath.Join(dir, place), ownText(place))
			}
		}
		writeFile(st.T, filepath.Join(dir, ".claude", "settings.json"),
			fmt.Sprintf(`{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch %s"}]}]},"permissions":{"deny":["Bash"]}}`, ran))
		writeFile(st.T, filepath.Join(dir, "sub", "query.sql"), "select 1;\n")
		when := st.when(filepath.Join(st.dir, "owner"), dir)
		before := len(st.server.Counted())
		c := plainCase()
		c.Workspace = &eval.Workspace{Repo: project, Commit: strings.Repeat("0", 40)}
		a, err := st.agent.Run(st.Context(), eval.Task{Variant: v, Case: c, Workspace: dir, Seed: 7,
			Others: []eval.Offer{{Name: "gems", Dir: gems}}})
		if err != nil {
			st.Fatal(err)
		}
		if a.Failure != "" || !strings.Contains(a.Answer, good.Text) || len(a.Files) > 0 {
			st.Errorf("attempt = %+v, want an answer and no changed file", a)
		}
		if err := os.RemoveAll(dir); err != nil {
			st.Fatal(err)
		}
		if st.live() {
			st.loaded(st.server.Counted()[before:], when)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		st.Error("a hook of the project has run")
	}
	if _, err := st.agent.Complete(st.Context(), eval.Prompt{System: "You judge.", User: "Judge this."}); err != nil {
		st.Fatal(err)
	}
	all := st.server.Requests()
	if st.live() && among(all[len(all)-1:], "Sentinel of") {
		st.Errorf("the owner's set-up is in a text-only call: %s", all[len(all)-1].Text)
	}
}

// when is when the program has to load each of ownTexts: files of instructions as the table of
// package standing has it for a session in dir, and those of p.Loads at once.
func (st *stage) when(home, dir string) map[string]standing.When {
	st.Helper()
	when := map[string]standing.When{}
	agents := standing.Agents()
	i := slices.IndexFunc(agents, func(a string) bool { return strings.HasPrefix(a, st.p.Name) })
	if i < 0 {
		st.Fatalf("no agent of the table is %s", st.p.Name)
	}
	st.Run("table", func(t *testing.T) { // has the variables for itself
		t.Setenv("HOME", home)
		t.Setenv("USERPROFILE", home)
		l := &standing.Loader{Layout: &skill.Layout{Getenv: func(string) string { return "" }}}
		for place := range ownTexts {
			root, below := dir, place
			if rest, ok := strings.CutPrefix(place, "~/"); ok {
				root, below = "~", rest
			}
			when[place] = l.When(agents[i], "", subject.OfFile(root, below), dir)
			if limited := strings.HasPrefix(ownTexts[place], "---"); when[place] == standing.Touch && !limited && !strings.HasPrefix(place, "sub/") {
				when[place] = standing.Never // the program reads sub/query.sql and nothing in the file's folder
			}
		}
	})
	for _, place := range st.p.Loads {
		if when[place] != standing.Never {
			st.Errorf("the table has %s already", place)
		}
		when[place] = standing.Start
	}
	return when
}

// loaded fails unless each of ownTexts reached the model when it has to.
func (st *stage) loaded(asked []Request, when map[string]standing.When) {
	st.Helper()
	if !among(asked, "Names gems that are cut.") {
		st.Error("the neighbour was not offered")
	}
	for place := range ownTexts {
		now, later := when[place] == standing.Start, when[place] == standing.Touch
		if got := among(asked[:1], sentinelOf(place)); got != now {
			st.Errorf("%s reached the model at once: %v, want %v", place, got, now)
		}
		if got := among(asked, sentinelOf(place)); got != (now || later) {
			st.Errorf("%s reached the model: %v, want %v", place, got, now || later)
		}
	}
}
