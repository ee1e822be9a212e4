package deps

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/workspace"
)

// tree fills a folder with files.
func tree(files map[string]string) func(dir string) error {
	return func(dir string) error { return workspace.Write(dir, files) }
}

// install makes what package managers make, and counts how often it ran.
const install = `mkdir -p node_modules/a "$HOME/.local/lib" pkg/b/target && echo 1 > node_modules/a/index.js && echo x >> pkg/main.go && touch made.txt`

func TestPrepare(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := &Cache{Dir: filepath.Join(t.TempDir(), "setup"), Now: func() time.Time { return now }}
	defer c.Close()
	cmd := Command{Line: install, Bare: true}
	files := map[string]string{"package-lock.json": "1", "pkg/main.go": "package main\n"}
	p, err := c.Prepare(t.Context(), cmd, "/src/a", tree(files))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"made.txt", "node_modules", "pkg/b"}; !slices.Equal(p.Made, want) {
		t.Errorf("made %q, want %q", p.Made, want)
	}
	if want := []string{"PYTHONUSERBASE=" + filepath.Join(p.Root, "home", ".local")}; !slices.Equal(p.Env, want) {
		t.Errorf("variables %q, want %q", p.Env, want)
	}
	repo := "/src/a"
	same := func(name string, cmd Command, files map[string]string, want bool) {
		t.Helper()
		q, err := c.Prepare(t.Context(), cmd, repo, tree(files))
		if err != nil || (q.Root == p.Root) != want {
			t.Errorf("%s: %+v, %v", name, q, err)
		}
	}
	same("again", cmd, files, true)
	same("other sources", cmd, map[string]string{"package-lock.json": "1", "pkg/main.go": "package other\n"}, false)
	same("other lock file", cmd, map[string]string{"package-lock.json": "2", "pkg/main.go": "package main\n"}, false)
	same("a lock file more", cmd, map[string]string{"package-lock.json": "1", "pkg/go.sum": "", "pkg/main.go": ""}, false)
	repo = "/src/b"
	same("other repository", cmd, files, false)
	repo = "/src/a"
	same("other command", Command{Line: install + " ", Bare: true}, files, false)

	// The next process finds it.
	d := &Cache{Dir: c.Dir, Now: c.Now}
	if q, err := d.Prepare(t.Context(), cmd, "/src/a", tree(files)); err != nil || q.Root != p.Root || !slices.Equal(q.Made, p.Made) {
		t.Errorf("%+v, %v", q, err)
	}
	// What is in use stays, however old it is.
	now = now.Add(365 * 24 * time.Hour)
	d.sweep()
	if _, err := os.Stat(p.Root); err != nil {
		t.Errorf("what is in use was removed: %v", err)
	}
	if err := errors.Join(c.Close(), d.Close()); err != nil {
		t.Fatal(err)
	}
	d.sweep()
	if left, err := os.ReadDir(c.Dir); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// What a command makes of a tree reaches no other commit and no other repository, though their
// lock files are the same.
func TestNothingOfAnotherTree(t *testing.T) {
	c := &Cache{Dir: t.TempDir()}
	defer c.Close()
	cmd := Command{Line: `mkdir -p node_modules && cp src.txt node_modules/built.txt && ln -s ../src.txt node_modules/own && cp src.txt made.txt`, Bare: true}
	for _, at := range []struct{ repo, text string }{{"/src/alpha", "alpha v1"}, {"/src/alpha", "alpha v2"}, {"/src/beta", "beta v1"}} {
		p, err := c.Prepare(t.Context(), cmd, at.repo, tree(map[string]string{"package-lock.json": "1", "src.txt": at.text}))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"src.txt", "made.txt", "node_modules/built.txt", "node_modules/own"} {
			if text, err := os.ReadFile(filepath.Join(p.Tree, name)); err != nil || string(text) != at.text {
				t.Errorf("%s: %s is %q, %v", at.text, name, text, err)
			}
		}
	}
}

