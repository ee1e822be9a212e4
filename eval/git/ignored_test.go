package git

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"testing"
)

// TestIgnored: the lists of the tree, of the repository and of the user count; the
// repository's configuration does not.
func TestIgnored(t *testing.T) {
	dir, _ := repository(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	write(t, filepath.Join(dir, ".gitignore"), "*.log\n!keep.log\n/a\n")
	write(t, filepath.Join(dir, "sub", ".gitignore"), "x\n")
	write(t, filepath.Join(dir, ".git", "info", "exclude"), "mine\n")
	write(t, filepath.Join(home, ".config", "git", "ignore"), "*.swp\n")
	program := filepath.Join(t.TempDir(), "ran")
	given(t, dir, "config", "core.fsmonitor", "touch "+program)
	given(t, dir, "config", "core.excludesFile", filepath.Join(dir, "others"))
	write(t, filepath.Join(dir, "others"), "b.go\n")
	files := []string{"a", "b.go", "c.log", "keep.log", "sub/x", "sub/d/x", "x", "mine", "e.swp", "ümlaut.log", "new\nline.log", "-n.log"}
	for _, from := range []string{dir, filepath.Join(dir, "sub")} {
		tree, err := FindWorkTree(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		found, err := tree.Ignored(t.Context(), files)
		if err != nil {
			t.Fatal(err)
		}
		maps.DeleteFunc(found, func(_ string, is bool) bool { return !is })
		got := slices.Sorted(maps.Keys(found))
		want := []string{"-n.log", "a", "c.log", "e.swp", "mine", "new\nline.log", "sub/d/x", "sub/x", "ümlaut.log"}
		if !slices.Equal(got, want) {
			t.Errorf("%s ignores %q, want %q", tree.Prefix, got, want)
		}
		if none, err := tree.Ignored(t.Context(), []string{"b.go"}); err != nil || none["b.go"] {
			t.Error(none, err)
		}
	}
	write(t, filepath.Join(home, ".gitconfig"), "[core]\n\texcludesFile = ~/all\n")
	write(t, filepath.Join(home, "all"), "*.bak\n")
	tree, err := FindWorkTree(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := tree.Ignored(t.Context(), []string{"a.bak", "e.swp"}); err != nil || !found["a.bak"] || found["e.swp"] {
		t.Error(found, err)
	}
	if found, _ := filepath.Glob(program); found != nil {
		t.Error("the repository's configuration names a program, and it ran")
	}
	if _, err := FindWorkTree(context.Background(), home); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	if _, err := FindWorkTree(context.Background(), filepath.Join(home, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
