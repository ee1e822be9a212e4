package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHead: the files say what git says.
func TestHead(t *testing.T) {
	dir, commit := repository(t)
	first := given(t, dir, "rev-parse", "HEAD~1")
	same := func(at string) {
		t.Helper()
		if got, err := Head(at); got != given(t, at, "rev-parse", "HEAD") || err != nil {
			t.Errorf("%s: %q, %v", at, got, err)
		}
	}
	same(dir)
	same(filepath.Join(dir, "sub"))
	given(t, dir, "pack-refs", "--all")
	same(dir)
	given(t, dir, "branch", "topic/b", first)
	given(t, dir, "pack-refs", "--all", "--prune")
	given(t, dir, "symbolic-ref", "HEAD", "refs/heads/topic/b")
	same(dir)
	given(t, dir, "checkout", "-q", "-f", "main")
	if err := os.MkdirAll(filepath.Join(dir, ".git", "refs", "heads", "main"), 0o700); err != nil {
		t.Fatal(err)
	}
	same(dir) // an empty folder of a ref's name beside the packed ref
	tree := filepath.Join(t.TempDir(), "tree")
	given(t, dir, "worktree", "add", "-q", "-b", "aside", tree, first)
	same(tree)
	if got, _ := Head(tree); got != first || first == commit {
		t.Errorf("the worktree is at %s, want %s", got, first)
	}
	given(t, dir, "checkout", "-q", "--detach", first)
	same(dir)
	write(t, filepath.Join(tree, "c"), "three")
	given(t, tree, "add", "-A")
	given(t, tree, "commit", "-q", "-m", "three")
	same(tree)
	modern, _ := repository(t, "--object-format=sha256")
	same(modern)
}

// TestNoHead: what leads out of the repository, around, or nowhere is no commit.
func TestNoHead(t *testing.T) {
	for name, head := range map[string]string{
		"unborn":   "ref: refs/heads/none\n",
		"outside":  "ref: refs/../../secret\n",
		"absolute": "ref: /etc/hostname\n",
		"other":    "ref: config\n",
		"circle":   "ref: refs/heads/circle\n",
		"short":    "abc123\n",
		"text":     strings.Repeat("z", 40) + "\n",
		"empty":    "",
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, ".git", "HEAD"), head)
		write(t, filepath.Join(dir, ".git", "refs", "heads", "circle"), "ref: refs/heads/circle\n")
		write(t, filepath.Join(dir, ".git", "secret"), strings.Repeat("a", 40)+"\n")
		if err := os.Mkdir(filepath.Join(dir, ".git", "objects"), 0o700); err != nil {
			t.Fatal(err)
		}
		if got, err := Head(dir); got != "" || err == nil || name == "unborn" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	dir, _ := repository(t)
	given(t, dir, "config", "extensions.refStorage", "reftable")
	if got, err := Head(dir); got != "" || err == nil {
		t.Errorf("reftable: %q, %v", got, err)
	}
	if got, err := Head(t.TempDir()); got != "" || err == nil {
		t.Errorf("no repository: %q, %v", got, err)
	}
}
