package git

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// fed is given with input.
func fed(t *testing.T, dir string, in io.Reader, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
	cmd.Stdin = in
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

// filesOf are all files below dir with their modes and contents; but for objects, and what
// skip names.
func filesOf(t *testing.T, dir string, skip ...string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, at)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == ".git/objects" || slices.Contains(skip, name)):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		text, err := os.ReadFile(at)
		info, e := d.Info()
		if err = errors.Join(err, e); err == nil {
			files[name] = info.Mode().String() + " " + info.ModTime().String() + " " + string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var (
	me   = Author{"Mia Vogel", "mia@example.org"}
	when = time.Date(2026, 11, 27, 3, 17, 0, 0, time.FixedZone("", 3600))
)

// A branch is one commit on the default branch. Nothing else in the repository or its
// working trees changes, nothing that is configured there runs, and a present branch stays.
func TestBranch(t *testing.T) {
	dir, base := repository(t)
	ran := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	write(t, program, "#!/bin/sh\necho $0 >> "+ran+"\ncat\n")
	for _, hook := range []string{"reference-transaction", "pre-commit", "commit-msg", "prepare-commit-msg", "post-commit", "post-checkout", "post-index-change"} {
		write(t, filepath.Join(dir, ".git", "hooks", hook), "#!/bin/sh\necho $0 >> "+ran+"\nexit 1\n")
	}
	for key, value := range map[string]string{"commit.gpgsign": "true", "gpg.program": program, "core.fsmonitor": program, "core.editor": program,
		"filter.x.clean": program, "core.pager": program, "alias.config": "!" + program, "core.sshCommand": program, "core.hooksPath": ".git/hooks",
		"user.name": me.Name, "user.email": me.Email, "core.autocrlf": "true"} {
		given(t, dir, "config", key, value)
	}
	write(t, filepath.Join(dir, ".git", "info", "attributes"), "* filter=x\n")
	write(t, filepath.Join(dir, "sub", "b"), "dirty")
	write(t, filepath.Join(dir, "untracked"), "x")
	_ = os.Remove(ran) // by git itself, above
	before := filesOf(t, dir)

	s := stateOf(t, filepath.Join(dir, "a"))
	by, err := s.Author(t.Context())
	if err != nil || by != me {
		t.Errorf("%v, %v", by, err)
	}
	if _, err := s.Patch(t.Context(), []byte("three")); err != nil {
		t.Fatal(err)
	}
	if after := filesOf(t, dir); !maps.Equal(after, before) {
		t.Error("a patch changed the repository")
	}
	const message = "AGENTS.md: use log scales\n\n# not a comment\n"
	commit, err := s.Branch(t.Context(), "evolve/a", []byte("three\r\nfour\n"), message, by, when)
	if err != nil {
		t.Fatal(err)
	}
	if after := filesOf(t, dir, ".git/refs/heads/evolve"); !maps.Equal(after, before) {
		t.Error("more than the branch has changed")
	}
	if _, err := os.Stat(ran); !errors.Is(err, fs.ErrNotExist) {
		text, _ := os.ReadFile(ran)
		t.Errorf("a program of the repository's was run: %s", text)
	}
	for _, hook := range []string{"reference-transaction", "pre-commit"} {
		if err := os.Remove(filepath.Join(dir, ".git", "hooks", hook)); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"core.fsmonitor", "core.pager", "gpg.program"} {
		given(t, dir, "config", "--unset", key)
	}
	if got := given(t, dir, "log", "-1", "--format=%H %P %an %ae %cn %ce %aI %G?%n%B", "evolve/a"); got !=
		commit+" "+base+" Mia Vogel mia@example.org Mia Vogel mia@example.org 2026-11-27T03:17:00+01:00 N\n"+strings.TrimSpace(message) {
		t.Error(got)
	}
	if got := given(t, dir, "diff-tree", "-r", "--raw", "--no-abbrev", "main", "evolve/a"); strings.Count(got, "\n") != 0 || !strings.HasSuffix(got, "M\ta") {
		t.Error(got)
	}
	if got := given(t, dir, "cat-file", "blob", "evolve/a:a"); got != "three\r\nfour" {
		t.Errorf("%q", got)
	}
	given(t, dir, "fsck", "--strict")

	for name, want := range map[string]error{"evolve/a": ErrExists, "main": ErrExists, "": ErrBranch, "-x": ErrBranch, "a..b": ErrBranch, "HEAD": ErrBranch,
		"a b": ErrBranch, "x.lock": ErrBranch, "refs/heads/x": ErrBranch, "@{-1}": ErrBranch, "a\nb": ErrBranch, "evolve/a/b": nil, "evolve": nil} {
		_, err := s.Branch(t.Context(), name, []byte("x"), "x", by, when)
		if want == nil && err == nil || want != nil && !errors.Is(err, want) { // a folder and a file of one name: git's own message
			t.Errorf("%q: %v", name, err)
		}
	}
}

// The mode of the file and the rest of the tree stay, and a patch is what git applies.
func TestPatch(t *testing.T) {
	dir, _ := repository(t)
	names := []string{"plain.md", "docs/a b.md", "docs/ümlaut\t.md", "-x.md"}
	for _, name := range names {
		write(t, filepath.Join(dir, name), "one\r\ntwo\nthree") // no line feed at the end
	}
	if err := os.Chmod(filepath.Join(dir, "plain.md"), 0o644); err != nil {
		t.Fatal(err)
	}
	given(t, dir, "add", "-A")
	given(t, dir, "commit", "-q", "-m", "files")
	for _, name := range names {
		s := stateOf(t, filepath.Join(dir, name))
		patch, err := s.Patch(t.Context(), []byte("one\r\n2\nthree"))
		if err != nil {
			t.Fatal(err)
		}
		fed(t, dir, bytes.NewReader(patch), "apply", "--check", "-")
		fed(t, dir, bytes.NewReader(patch), "apply", "-")
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != "one\r\n2\nthree" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		mode := map[bool]string{true: "100644", false: "100755"}[name == "plain.md"]
		if s.Mode != mode || strings.Contains(string(patch), "old mode") {
			t.Errorf("%s: mode %s\n%s", name, s.Mode, patch)
		}
	}
}

// Any text that takes the place of any other is a patch that git applies.
func TestPatchOfAnyText(t *testing.T) {
	dir, _ := repository(t)
	texts := rapid.StringOf(rapid.SampledFrom([]rune("ab \t\r\n\\+-@é\x00")))
	for seed := range 20 {
		old, now := texts.Example(seed), texts.Example(seed+1000)
		write(t, filepath.Join(dir, "a"), old)
		given(t, dir, "commit", "-q", "--allow-empty", "-am", "x")
		patch, err := stateOf(t, filepath.Join(dir, "a")).Patch(t.Context(), []byte(now))
		if err != nil {
			t.Fatal(err)
		}
		if (len(patch) == 0) != (old == now) {
			t.Fatalf("a patch of %d bytes from %q to %q", len(patch), old, now)
		}
		if old == now {
			continue
		}
		fed(t, dir, bytes.NewReader(patch), "apply", "-")
		if text, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(text) != now {
			t.Fatalf("%q became %q, want %q (%v)\n%s", old, text, now, err, patch)
		}
	}
}

// A repository of SHA-256, and a working tree with other line ends than the branch.
func TestOtherRepositories(t *testing.T) {
	dir, base := repository(t, "--object-format=sha256")
	s := stateOf(t, filepath.Join(dir, "a"))
	commit, err := s.Branch(t.Context(), "x", []byte("three"), "x", me, when)
	if err != nil || given(t, dir, "rev-parse", "x^") != base || given(t, dir, "cat-file", "blob", commit+":a") != "three" {
		t.Error(commit, err)
	}
	if err := s.DeleteBranch(t.Context(), "x", commit); err != nil {
		t.Error(err)
	}

	lines, _ := repository(t)
	write(t, filepath.Join(lines, "a"), "one\ntwo\n")
	given(t, lines, "commit", "-qam", "lines")
	given(t, lines, "config", "core.autocrlf", "true")
	if err := os.Remove(filepath.Join(lines, "a")); err != nil {
		t.Fatal(err)
	}
	given(t, lines, "checkout", "-q", "a")
	s = stateOf(t, filepath.Join(lines, "a"))
	patch, err := s.Patch(t.Context(), []byte("one\n2\n"))
	if err != nil {
		t.Fatal(err)
	}
	fed(t, lines, bytes.NewReader(patch), "apply", "-")
	if text, err := os.ReadFile(filepath.Join(lines, "a")); err != nil || string(text) != "one\r\n2\r\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// Of several processes that make one branch at the same time one succeeds.
func TestBranchOnce(t *testing.T) {
	dir, _ := repository(t)
	s := stateOf(t, filepath.Join(dir, "a"))
	const n = 6
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			_, errs[i] = s.Branch(t.Context(), "x", []byte{byte('a' + i)}, "x", me, when)
		})
	}
	all.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
		}
	}
	if made != 1 {
		t.Errorf("%d branches of one name: %v", made, errs)
	}
	if given(t, dir, "cat-file", "blob", "x:a") == "two" {
		t.Error("the branch has no change")
	}
}

