package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

// repository makes a repository of two commits in a new folder and returns the
// first.
func repository(t testing.TB, files map[string]string) (dir, commit string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on PATH")
	}
	dir = t.TempDir()
	run := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=dev", "-c", "user.email=dev@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("init", "-q")
	for name, text := range files {
		at := filepath.Join(dir, strings.TrimRight(name, "@*"))
		mode := fs.FileMode(0o600)
		if strings.HasSuffix(name, "*") {
			mode = 0o700
		}
		err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), mode))
		if strings.HasSuffix(name, "@") {
			err = errors.Join(err, os.Remove(at), os.Symlink(text, at))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	run("add", "-A", "-f")
	run("commit", "-q", "-m", "one")
	commit = run("rev-parse", "HEAD")
	if err := os.WriteFile(filepath.Join(dir, "later"), []byte("the answer"), 0o600); err != nil {
		t.Fatal(err)
	}
	run("add", "-A")
	run("commit", "-q", "-m", "two")
	return dir, commit
}

// below lists the files of a folder, without those of the repository that it is.
func below(t testing.TB, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if p == filepath.Join(dir, ".git") {
			return fs.SkipDir
		}
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(dir, p)
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestRecordedWorkspace(t *testing.T) {
	repo, commit := repository(t, map[string]string{
		"README.md": "hello", "bin/run*": "#!/bin/sh\n", "src/a.go": "package a", "link@": "README.md", "src/up@": "../README.md",
		"out@": "../../etc/passwd", "abs@": "/etc/passwd", "chain@": "dir/x", "dir@": "src", "sub/loop@": "loop",
		"pointer.bin":    "version https://git-lfs.github.com/spec/v1\n",
		".gitattributes": "*.bin filter=lfs\n",
	})
	// A filter of the repository's own must not run.
	ran := filepath.Join(t.TempDir(), "ran")
	for _, kv := range [][2]string{{"filter.lfs.smudge", "touch " + ran}, {"filter.lfs.required", "true"}} {
		if out, err := exec.Command("git", "-C", repo, "config", kv[0], kv[1]).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	parent := t.TempDir()
	w := &Recorded{Parent: parent, Base: filepath.Dir(repo)}
	c := &eval.Case{ID: "1", Skill: "s", Prompt: "p", Files: map[string]string{"src/a.go": "package b", "new.txt": "n"},
		Workspace: &eval.Workspace{Repo: filepath.Base(repo), Commit: commit[:10]}}
	if err := w.Check(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	f, err := w.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{".gitattributes", "README.md", "bin/run", "chain", "dir", "link", "new.txt", "pointer.bin", "src/a.go", "src/up"}
	if got := below(t, f.Dir); !slices.Equal(got, want) {
		t.Errorf("the workspace holds %q\nwant %q", got, want)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a filter of the repository ran")
	}
	if text, err := os.ReadFile(filepath.Join(f.Dir, "src", "a.go")); err != nil || string(text) != "package b" {
		t.Errorf("the case's own file: %q (%v)", text, err)
	}
	if text, err := os.ReadFile(filepath.Join(f.Dir, "pointer.bin")); err != nil || !strings.HasPrefix(string(text), "version ") {
		t.Errorf("the pointer: %q (%v)", text, err)
	}
	if info, err := os.Stat(filepath.Join(f.Dir, "bin", "run")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("script: %v (%v)", info, err)
	}

	for name, want := range map[string]string{"README.md": "hello", "new.txt": "n", "src/a.go": "package b", ".git/info/exclude": ""} {
		if text, err := f.Before(name); err != nil || string(text) != want {
			t.Errorf("before, %s held %q (%v)", name, text, err)
		}
	}
	if _, err := f.Before("none.txt"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that was not there: %v", err)
	}

	// What one attempt breaks, the next finds whole; and what it locks is removed.
	for _, err := range []error{os.WriteFile(filepath.Join(f.Dir, "README.md"), []byte("broken"), 0o600), os.Chmod(filepath.Join(f.Dir, "src"), 0)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	second, err := w.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(second.Dir, "README.md")); err != nil || string(text) != "hello" {
		t.Errorf("the next attempt finds %q (%v)", text, err)
	}
	f.Close()
	second.Close()

	// A part of the tree, as a session in a folder of the repository saw it.
	c.Workspace = &eval.Workspace{Repo: filepath.Join(repo, "src"), Commit: commit}
	c.Files = nil
	f, err = w.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if got := below(t, f.Dir); !slices.Equal(got, []string{"a.go"}) {
		t.Errorf("the part holds %q", got)
	}
	f.Close()
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) != 0 {
		t.Errorf("left behind %v (%v)", left, err)
	}
}

func TestRecordedWorkspaceUnreplayable(t *testing.T) {
	repo, commit := repository(t, map[string]string{"a": strings.Repeat("x", 5000)})
	parent := t.TempDir()
	w := &Recorded{Parent: parent}
	defer w.Close()
	at := func(repo, commit string) *eval.Case {
		return &eval.Case{ID: "c1", Skill: "s", Prompt: "p", Checks: []eval.Check{{Type: eval.Contains, Value: "x"}}, Workspace: &eval.Workspace{Repo: repo, Commit: commit}}
	}
	for _, c := range []struct {
		kase *eval.Case
		want string
	}{
		{at(repo+"-gone", commit), "find repository"},
		{at(filepath.Join(repo, "a"), commit), "is no folder"},
		{at(repo, strings.Repeat("ab", 20)), "does not know the commit"},
		{at(repo, "HEAD"), "no commit"},
		{at(repo, ""), "no commit"},
		{at(repo, "--output=x"), "no commit"},
		{at(t.TempDir(), commit), "does not know the commit"},
	} {
		err := w.Check(t.Context(), c.kase)
		var no *UnreplayableError
		if !errors.As(err, &no) || no.Case != "c1" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.kase.Workspace, err, c.want)
		}
		if _, oerr := w.Open(t.Context(), c.kase); oerr == nil || oerr.Error() != err.Error() {
			t.Errorf("Open says %v, eval.Check %v", oerr, err)
		}
	}
	small := &Recorded{Parent: parent, MaxBytes: 1000}
	defer small.Close()
	if err := small.Check(t.Context(), at(repo, commit)); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a large tree: %v", err)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) != 0 {
		t.Errorf("left behind %v (%v)", left, err)
	}

	// It costs its own rollout, not the run.
	e := &eval.Evaluator{Grader: new(eval.Checks), Workspaces: w, Agent: agentFunc(func(context.Context, eval.Task) (eval.Attempt, error) { return eval.Attempt{Answer: "x"}, nil })}
	plain := &eval.Case{ID: "c2", Skill: "s", Prompt: "p", Checks: []eval.Check{{Type: eval.Contains, Value: "x"}}}
	out, err := e.Run(t.Context(), jobsOf([]*eval.Case{at(repo+"-gone", commit), plain, at(repo, commit)}))
	if err != nil {
		t.Fatal(err)
	}
	if r := out[0]; r.Status != eval.Missing || !strings.Contains(r.Failure, "bring back the tree of case c1") {
		t.Errorf("rollout = %+v", r)
	}
	if out[1].Status != eval.Done || out[2].Status != eval.Done {
		t.Errorf("the others: %s, %s", out[1].Status, out[2].Status)
	}

	// A cancelled call is no evidence about the tree.
	other := &Recorded{Parent: parent}
	defer other.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := other.Check(ctx, at(repo, commit)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := other.Check(t.Context(), at(repo, commit)); err != nil {
		t.Errorf("after that: %v", err)
	}
}

