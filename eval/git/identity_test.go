package git

import (
	"path/filepath"
	"slices"
	"testing"
)

// The addresses are those of the user's own configuration and of what it includes,
// never those of the repository in the current folder.
func TestIdentities(t *testing.T) {
	dir, _ := repository(t)
	given(t, dir, "config", "user.email", "stranger@example.org")
	t.Chdir(dir)
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("GIT_CONFIG_GLOBAL", "")
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("GIT_COMMITTER_EMAIL", "")
	t.Setenv("EMAIL", "")
	t.Setenv("GIT_AUTHOR_EMAIL", "hook@example.org") // of whose commit is being picked
	if got := Identities(t.Context()); len(got) != 0 {
		t.Errorf("%q without a configuration", got)
	}
	write(t, filepath.Join(home, ".gitconfig"), "[user]\n\temail = Me@Example.org\n[include]\n\tpath = more\n[includeIf \"gitdir:~/code/\"]\n\tpath = ~/code.inc\n[core]\n\tpager = less\n")
	write(t, filepath.Join(home, "more"), "[author]\n\temail = me@example.net\n[include]\n\tpath = .gitconfig\n")
	write(t, filepath.Join(home, "code.inc"), "[user]\n\temail = me@work.example\n")
	write(t, filepath.Join(home, ".config/git/config"), "[user]\n\temail = old@example.org\n")
	if got, want := Identities(t.Context()), []string{"me@example.net", "me@example.org", "me@work.example", "old@example.org"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	other := filepath.Join(t.TempDir(), "other")
	write(t, other, "[user]\n\temail = \" <Other@example.org>., \"\n[author]\n\temail = \" <> \"\n")
	t.Setenv("GIT_CONFIG_GLOBAL", other)
	if got, want := Identities(t.Context()), []string{"other@example.org"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	t.Setenv("GIT_CONFIG_NOSYSTEM", "")
	system := filepath.Join(home, "system")
	write(t, system, "[user]\n\temail = everybody@example.org\n")
	t.Setenv("GIT_CONFIG_SYSTEM", system)
	t.Setenv("GIT_COMMITTER_EMAIL", "committer@example.org")
	t.Setenv("EMAIL", "<mail@example.org>")
	if got, want := Identities(t.Context()), []string{"committer@example.org", "everybody@example.org", "mail@example.org", "other@example.org"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// An address is compared as git would write it, whatever program wrote the commit.
func TestAuthor(t *testing.T) {
	dir, _ := repository(t)
	tree := given(t, dir, "rev-parse", "HEAD^{tree}")
	raw := filepath.Join(t.TempDir(), "commit")
	write(t, raw, "tree "+tree+"\nauthor a <<Me@home. > 1795197857 +0000\ncommitter a <a@b> 1795197857 +0000\n\nx\n")
	o := objectsOf(t, dir)
	if got, err := o.Author(given(t, dir, "hash-object", "-w", "-t", "commit", "--literally", raw)); got != "me@home" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
