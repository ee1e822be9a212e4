package git

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestDirty: a tree is dirty if a file that git knows differs, and nothing that a
// repository configures is run to find out.
func TestDirty(t *testing.T) {
	dir, _ := repository(t)
	is := func(at string, want bool) {
		t.Helper()
		if got, err := Dirty(t.Context(), at); got != want || err != nil {
			t.Errorf("%s: %v, %v, want %v", at, got, err, want)
		}
	}
	ran := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	write(t, program, "#!/bin/sh\ntouch "+ran+"\ncat\n")
	given(t, dir, "config", "core.fsmonitor", program)
	given(t, dir, "config", "filter.x.clean", program)
	given(t, dir, "config", "filter.x.process", program)
	given(t, dir, "config", "diff.external", program)
	_ = os.Remove(ran) // by git itself, above
	is(dir, false)
	is(filepath.Join(dir, "sub"), false)
	write(t, filepath.Join(dir, "unknown"), "of git")
	is(dir, false)
	write(t, filepath.Join(dir, ".git", "info", "attributes"), "* filter=x diff=x\n")
	write(t, filepath.Join(dir, "a"), "owt")
	is(dir, true)
	is(filepath.Join(dir, "sub"), true)
	write(t, filepath.Join(dir, "a"), "two") // again as it was, at another time
	is(dir, false)
	if err := os.Remove(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	is(dir, true)
	if _, err := os.Stat(ran); !errors.Is(err, os.ErrNotExist) {
		t.Error("a program of the repository's was run")
	}
	write(t, filepath.Join(dir, "a"), "two")
	tree := filepath.Join(t.TempDir(), "tree")
	bare, _ := repository(t)
	given(t, bare, "worktree", "add", "-q", "-b", "aside", tree)
	is(tree, false)
	write(t, filepath.Join(tree, "a"), "three")
	is(tree, true)
	is(bare, false)
	if _, err := Dirty(t.Context(), filepath.Join(dir, ".git")); err == nil {
		t.Error("a repository's own folder has a tree")
	}
}

// TestDirtyInTheSecondOfTheCommit: an edit that leaves as many bytes, in the second in
// which git last wrote its index, shows by content alone.
func TestDirtyInTheSecondOfTheCommit(t *testing.T) {
	dir, _ := repository(t)
	second := time.Unix(1_700_000_000, 0)
	at := func(name string) {
		t.Helper()
		if err := os.Chtimes(filepath.Join(dir, name), second, second); err != nil {
			t.Fatal(err)
		}
	}
	at("a")
	given(t, dir, "update-index", "a")
	at(filepath.Join(".git", "index"))
	write(t, filepath.Join(dir, "a"), "owt")
	at("a")
	if got, err := Dirty(t.Context(), dir); !got || err != nil {
		t.Errorf("%v, %v, want true", got, err)
	}
}
