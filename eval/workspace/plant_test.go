package workspace

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/git"
)

// ask runs git in a folder, as an agent without a configuration does.
func ask(t fatal, dir string, args ...string) string {
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0"}
	out, err := cmd.Output() // it warns of a .gitignore that is a link
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

type fatal interface {
	Fatalf(format string, args ...any)
}

// whole fails if dir is no repository of exactly one commit, of its files and of nothing
// else, and returns the commit.
func whole(t fatal, dir string) string {
	if out := ask(t, dir, "diff-index", "--name-status", "HEAD"); out != "" { // which compares times and sizes first
		t.Fatalf("git diff-index: %s", out)
	}
	if out := ask(t, dir, "status", "--porcelain", "--ignored", "--untracked-files=all"); out != "" {
		t.Fatalf("git status: %s", out)
	}
	if n := ask(t, dir, "rev-list", "--count", "--all", "--reflog"); n != "1" {
		t.Fatalf("%s commits", n)
	}
	if refs := ask(t, dir, "for-each-ref", "--format=%(refname)"); refs != "refs/heads/main" {
		t.Fatalf("refs: %s", refs)
	}
	objects := len(strings.Fields(ask(t, dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")))
	if reached := len(strings.Split(ask(t, dir, "rev-list", "--objects", "--no-object-names", "HEAD"), "\n")); objects != reached {
		t.Fatalf("%d objects, of which the commit reaches %d", objects, reached)
	}
	return ask(t, dir, "rev-parse", "HEAD")
}

// Whatever the tree is: the workspace is a clean repository, in every copy the same one.
func TestPlantedIsClean(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on PATH")
	}
	if err := flag.Set("rapid.checks", "25"); err != nil { // each starts git some ten times
		t.Fatal(err)
	}
	top := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"a", "b c", "ü", "-x", `q"uote`, `back\slash`, "line\nfeed", "tab\t", "\xff", ".gitignore", ".gitattributes", ".gitmodules", "git~10", "link", "CON", "*"})
		text := rapid.SampledFrom([]string{"", "x", "crlf\r\nlf\n", "$Id$\n", "*\n", "* text=auto eol=crlf ident filter=lfs working-tree-encoding=UTF-16\n", "bin\x00ary", "[submodule \"a\"]\n\tpath = a\n\turl = ../b\n"})
		objects := objectsOf{map[string][]git.Entry{}, map[string]string{}}
		for _, tree := range []string{"sub", "root"} {
			for _, n := range rapid.SliceOfNDistinct(name, 0, 8, rapid.ID).Draw(t, tree) {
				mode := rapid.SampledFrom([]string{"100644", "100755", "120000", "160000", "40000"}).Draw(t, "mode")
				id := fmt.Sprint(tree, n)
				switch mode {
				case "40000":
					if id = "sub"; tree == "sub" {
						continue
					}
				case "120000":
					objects.blobs[id] = rapid.SampledFrom([]string{"a", "../a", "b c/a", "a/..", "nowhere", "./link"}).Draw(t, "to")
				default:
					objects.blobs[id] = text.Draw(t, "text")
				}
				objects.trees[tree] = append(objects.trees[tree], git.Entry{Mode: mode, ID: id, Name: n})
			}
			if objects.trees[tree] == nil {
				objects.trees[tree] = []git.Entry{}
			}
		}
		files := map[string]string{}
		if rapid.Bool().Draw(t, "files") {
			files["in/put.csv"] = text.Draw(t, "file")
		}
		dir, err := os.MkdirTemp(top, "")
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "tree.tar")
		out, err := os.Create(file)
		if err == nil {
			err = packedTree(out, objects, "root", "", 1<<20)
		}
		if err = errors.Join(err, out.Close()); err != nil {
			t.Fatal(err)
		}
		one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
		for _, at := range []string{one, two} {
			if err := errors.Join(os.Mkdir(at, 0o700), fill(t.Context(), at, file, files), git.Plant(t.Context(), at)); err != nil {
				t.Fatal(err)
			}
		}
		if a, b := whole(t, one), ask(t, two, "rev-parse", "HEAD"); a != b {
			t.Fatalf("the same files are %s and %s", a, b)
		}
	})
}

// Nothing of the recorded repository is in the workspace but the files of the one commit.
func TestNothingOfTheRecordedRepository(t *testing.T) {
	const secret = "s3cr3t"
	repo, _ := repository(t, map[string]string{"a": "first " + secret, "gone-" + secret: "x"})
	as := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", repo, "-c", "user.name=" + secret, "-c", "user.email=" + secret + "@example.com"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	write := func(name, text string) {
		t.Helper()
		at := filepath.Join(repo, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	as("rm", "-q", "gone-"+secret)
	write("a", "second")
	as("commit", "-q", "-a", "-m", "fix "+secret)
	commit := as("rev-parse", "HEAD")
	as("tag", "v-"+secret)
	as("branch", "topic-"+secret)
	as("remote", "add", secret, "https://"+secret+"@example.com/x.git")
	write("a", "later "+secret)
	as("stash", "-q")
	for _, name := range []string{"hooks/post-checkout", "info/exclude", "info/attributes", "description", "COMMIT_EDITMSG"} {
		write(".git/"+name, "#"+secret)
	}
	w := &Recorded{Parent: t.TempDir()}
	defer w.Close()
	c := &eval.Case{ID: "1", Files: map[string]string{"b": "brought"}, Workspace: &eval.Workspace{Repo: repo, Commit: commit}}
	f, err := w.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := whole(t, f.Dir); got == commit {
		t.Errorf("the commit is the recorded one")
	}
	if got := ask(t, f.Dir, "show", "HEAD:b"); got != "brought" {
		t.Errorf("the case's file is committed as %q", got)
	}
	all := ask(t, f.Dir, "cat-file", "--batch-all-objects", "--batch")
	err = filepath.WalkDir(f.Dir, func(at string, e os.DirEntry, err error) error {
		if all += at; err == nil && e.Type().IsRegular() {
			var text []byte
			text, err = os.ReadFile(at)
			all += string(text)
		}
		return err
	})
	if err != nil || strings.Contains(all, secret) {
		t.Errorf("it has something of the recorded repository (%v)", err)
	}
	if _, err := os.Stat(filepath.Join(f.Dir, ".git", "logs")); err == nil {
		t.Error("a log says when it was made, and on which machine")
	}

	// Another attempt, and another time.
	g, err := w.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	whole(t, g.Dir)
	if err := os.WriteFile(filepath.Join(g.Dir, "a"), []byte("SECOND"), 0o600); err != nil { // of the same size
		t.Fatal(err)
	}
	if got := ask(t, g.Dir, "status", "--porcelain"); got != "M a" {
		t.Errorf("after a change: %q", got)
	}
	ask(t, g.Dir, "commit", "-q", "-a", "-m", "the agent's")
	if got := ask(t, g.Dir, "log", "--format=%s"); got != "the agent's\nInitial" {
		t.Errorf("after a commit: %q", got)
	}
	// A case of files alone is in no repository.
	h, err := w.Open(t.Context(), &eval.Case{ID: "2", Files: map[string]string{"b": "brought"}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if _, err := os.Stat(filepath.Join(h.Dir, ".git")); err == nil {
		t.Error("a case of files alone is a repository")
	}
}
