package replay_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// The workspace of a session in a folder of a repository is that folder.
func TestPathInAFolder(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{".git", "src/app"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range []struct{ folder, path, want string }{
		{"", "docs/AGENTS.md", "docs/AGENTS.md"},
		{"src", "CLAUDE.md", "CLAUDE.md"},
		{"src", ".claude/rules/a.md", ".claude/rules/a.md"},
		{"src", "src/CLAUDE.md", "CLAUDE.md"},
		{"src/app", "src/CLAUDE.md", "CLAUDE.md"},
		{"src", "src/app/AGENTS.md", "app/AGENTS.md"},
		{"src", "~/.claude/CLAUDE.md", "~/.claude/CLAUDE.md"},
	} {
		task := eval.Task{Variant: eval.Variant{Path: k.path}, Case: &eval.Case{Workspace: &eval.Workspace{Repo: filepath.Join(top, k.folder), Commit: "0123456789"}}}
		if got := replay.Path(task); got != k.want {
			t.Errorf("%s in %q is at %q, want %q", k.path, k.folder, got, k.want)
		}
	}
}