// A branch is removed while it is what was made, loose or packed, and never if it is
// checked out anywhere.
func TestDeleteBranch(t *testing.T) {
	dir, base := repository(t)
	s := stateOf(t, filepath.Join(dir, "a"))
	branch := func(name string) string {
		t.Helper()
		commit, err := s.Branch(t.Context(), name, []byte("three"), "x", me, when)
		if err != nil {
			t.Fatal(err)
		}
		return commit
	}
	at := func(name string) string {
		t.Helper()
		commit, err := s.BranchAt(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return commit
	}
	for _, packed := range []bool{false, true} {
		commit := branch("deep/er")
		if packed {
			given(t, dir, "pack-refs", "--all")
		}
		if err := s.DeleteBranch(t.Context(), "deep/er", base); !errors.Is(err, ErrMoved) || at("deep/er") != commit {
			t.Errorf("%v for another commit", err)
		}
		if err := s.DeleteBranch(t.Context(), "deep/er", commit); err != nil || at("deep/er") != "" {
			t.Errorf("packed %v: %v, %q", packed, err, at("deep/er"))
		}
		if err := s.DeleteBranch(t.Context(), "deep/er", commit); !errors.Is(err, ErrMoved) {
			t.Errorf("%v for no branch", err)
		}
		if at("main") != base {
			t.Error("another branch has changed")
		}
	}
	commit := branch("out")
	given(t, dir, "pack-refs", "--all")
	if _, err := s.Branch(t.Context(), "out", []byte("x"), "x", me, when); !errors.Is(err, ErrExists) {
		t.Errorf("%v for a packed branch", err)
	}
	given(t, dir, "worktree", "add", "-q", filepath.Join(t.TempDir(), "tree"), "out")
	if err := s.DeleteBranch(t.Context(), "out", commit); !errors.Is(err, ErrCheckedOut) || at("out") != commit {
		t.Errorf("%v for a branch that is checked out", err)
	}
	given(t, dir, "checkout", "-q", "--orphan", "unborn")
	if _, err := s.Branch(t.Context(), "unborn", []byte("x"), "x", me, when); !errors.Is(err, ErrExists) {
		t.Errorf("%v for the branch of an unborn HEAD", err)
	}
}

// Without a configured name and address there is no author. What git would take from the
// repository and from the person counts, with the person's conditions.
func TestBranchAuthor(t *testing.T) {
	dir, _ := repository(t)
	home := t.TempDir()
	for name, value := range map[string]string{"HOME": home, "GIT_CONFIG_GLOBAL": "", "XDG_CONFIG_HOME": "", "GIT_CONFIG_NOSYSTEM": "1"} {
		t.Setenv(name, value)
	}
	if err := os.Unsetenv("GIT_CONFIG_GLOBAL"); err != nil {
		t.Fatal(err)
	}
	s := stateOf(t, filepath.Join(dir, "a"))
	want := func(by Author, missing bool) {
		t.Helper()
		got, err := s.Author(t.Context())
		if errors.Is(err, ErrNoAuthor) != missing || !missing && (err != nil || got != by) {
			t.Errorf("%v, %v, want %v", got, err, by)
		}
	}
	want(Author{}, true)
	write(t, filepath.Join(home, ".gitconfig"), "[user]\n\tname = Mia\n")
	want(Author{}, true)
	write(t, filepath.Join(home, ".gitconfig"), "[user]\n\tname = Mia\n\temail = mia@home\n[includeIf \"gitdir:"+filepath.Dir(dir)+"/\"]\n\tpath = work\n")
	want(Author{"Mia", "mia@home"}, false)
	write(t, filepath.Join(home, "work"), "[user]\n\temail = mia@work\n")
	want(Author{"Mia", "mia@work"}, false)
	given(t, dir, "config", "user.email", "mia@here")
	want(Author{"Mia", "mia@here"}, false)
	given(t, dir, "config", "author.email", "mia@author")
	want(Author{"Mia", "mia@author"}, false)
	given(t, dir, "config", "author.email", "<>")
	want(Author{}, true)
}

// What a clone lacks is said, and nothing is fetched.
func TestBranchOfPartialClone(t *testing.T) {
	dir, _ := repository(t)
	given(t, dir, "config", "uploadpack.allowFilter", "true")
	clone := filepath.Join(t.TempDir(), "clone")
	given(t, dir, "clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+dir, clone)
	f, err := FindFile(t.Context(), filepath.Join(clone, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.State(t.Context()); !errors.Is(err, ErrMissing) {
		t.Error(err)
	}

	shallow := filepath.Join(t.TempDir(), "shallow")
	given(t, dir, "clone", "-q", "--depth=1", "file://"+dir, shallow)
	s := stateOf(t, filepath.Join(shallow, "a"))
	if _, err := s.Branch(t.Context(), "x", []byte("three"), "x", me, when); err != nil || s.Default != "origin/main" {
		t.Errorf("%v in a shallow clone, at %q", err, s.Default)
	}
}

// What a person does with their tree does not matter: a detached HEAD, a rebase.
func TestBranchInTheMiddle(t *testing.T) {
	dir, _ := repository(t)
	given(t, dir, "checkout", "-q", "-b", "topic", "HEAD~1")
	write(t, filepath.Join(dir, "a"), "other")
	given(t, dir, "commit", "-qam", "other")
	cmd := exec.Command("git", "-C", dir, "-c", "user.name=a", "-c", "user.email=a@b", "rebase", "main")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Fatalf("the rebase has no conflict: %s", out)
	}
	s := stateOf(t, filepath.Join(dir, "a"))
	if !s.Unmerged || string(s.Text) != "two" {
		t.Errorf("%v, %q", s.Unmerged, s.Text)
	}
	commit, err := s.Branch(t.Context(), "x", []byte("three"), "x", me, when)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteBranch(t.Context(), "topic", given(t, dir, "rev-parse", "topic")); !errors.Is(err, ErrCheckedOut) {
		t.Errorf("%v for the branch that is rebased", err)
	}
	if err := s.DeleteBranch(t.Context(), "x", commit); err != nil {
		t.Error(err)
	}
}
