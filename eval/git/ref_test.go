package git

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A file is read in any commit that a person can name, with what it was where that began;
// working tree and index do not matter.
func TestAt(t *testing.T) {
	dir, second := repository(t)
	path := filepath.Join(dir, "a")
	first := given(t, dir, "rev-parse", "HEAD~1")
	given(t, dir, "checkout", "-q", "-b", "pr-12")
	write(t, path, "theirs")
	given(t, dir, "commit", "-q", "-am", "theirs")
	given(t, dir, "tag", "-a", "-m", "x", "v9")
	given(t, dir, "rm", "-q", "a")
	given(t, dir, "commit", "-q", "-m", "gone")
	given(t, dir, "checkout", "-q", "main")
	write(t, path, "three")
	given(t, dir, "commit", "-q", "-am", "three")
	given(t, dir, "checkout", "-q", "--orphan", "alone")
	write(t, path, "alone")
	given(t, dir, "commit", "-q", "-am", "alone")
	given(t, dir, "fetch", "-q", dir, "refs/tags/v9")
	write(t, path, "by hand")

	f, err := FindFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for rev, want := range map[string][2]string{
		"main": {"three", "three"}, "main~1": {"two", "two"}, "refs/heads/main~2": {"one", "one"}, first: {"one", "one"}, second[:8]: {"two", "two"},
		"pr-12": {"", "two"}, "pr-12^": {"theirs", "two"}, "v9": {"theirs", "two"}, "FETCH_HEAD": {"theirs", "two"},
		"HEAD": {"alone", ""}, "@": {"alone", ""}, "alone": {"alone", ""},
	} {
		s, err := f.At(t.Context(), rev)
		if err != nil {
			t.Errorf("%s: %v", rev, err)
			continue
		}
		if got := [2]string{string(s.Text), string(s.Base)}; got != want {
			t.Errorf("%s: %q, want %q", rev, got, want)
		}
		if (s.Text == nil) != (want[0] == "") || len(s.Commit) < 40 {
			t.Errorf("%s: %v at %s", rev, s.Text, s.Commit)
		}
	}
	for _, rev := range []string{"nobody", "", "--all", "main:a", "main^{tree}", "HEAD~9", "main..pr-12"} {
		if _, err := f.At(t.Context(), rev); !errors.Is(err, ErrNoCommit) {
			t.Errorf("%q: %v", rev, err)
		}
	}
	if err := os.Remove(filepath.Join(dir, ".git", "FETCH_HEAD")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.At(t.Context(), "FETCH_HEAD"); !errors.Is(err, ErrNoCommit) {
		t.Errorf("FETCH_HEAD of a repository that fetched nothing: %v", err)
	}
}
