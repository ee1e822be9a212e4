package git

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// stateOf is what git has of the file at path.
func stateOf(t *testing.T, path string) *State {
	t.Helper()
	f, err := FindFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Working trees of one repository name it alike, clones and submodules do not.
func TestRoots(t *testing.T) {
	dir, _ := repository(t)
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	temp, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	given(t, dir, "worktree", "add", "-q", "-b", "aside", temp+"/tree")
	given(t, temp, "clone", "-q", dir, "clone")
	given(t, temp, "clone", "-q", "--bare", dir, "x.git")
	given(t, temp+"/x.git", "worktree", "add", "-q", "-b", "other", temp+"/of-bare")
	given(t, temp+"/clone", "submodule", "--quiet", "add", dir, "module")
	if err := errors.Join(os.Symlink(dir+"/sub", temp+"/link"), os.Symlink(dir+"/sub/b", temp+"/leads")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][3]string{
		dir + "/sub/b":            {dir, dir, "sub/b"},
		dir + "/a":                {dir, dir, "a"},
		dir + "/not/there":        {}, // its folder is not
		dir + "/new":              {dir, dir, "new"},
		temp + "/tree/sub/b":      {dir, temp + "/tree", "sub/b"},
		temp + "/clone/sub/b":     {temp + "/clone", temp + "/clone", "sub/b"},
		temp + "/clone/module/a":  {temp + "/clone/module", temp + "/clone/module", "a"},
		temp + "/of-bare/sub/b":   {temp + "/x.git", temp + "/of-bare", "sub/b"},
		temp + "/link/b":          {dir, dir, "sub/b"},
		temp + "/leads":           {dir, dir, "sub/b"},
		temp + "/x.git/config":    {},
		temp + "/x.git/refs/a":    {},
		dir + "/.git/config":      {},
		dir + "/.git/info/a":      {},
		temp + "/nothing-of-git":  {},
		temp + "/no/such/a":       {},
		temp + "/clone/.git/HEAD": {},
	} {
		f, err := FindFile(t.Context(), path)
		if want[0] == "" {
			if !errors.Is(err, ErrNone) {
				t.Errorf("%s: %v, %v", path, f, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
		} else if got := [3]string{f.Root, f.Top, f.Path}; got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// The default branch is found in a fixed order, and the text of the file is the one there,
// whatever is checked out.
func TestDefaultBranch(t *testing.T) {
	dir, _ := repository(t)
	want := func(at, branch, text string) {
		t.Helper()
		if s := stateOf(t, filepath.Join(at, "a")); s.Default != branch || string(s.Text) != text {
			t.Errorf("%q with %q, want %q with %q", s.Default, s.Text, branch, text)
		}
	}
	want(dir, "main", "two")
	given(t, dir, "checkout", "-q", "-b", "aside", "HEAD~1")
	write(t, filepath.Join(dir, "a"), "dirty")
	want(dir, "main", "two")
	given(t, dir, "checkout", "-q", "-f", "--detach", "HEAD")
	want(dir, "main", "two")

	clone := filepath.Join(t.TempDir(), "clone")
	given(t, dir, "clone", "-q", "-b", "main", dir, clone) // its origin/HEAD is detached, as the original is
	write(t, filepath.Join(clone, "a"), "mine")
	given(t, clone, "commit", "-qam", "not pushed")
	given(t, clone, "remote", "set-head", "origin", "-d")
	want(clone, "origin/main", "two")
	given(t, clone, "remote", "set-head", "origin", "aside")
	want(clone, "origin/aside", "one")
	given(t, clone, "branch", "-q", "-r", "-d", "origin/aside") // origin/HEAD leads nowhere
	want(clone, "origin/main", "two")
	given(t, clone, "config", "init.defaultBranch", "trunk")
	want(clone, "origin/main", "two")
	given(t, clone, "branch", "-q", "trunk")
	want(clone, "trunk", "mine")

	given(t, dir, "branch", "-q", "-m", "main", "odd")
	s := stateOf(t, filepath.Join(dir, "a"))
	if s.Default != "" || !s.Tracked() {
		t.Errorf("%q, %v in a repository without a default branch", s.Default, s.Tracked())
	}
}

// A file is tracked if it is in the index or at the default branch; the other branches do
// not count.
func TestTracked(t *testing.T) {
	dir, _ := repository(t)
	is := func(name string, want bool) {
		t.Helper()
		if got := stateOf(t, filepath.Join(dir, name)).Tracked(); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	is("a", true)
	is("sub/b", true)
	is("new", false)
	write(t, filepath.Join(dir, ".gitignore"), "ignored\n")
	write(t, filepath.Join(dir, "ignored"), "x")
	write(t, filepath.Join(dir, "new"), "x")
	write(t, filepath.Join(dir, "a*"), "x")
	is("ignored", false)
	is("new", false)
	is("a*", false)
	given(t, dir, "add", "new")
	is("new", true)
	given(t, dir, "rm", "-q", "--cached", "a")
	is("a", true)
	given(t, dir, "checkout", "-q", "-f", "-b", "aside")
	given(t, dir, "rm", "-q", "a")
	given(t, dir, "commit", "-q", "-m", "gone")
	is("a", true) // others have it

	fresh := t.TempDir()
	given(t, fresh, "init", "-q", "-b", "main")
	write(t, filepath.Join(fresh, "a"), "x")
	if stateOf(t, filepath.Join(fresh, "a")).Tracked() {
		t.Error("a file of a repository without a commit is tracked")
	}
	given(t, fresh, "add", "a")
	if s := stateOf(t, filepath.Join(fresh, "a")); !s.Tracked() || s.Default != "" {
		t.Error("a staged file is not tracked")
	}
}

// Indexes of every kind are read, and stay as they are.
func TestIndexes(t *testing.T) {
	for name, make := range map[string]func(dir string){
		"split": func(dir string) { given(t, dir, "update-index", "--split-index") },
		"sparse": func(dir string) {
			given(t, dir, "sparse-checkout", "set", "--cone", "--sparse-index", "sub")
			given(t, dir, "sparse-checkout", "set", "--cone", "--sparse-index", "none")
		},
		"version 4": func(dir string) { given(t, dir, "update-index", "--index-version", "4") },
	} {
		dir, _ := repository(t)
		make(dir)
		index := filepath.Join(dir, ".git", "index")
		before, err := os.ReadFile(index)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil { // which a sparse checkout lacks
			t.Fatal(err)
		}
		s := stateOf(t, filepath.Join(dir, "sub", "b"))
		if !s.Indexed || string(s.Text) != "two" {
			t.Errorf("%s: %v, %q", name, s.Indexed, s.Text)
		}
		if after, err := os.ReadFile(index); err != nil || string(after) != string(before) {
			t.Errorf("%s: the index has changed", name)
		}
	}
}

// A merge that waits for its owner is seen, and so is another form of the file.
func TestForms(t *testing.T) {
	dir, _ := repository(t)
	path := filepath.Join(dir, "a")
	for attribute, want := range map[string]string{"text eol=crlf": "", "-text": "", "filter=lfs": "filter", "ident": "ident",
		"working-tree-encoding=UTF-16": "working-tree-encoding", "-filter": ""} {
		write(t, filepath.Join(dir, ".gitattributes"), "a "+attribute+"\n")
		if got := stateOf(t, path).Form; got != want {
			t.Errorf("%s: %q", attribute, got)
		}
	}
	if err := os.Remove(filepath.Join(dir, ".gitattributes")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, ".git", "info", "attributes"), "a filter=secret\n")
	if got := stateOf(t, path).Form; got != "filter" {
		t.Errorf("%q for an attribute in the repository's own list", got)
	}

	given(t, dir, "checkout", "-q", "-b", "aside")
	write(t, path, "three")
	given(t, dir, "commit", "-qam", "three")
	given(t, dir, "checkout", "-q", "main")
	write(t, path, "four")
	given(t, dir, "commit", "-qam", "four")
	if stateOf(t, path).Unmerged {
		t.Error("unmerged before there is a merge")
	}
	given(t, dir, "update-index", "--force-remove", "a")
	id := given(t, dir, "hash-object", "-w", path)
	info := filepath.Join(t.TempDir(), "info")
	write(t, info, "100644 "+id+" 2\ta\n100644 "+id+" 3\ta\n")
	in, err := os.Open(info)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	fed(t, dir, in, "update-index", "--index-info")
	if s := stateOf(t, path); !s.Unmerged || !s.Indexed {
		t.Error("not unmerged in the middle of a merge")
	}
}