// Files have the bytes that were committed, whatever the repository's attributes
// and configuration ask for.
func TestRecordedWorkspaceBytes(t *testing.T) {
	files := map[string]string{
		".gitattributes": "ignored export-ignore\nsubst export-subst\nident ident\ncrlf text eol=crlf\nequals filter=a=b\nnbsp filter=a\u00a0b\n",
		"ignored":        "i\n", "subst": "$Format:%H$\n", "ident": "$Id$\n", "crlf": "c\n", "equals": "e\n", "nbsp": "n\n",
	}
	repo, commit := repository(t, files)
	ran := filepath.Join(t.TempDir(), "ran")
	config := "[filter \"a=b\"]\n\tsmudge = \"touch " + ran + "; cat\"\n[filter \"a\u00a0b\"]\n\tsmudge = \"touch " + ran + "; cat\"\n"
	if err := os.WriteFile(filepath.Join(repo, ".git", "config"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	w := &Recorded{Parent: t.TempDir()}
	defer w.Close()
	f, err := w.Open(t.Context(), &eval.Case{ID: "1", Workspace: &eval.Workspace{Repo: repo, Commit: commit}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(f.Dir, name)); err != nil || string(got) != want {
			t.Errorf("%s holds %q (%v), want %q", name, got, err, want)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a filter of the repository ran")
	}
}

// A commit with a missing object is an error that names the cause, and so is one
// without the session's folder.
func TestRecordedWorkspaceNotWhole(t *testing.T) {
	repo, commit := repository(t, map[string]string{"a": "x", "b/c": "y"})
	if err := os.Mkdir(filepath.Join(repo, "new"), 0o700); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("git", "-C", repo, "rev-parse", commit+":b/c").Output()
	if err != nil {
		t.Fatal(err)
	}
	blob := strings.TrimSpace(string(out))
	if err := os.Remove(filepath.Join(repo, ".git", "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	w := &Recorded{Parent: t.TempDir()}
	defer w.Close()
	for dir, want := range map[string]string{repo: "the commit is not whole here", filepath.Join(repo, "new"): "the commit has no folder new"} {
		err := w.Check(t.Context(), &eval.Case{ID: "1", Workspace: &eval.Workspace{Repo: dir, Commit: commit}})
		if no := new(UnreplayableError); !errors.As(err, &no) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", dir, err, want)
		}
	}
}

func TestRecordedWorkspaceConcurrent(t *testing.T) {
	repo, commit := repository(t, map[string]string{"a": "x", "b/c": "y"})
	parent := t.TempDir()
	w := &Recorded{Parent: parent}
	c := &eval.Case{ID: "1", Workspace: &eval.Workspace{Repo: repo, Commit: commit}}
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			f, err := w.Open(t.Context(), c)
			if err != nil {
				t.Error(err)
				return
			}
			if text, err := os.ReadFile(filepath.Join(f.Dir, "b", "c")); err != nil || string(text) != "y" {
				t.Errorf("%q (%v)", text, err)
			}
			f.Close()
		})
	}
	wg.Wait()
	if left, err := os.ReadDir(parent); err != nil || len(left) != 1 {
		t.Errorf("%d packs for one tree (%v)", len(left), err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

func BenchmarkRecordedWorkspace(b *testing.B) {
	files := map[string]string{}
	for i := range 100 {
		files["src/f"+strings.Repeat("x", i)] = strings.Repeat("package x\n", 300)
	}
	repo, commit := repository(b, files)
	w := &Recorded{Parent: b.TempDir()}
	defer w.Close()
	c := &eval.Case{ID: "1", Workspace: &eval.Workspace{Repo: repo, Commit: commit}}
	for b.Loop() {
		f, err := w.Open(b.Context(), c)
		if err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
}