// What is larger than the cache may be loses what was not used for longest.
func TestSweepBySize(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := &Cache{Dir: t.TempDir(), MaxBytes: 2500, Now: func() time.Time { return now }}
	var roots []string
	for _, lock := range []string{"1", "2", "3"} {
		now = now.Add(time.Hour)
		p, err := c.Prepare(t.Context(), Command{Line: "head -c 1000 /dev/zero > big", Bare: true}, "/src/a", tree(map[string]string{"go.sum": lock}))
		if err != nil {
			t.Fatal(err)
		}
		roots = append(roots, p.Root)
		if err := errors.Join(c.Close(), os.Chtimes(filepath.Join(p.Root, noteFile), now, now)); err != nil {
			t.Fatal(err)
		}
	}
	c.sweep()
	for i, root := range roots {
		if _, err := os.Stat(root); (err == nil) != (i > 0) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// A command that fails leaves nothing, and says why.
func TestPrepareFails(t *testing.T) {
	c := &Cache{Dir: t.TempDir()}
	defer c.Close()
	for line, want := range map[string]string{
		"echo no such package >&2; exit 7":       "exit 7: no such package",
		"no-such-program-anywhere":               "exit 127",
		"for i in $(seq 300); do touch $i; done": "more than 200 places",
	} {
		_, err := c.Prepare(t.Context(), Command{Line: line, Bare: true}, "/src/a", tree(map[string]string{"a": "x"}))
		if failed := new(FailedError); !errors.As(err, &failed) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
	entries, err := os.ReadDir(c.Dir)
	for _, e := range entries {
		if e.IsDir() {
			t.Errorf("left: %s", e.Name())
		}
	}
	if err != nil {
		t.Error(err)
	}
}

func TestCommandOfRepository(t *testing.T) {
	r := &Repositories{Line: "all", Lines: map[string]string{"/src/web": "npm ci", "/src/docs": ""}}
	for repo, want := range map[string]string{"/src/web": "npm ci", "/src/web/app": "npm ci", "/src/website": "all", "/src/docs": "", "/": "all"} {
		if got := r.command(repo).Line; got != want || (r.Identity(repo) == "") != (want == "") {
			t.Errorf("%s: %q, want %q", repo, got, want)
		}
	}
}

// A workspace has what was prepared, from a sandbox read-only and without a network, and git
// does not see it.
func TestWorkspaceIsPrepared(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on PATH")
	}
	bare := process.Available() != nil
	repo := t.TempDir()
	git := func(dir string, args ...string) string {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if err := workspace.Write(repo, map[string]string{"package-lock.json": "1", "pkg/main.go": "package main\n"}); err != nil {
		t.Fatal(err)
	}
	git(repo, "init", "-q")
	git(repo, "add", "-A")
	git(repo, "commit", "-q", "-m", "one")
	c := &eval.Case{ID: "1", Workspace: &eval.Workspace{Repo: repo, Commit: git(repo, "rev-parse", "HEAD")}}

	cache := &Cache{Dir: filepath.Join(t.TempDir(), "setup")}
	defer cache.Close()
	w := &workspace.Recorded{Setup: &Repositories{Cache: cache, Line: install, Bare: bare}}
	defer w.Close()
	f, err := w.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := git(f.Dir, "status", "--porcelain"); got != "" {
		t.Errorf("git status: %s", got)
	}
	if text, err := os.ReadFile(filepath.Join(f.Dir, "pkg", "main.go")); err != nil || string(text) != "package main\n" {
		t.Errorf("a file of the tree is %q, %v", text, err)
	}
	if err := errors.Join(os.Remove(filepath.Join(f.Dir, "pkg", "main.go")), workspace.Recommit(f.Dir)); err != nil {
		t.Fatal(err)
	}
	if got := git(f.Dir, "status", "--porcelain") + git(f.Dir, "ls-files"); got != "package-lock.json" {
		t.Errorf("committed anew: %s", got)
	}
	if f.Prepared == nil || w.PreparedIn(f.Dir) != f.Prepared || w.Prepared(c) == "" {
		t.Fatalf("%+v", f.Prepared)
	}
	programs := process.Programs{Bare: bare, Prepared: func(dir string) (string, []string) { p := w.PreparedIn(dir); return p.Root, p.Env }}
	check := func(line string) (string, int) {
		t.Helper()
		out, stderr, exit, err := programs.RunProgram(t.Context(), f.Dir, []string{"sh", "-c", line}, nil, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return string(out) + string(stderr), exit
	}
	if out, exit := check(`cat node_modules/a/index.js && ls -d "$PYTHONUSERBASE/lib" pkg/b/target`); exit != 0 {
		t.Errorf("exit %d: %s", exit, out)
	}
	if !bare {
		if out, exit := check("echo 2 > node_modules/a/index.js"); exit == 0 || !strings.Contains(out, "ead-only") {
			t.Errorf("it can be written to: exit %d: %s", exit, out)
		}
		w := &workspace.Recorded{Setup: &Repositories{Cache: cache, Line: "cat " + repo + "/package-lock.json"}}
		defer w.Close()
		if gone := new(workspace.UnreplayableError); !errors.As(w.Check(t.Context(), c), &gone) || !strings.Contains(gone.Error(), "prepare dependencies (cat ") {
			t.Errorf("the command reads what is not in its sandbox: %v", gone)
		}
	}
}
