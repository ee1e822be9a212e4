package consent

import (
	"os"
	"path/filepath"
	"testing"
)

// layout makes folders, files (with a text) and symlinks ("-> target") in a folder.
func layout(t *testing.T, entries map[string]string) func(names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", filepath.Join(dir, "home"))
	at := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	for name, text := range entries {
		err := os.MkdirAll(filepath.Dir(at(name)), 0o700)
		switch {
		case err != nil:
		case text == "":
			err = os.MkdirAll(at(name), 0o700)
		case text[:3] == "-> ":
			err = os.Symlink(at(text[3:]), at(name))
		default:
			err = os.WriteFile(at(name), []byte(text+"\n"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return at
}

func TestProject(t *testing.T) {
	at := layout(t, map[string]string{
		"home/.git": "", "home/notes": "", "home/shop/.git": "", "home/shop/src/deep": "", "home/shop/sub/.git": "gitdir: ../.git/modules/sub",
		"home/shop/.git/worktrees/fix/gitdir": "unset", "wt/fix/.git": "unset", "wt/fix/src": "",
		"pretends/.git": "unset", "link": "-> home/shop/src",
	})
	for name, text := range map[string]string{"home/shop/.git/worktrees/fix/gitdir": at("wt/fix/.git"), "wt/fix/.git": "gitdir: " + at("home/shop/.git/worktrees/fix"),
		"pretends/.git": "gitdir: " + at("home/shop/.git/worktrees/fix")} {
		if err := os.WriteFile(at(name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var d Decisions
	for folder, want := range map[string]string{
		at("home/shop/src/deep"): at("home/shop"), at("home/shop"): at("home/shop"), at("link/gone"): at("home/shop"),
		at("home/shop/sub"): at("home/shop/sub"), at("wt/fix/src"): at("home/shop"), at("wt"): at("wt"), at("pretends"): at("pretends"),
		at("home/notes"): at("home/notes"), at("home"): at("home"), "relative": "", "": "",
	} {
		if got := d.Project(folder); got != want {
			t.Errorf("%s belongs to %q, want %q", folder, got, want)
		}
	}
	// What is decided on a repository holds for its worktrees, and for nothing that only
	// says that it is one.
	d.Allow(at("home/shop"), "openai", "google")
	d.Allow(at("wt/other"))
	if !d.MayRead([]string{at("wt/fix/src")}) || !d.MaySend([]string{at("wt/fix")}, "", "openai") || d.MayRead([]string{at("pretends")}) {
		t.Error("a worktree is not read as its repository")
	}
	d.Allow(at("wt"), "google")
	if d.MaySend([]string{at("wt/fix")}, "", "openai") || !d.MaySend([]string{at("wt/fix")}, "", "google") {
		t.Error("a worktree's text goes where its repository's, or its own, does not")
	}
	d.Deny(at("home/shop"))
	if d.MayRead([]string{at("wt/fix/src")}) || !d.MayRead([]string{at("wt")}) {
		t.Error("a worktree is read that its repository denies")
	}
}

// Another spelling of a folder is that folder if the file system says so.
func TestOtherLetters(t *testing.T) {
	at := layout(t, map[string]string{"client/src": "", "CLIENT": "-> client"})
	var d Decisions
	d.AllowAll()
	d.Rules = []Rule{{Folder: at("CLIENT")}} // as if letter case did not count
	if d.MayRead([]string{at("client", "src")}) || !d.MayRead([]string{at("clients")}) {
		t.Error("a denied folder is read by another name")
	}
	if !d.Holds(at("CLIENT"), []string{"", at("x"), at("client", "src", "y")}) || d.Holds(at("client"), []string{at("x"), "client"}) {
		t.Error("it is not known what is below a folder")
	}
}

// A denial holds by the path that was typed and by the real one, whatever is gone later.
func TestGone(t *testing.T) {
	at := layout(t, map[string]string{"client/src": "", "link": "-> client", "relative": ""})
	if err := os.Symlink("../client", at("relative", "link")); err != nil {
		t.Fatal(err)
	}
	var d Decisions
	d.AllowAll()
	d.Deny(at("link"))
	path := at("data", "projects.yaml")
	gone := func(what string) {
		t.Helper()
		if err := os.RemoveAll(at(what)); err != nil {
			t.Fatal(err)
		}
		if err := d.Write(path); err != nil {
			t.Fatal(err)
		}
		now, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, folder := range []string{at("client"), at("link/src"), at("relative/link/src")} {
			if now.MayRead([]string{folder}) {
				t.Errorf("without %s: %s is read", what, folder)
			}
		}
		if !now.MayRead([]string{at("clients")}) || !now.MayRead([]string{at("relative")}) {
			t.Error("more is denied")
		}
	}
	gone("client")
	gone("link")
}

// With a repository its worktrees are denied, also those that git still lists and that are
// gone, and they stay so until it is allowed.
func TestWorktreesOfADenial(t *testing.T) {
	at := layout(t, map[string]string{"shop/.git/worktrees/fix/gitdir": "unset", "shop/.git/worktrees/old/gitdir": "unset", "shop/.git/worktrees/odd/gitdir": "unset",
		"wt/fix/.git": "unset", "wt/fix/src": "", "other/.git": ""})
	for name, text := range map[string]string{"shop/.git/worktrees/fix/gitdir": at("wt/fix/.git"), "wt/fix/.git": "gitdir: " + at("shop/.git/worktrees/fix"),
		"shop/.git/worktrees/old/gitdir": at("wt/old/.git"), "shop/.git/worktrees/odd/gitdir": at("other/.git")} {
		if err := os.WriteFile(at(name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := at("data", "projects.yaml")
	var d Decisions
	d.AllowAll()
	d.Allow(at("wt/fix"), "openai")
	d.Deny(at("shop"))
	if err := d.Write(path); err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{"nothing", "wt/fix", "shop"} {
		if err := os.RemoveAll(at(gone)); err != nil {
			t.Fatal(err)
		}
		now, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		for folder, want := range map[string]bool{"wt/fix/src": false, "wt/old": false, "shop/src": false, "other": true, "wt/new": true} {
			if now.MayRead([]string{at(folder)}) != want {
				t.Errorf("without %s: %s is read: %v", gone, folder, !want)
			}
		}
	}
	d.Deny(at("wt/old")) // by name
	d.Allow(at("shop"))
	if d.MayRead([]string{at("wt/old")}) || !d.MayRead([]string{at("wt/fix")}) {
		t.Errorf("%+v", d.Rules)
	}
}

// A denial holds for the folder that was typed, for what it led to then and for what it
// leads to now, however often the same folder was named.
func TestLinkThatChanges(t *testing.T) {
	at := layout(t, map[string]string{"client/src": "", "else/src": "", "new/src": "", "link": "-> client", "second": "-> client"})
	var d Decisions
	d.AllowAll()
	d.Deny(at("link"))
	d.Deny(at("second"))
	path := at("data", "projects.yaml")
	if err := d.Write(path); err != nil {
		t.Fatal(err)
	}
	for _, link := range []string{"link", "second"} {
		if err := os.Remove(at(link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("new"), at("link")); err != nil {
		t.Fatal(err)
	}
	now, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]bool{"client/src": false, "link/src": false, "new/src": false, "second/src": false, "else/src": true} {
		if now.MayRead([]string{at(folder)}) != want {
			t.Errorf("%s is read: %v", folder, !want)
		}
	}
	now.Allow(at("new")) // itself
	if !now.MayRead([]string{at("new/src")}) || now.MayRead([]string{at("client")}) {
		t.Errorf("%+v", now.Rules)
	}
	now.Deny(at("new"))
	now.Allow(at("link"))
	if !now.MayRead([]string{at("link/src")}) || now.MayRead([]string{at("client/src")}) || now.MayRead([]string{at("second/src")}) {
		t.Errorf("%+v", now.Rules)
	}
	now.Allow(at("client"))
	if !now.MayRead([]string{at("client/src")}) {
		t.Errorf("%+v", now.Rules)
	}
}

// The worktrees of a submodule are the submodule's, and those of a repository that is kept
// elsewhere are denied with its folder.
func TestWorktreesOfRepositoriesElsewhere(t *testing.T) {
	at := layout(t, map[string]string{"shop/.git/modules/sub/worktrees/fix/gitdir": "unset", "shop/.git/modules/sub/config": "[core]\n\tworktree = ../../../sub",
		"shop/sub/.git": "gitdir: ../.git/modules/sub", "wt/fix/.git": "unset", "wt/lies/.git": "unset", "lies/config": "[core]\n\tworktree = ../shop", "lies/worktrees/fix/gitdir": "unset",
		"apart/.git": "unset", "kept/apart/worktrees/fix/gitdir": "unset", "wt/apart/.git": "unset", "shop/.git/HEAD": "ref: x"})
	for name, text := range map[string]string{"shop/.git/modules/sub/worktrees/fix/gitdir": at("wt/fix/.git"), "wt/fix/.git": "gitdir: " + at("shop/.git/modules/sub/worktrees/fix"),
		"lies/worktrees/fix/gitdir": at("wt/lies/.git"), "wt/lies/.git": "gitdir: " + at("lies/worktrees/fix"),
		"apart/.git": "gitdir: ../kept/apart", "kept/apart/worktrees/fix/gitdir": at("wt/apart/.git"), "wt/apart/.git": "gitdir: " + at("kept/apart/worktrees/fix")} {
		if err := os.WriteFile(at(name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		deny string
		want map[string]bool
	}{
		{"shop/sub", map[string]bool{"shop/sub": false, "wt/fix/src": false, "shop": true, "wt/lies": true}},
		{"shop", map[string]bool{"shop/sub": false, "wt/fix": false, "wt/lies": true}},
		{"apart", map[string]bool{"apart": false, "wt/apart": false, "wt/fix": true}},
	} {
		var d Decisions
		d.AllowAll()
		d.Deny(at(c.deny))
		for folder, want := range c.want {
			if d.MayRead([]string{at(folder)}) != want {
				t.Errorf("without %s: %s is read: %v", c.deny, folder, !want)
			}
		}
	}
	var d Decisions
	d.Allow(at("shop"))
	if d.MayRead([]string{at("wt/lies")}) {
		t.Error("what only says that it is a worktree is read as one")
	}
}
