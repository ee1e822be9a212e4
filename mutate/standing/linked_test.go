package standing

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
)

// An agent that loads a link loads the file that it leads to, and not what it replaces.
func TestLinkedFile(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{".git", "web", "plain"} {
		if err := os.Mkdir(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"AGENTS.md", "web/AGENTS.md", "plain/AGENTS.md", "plain/CLAUDE.md"} {
		if err := os.WriteFile(filepath.Join(top, name), []byte("Be brief.\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"CLAUDE.md", "web/CLAUDE.md"} {
		if err := os.Symlink("AGENTS.md", filepath.Join(top, name)); err != nil {
			t.Fatal(err)
		}
	}
	l := &Loader{Layout: &skill.Layout{Getenv: func(string) string { return "" }}}
	for _, k := range []struct {
		file, folder string
		want         When
	}{
		{"AGENTS.md", "", Start}, {"AGENTS.md", "web", Start},
		{"web/AGENTS.md", "web", Start}, {"web/AGENTS.md", "", Touch}, {"web/AGENTS.md", "plain", Never},
		{"plain/AGENTS.md", "plain", Never},
	} {
		if got := l.When("claude-code", "", subject.OfFile(top, k.file), filepath.Join(top, k.folder)); got != k.want {
			t.Errorf("%s in %q: %v, want %v", k.file, k.folder, got, k.want)
		}
	}
	if by := l.LoadedBy(subject.OfFile(top, "AGENTS.md")); !slices.Contains(by, "claude-code") || !slices.Contains(by, "codex") {
		t.Error(by)
	}
}
