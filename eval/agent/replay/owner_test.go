package replay

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/setup"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// Both arms have the owner's set-up and differ in what is tried alone: a skill, or one of the
// files of the set-up itself.
func TestOwner(t *testing.T) {
	owner := &setup.Set{Files: []setup.File{{Path: ".claude/CLAUDE.md", Text: []byte("live\n")}, {Path: ".claude/rules/a.md", Text: []byte("rule\n")}},
		Notes: map[string][]setup.File{"-src-shop": {{Path: "MEMORY.md", Text: []byte("note\n")}}}}
	l := Layout{Config: ".claude", Owner: owner}
	c := &eval.Case{ID: "c", Prompt: "x", Workspace: &eval.Workspace{Repo: "/src/shop"}}
	text, err := skill.Parse([]byte("candidate\n"), skill.Options{})
	if text == nil {
		t.Fatal(err)
	}
	const rules, notes = "home/.claude/rules/a.md", "notes/MEMORY.md"
	for name, k := range map[string]struct {
		variant eval.Variant
		want    []string
		own     string // ~/.claude/CLAUDE.md
	}{
		"a skill":       {stones(t, ""), []string{"home/.claude/CLAUDE.md", rules, "home/.claude/skills/stones/SKILL.md", notes}, "live\n"},
		"no skill":      {eval.Variant{Name: "stones"}, []string{"home/.claude/CLAUDE.md", rules, notes}, "live\n"},
		"a file":        {eval.Variant{Name: "f", Path: "~/.claude/CLAUDE.md", Doc: text}, []string{"home/.claude/CLAUDE.md", rules, notes}, "candidate\n"},
		"without it":    {eval.Variant{Name: "f", Path: "~/.claude/CLAUDE.md"}, []string{rules, notes}, ""},
		"another place": {eval.Variant{Name: "f", Path: "~/.claude/rules/b.md", Doc: text}, []string{"home/.claude/CLAUDE.md", rules, "home/.claude/rules/b.md", notes}, "live\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(eval.Task{Variant: k.variant, Case: c}, l)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			slices.Sort(k.want)
			if got := list(t, s.Root); !slices.Equal(got, k.want) {
				t.Errorf("the stage holds %q, want %q", got, k.want)
			}
			got, err := os.ReadFile(filepath.Join(s.Home, ".claude", "CLAUDE.md"))
			if string(got) != k.own || (k.own == "") != errors.Is(err, fs.ErrNotExist) {
				t.Errorf("CLAUDE.md = %q, %v, want %q", got, err, k.own)
			}
		})
	}
	s, err := Open(eval.Task{}, l)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := list(t, s.Root); len(got) > 0 || s.Notes != "" {
		t.Errorf("a call that is no replay gets %q", got)
	}
}

// What a project's settings would run does not run, and its skills are offered only where its
// owner's set-up is.
func TestOwnersProject(t *testing.T) {
	for name, owner := range map[string]*setup.Set{"owner": {}, "bare": nil} {
		t.Run(name, func(t *testing.T) {
			ws := tree(t, map[string]string{".claude/settings.json": "{}", ".claude/settings.local.json": "{}", ".claude/rules/a.md": "x",
				".pi/skills/gems/SKILL.md": "x", ".pi/skills/stones/SKILL.md": stonesMD, ".pi/skills/empty/x": "x"})
			s, err := Open(eval.Task{Variant: stones(t, ""), Case: &eval.Case{ID: "c", Prompt: "x"}, Workspace: ws}, Layout{Config: ".claude", Owner: owner})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			files, skills := []string{".claude/rules/a.md", ".pi/skills/empty/x", ".pi/skills/gems/SKILL.md"}, []string{filepath.Join(s.Workspace, ".pi", "skills", "gems")}
			if owner == nil {
				files, skills = slices.Insert(files, 1, ".claude/settings.json", ".claude/settings.local.json"), nil
			}
			if got := list(t, ws); !slices.Equal(got, files) {
				t.Errorf("the workspace holds %q, want %q", got, files)
			}
			if got := s.ProjectSkills(".pi/skills", ".agents/skills"); !slices.Equal(got, skills) {
				t.Errorf("skills = %q, want %q", got, skills)
			}
			if changed, err := s.Changed(); err != nil || len(changed) > 0 {
				t.Errorf("changed = %q, %v", changed, err)
			}
		})
	}
}

// A project may have anything where its settings would be: an attempt begins all the same.
func TestOwnersOddSettings(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"a folder":             {".claude/settings.json/x/y": "x", "a.txt": "x"},
		"both are folders":     {".claude/settings.json/x": "x", ".claude/settings.local.json/x": "x", "a.txt": "x"},
		".claude is a file":    {".claude": "x", "a.txt": "x"},
		"a link to a folder":   {".claude/settings.json@": t.TempDir(), "a.txt": "x"},
		"settings and nothing": {".claude/settings.json": "{}", "a.txt": "x"},
	} {
		t.Run(name, func(t *testing.T) {
			ws := tree(t, files)
			s, err := Open(eval.Task{Variant: stones(t, ""), Case: &eval.Case{ID: "c", Prompt: "x"}, Workspace: ws}, Layout{Config: ".claude", Owner: &setup.Set{}})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			want := []string{"a.txt"}
			if _, file := files[".claude"]; file {
				want = []string{".claude", "a.txt"}
			}
			if got := list(t, ws); !slices.Equal(got, want) {
				t.Errorf("the workspace holds %q, want %q", got, want)
			}
		})
	}
}

// Settings that a link brings in from outside do not load either.
func TestOwnersLink(t *testing.T) {
	out := tree(t, map[string]string{"settings.json": "{}"})
	ws := tree(t, map[string]string{".claude@": out, "a.txt": "x"})
	s, err := Open(eval.Task{Variant: stones(t, ""), Case: &eval.Case{ID: "c", Prompt: "x"}, Workspace: ws}, Layout{Config: ".claude", Owner: &setup.Set{}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := list(t, ws); !slices.Equal(got, []string{"a.txt"}) || len(list(t, out)) != 1 {
		t.Errorf("the workspace holds %q, the folder outside %q", got, list(t, out))
	}
}

// A skill that is too large to be copied for every attempt is offered all the same.
func TestLargeNeighbour(t *testing.T) {
	dir := tree(t, map[string]string{"SKILL.md": "---\nname: maps\ndescription: d\n---\n", "lib/big": ""})
	if err := os.Truncate(filepath.Join(dir, "lib", "big"), maxSkillBytes+1); err != nil {
		t.Fatal(err)
	}
	s, err := Open(eval.Task{Variant: stones(t, ""), Case: &eval.Case{ID: "c", Prompt: "x"}, Others: []eval.Offer{{Name: "maps", Dir: dir}}}, Layout{Config: ".claude"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := list(t, s.Skills); !slices.Equal(got, []string{"maps/SKILL.md", "stones/SKILL.md"}) {
		t.Errorf("skills = %q", got)
	}
}
