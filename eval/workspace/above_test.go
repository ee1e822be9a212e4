package workspace

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

// A folder of a repository is restored with the instructions that the folders over it have.
func TestAbove(t *testing.T) {
	repo, commit := repository(t, map[string]string{
		"CLAUDE.md": "top", "AGENTS.md": "agents", "README.md": "read", "LINK.md@": "AGENTS.md", "OUT.md@": "README.md",
		".claude/rules/go/style.md": "style", ".claude/rules/names.md": "names", ".claude/rules/notes.txt": "no rule", ".claude/settings.json": "{}",
		"a/CLAUDE.md": "a", "a/.claude/rules/names.md": "nearer",
		"a/b/AGENTS.md": "own", "a/b/README.md": "b", "a/b/main.go": "package b", "a/b/.claude/rules": "a file",
		"a/c/main.go": "package c",
	})
	patterns := []string{"CLAUDE.md", "AGENTS.md", "LINK.md", "OUT.md", ".claude/rules/**.md"}
	for folder, want := range map[string]map[string]string{
		"a/b": {"AGENTS.md": "own", "README.md": "b", "main.go": "package b", "CLAUDE.md": "a", ".claude/rules": "a file"},
		"a/c": {"main.go": "package c", "CLAUDE.md": "a", "AGENTS.md": "agents", "LINK.md": "agents",
			".claude/rules/go/style.md": "style", ".claude/rules/names.md": "nearer"},
	} {
		c := &eval.Case{ID: "1", Workspace: &eval.Workspace{Repo: filepath.Join(repo, folder), Commit: commit}}
		w := &Recorded{Parent: t.TempDir(), Above: patterns}
		if w.Prepared(c) == "" || w.Prepared(c) == (&Recorded{}).Prepared(c) {
			t.Errorf("%s: what was measured without the files counts", folder)
		}
		f, err := w.Open(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if got, names := below(t, f.Dir), slices.Sorted(maps.Keys(want)); !slices.Equal(got, names) {
			t.Errorf("%s: %q, want %q", folder, got, names)
		}
		for name, text := range want {
			if got, err := os.ReadFile(filepath.Join(f.Dir, name)); err != nil || string(got) != text {
				t.Errorf("%s: %s is %q (%v), want %q", folder, name, got, err, text)
			}
		}
		if got, err := f.Before("CLAUDE.md"); err != nil || string(got) != "a" {
			t.Errorf("%s: at the request %q (%v)", folder, got, err)
		}
		f.Close()
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	top := &eval.Case{ID: "1", Workspace: &eval.Workspace{Repo: repo, Commit: commit}}
	if id := (&Recorded{Above: patterns}).Prepared(top); id != "" {
		t.Errorf("the top of a repository is identified by %q", id)
	}
}
