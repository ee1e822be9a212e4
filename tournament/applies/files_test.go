package applies

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

// TestRecordedFiles: the names of a commit's tree, not of what came later, and the case's own.
func TestRecordedFiles(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out[:max(0, len(out)-1)])
	}
	write := func(name string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("HIDDEN"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run("init", "-q")
	write("a.go")
	write("web/b.ts")
	run("add", ".")
	run("commit", "-qm", "one")
	commit := run("rev-parse", "HEAD")
	write("later.go")
	run("add", ".")
	run("commit", "-qm", "two")
	c := eval.Case{Files: map[string]string{"own.md": "HIDDEN"}, Workspace: &eval.Workspace{Repo: dir, Commit: commit}}
	files := Recorded()
	for range 2 {
		got, err := files(t.Context(), &c)
		if want := []string{"own.md", "a.go", "web/b.ts"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	}
	for _, at := range []*eval.Workspace{nil, {Repo: "relative", Commit: commit}, {Repo: filepath.Join(dir, "gone"), Commit: commit}, {Repo: dir, Commit: "0123456789"}} {
		c.Workspace = at
		if got, err := files(t.Context(), &c); err != nil || !slices.Equal(got, []string{"own.md"}) {
			t.Errorf("%+v: %v, %v", at, got, err)
		}
	}
}
