package tracked

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store/proposed"
	"github.com/skill-evolve/evolve/tournament/candidate"
)

// waiting is the trial whose change waits for its owner.
func waiting(t *testing.T, s *shop) *candidate.OnTrial {
	t.Helper()
	on, _, err := s.in.WaitingTrial(t.Context(), s.live())
	if err != nil || on == nil {
		t.Fatal(on, err)
	}
	return on
}

// The working tree gets the text at its owner's word, and gets back what it had.
func TestTree(t *testing.T) {
	s := newShop(t)
	s.proved(better)
	if err := os.Chmod(s.path(), 0o750); err != nil {
		t.Fatal(err)
	}
	_, err := s.promote(Options{})
	s.refused(err, "the sessions of no more than one person speak for")
	s.holds(text)
	index, err := os.ReadFile(filepath.Join(s.dir, ".git", "index"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.promote(Options{ForEveryone: true})
	if err != nil || d.Merged || d.Already {
		t.Fatalf("%+v, %v", d, err)
	}
	s.holds(better)
	if info, err := os.Stat(s.path()); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if now, err := os.ReadFile(filepath.Join(s.dir, ".git", "index")); err != nil || !bytes.Equal(now, index) {
		t.Error("the index has changed")
	}
	if d, err := s.promote(Options{ForEveryone: true}); err != nil || !d.Already {
		t.Errorf("%+v, %v the second time", d, err)
	}
	back := func() (string, error) { return Rollback(t.Context(), s.in, s.live(), false) }
	s.write(s.path(), better+"mine\n")
	_, err = back()
	s.refused(err, "was changed since: it stays")
	s.write(s.path(), better)
	if _, err := back(); err != nil {
		t.Fatal(err)
	}
	s.holds(text)
	if _, err := back(); err == nil {
		t.Error("it can be taken back twice")
	}

	if _, err := s.promote(Options{ForEveryone: true}); err != nil { // what was taken back can be put there again
		t.Fatal(err)
	}
	s.holds(better)
	s.git("commit", "-qam", "merged")
	if err := s.in.Record(t.Context(), s.live()); err != nil {
		t.Fatal(err)
	}
	v, err := s.in.Store.VersionBySHA(t.Context(), "tagger", skill.HashText([]byte(better)))
	if err != nil || v.Author != "evolve" {
		t.Errorf("%+v, %v for a text that the default branch has now", v, err)
	}
	if open, err := proposed.Open(t.Context(), s.in.Store, "tagger"); err != nil || len(open) != 0 {
		t.Errorf("%d proposals are open, %v", len(open), err)
	}
	_, err = back()
	if kind, hint := problem.Of(err); kind != problem.Input || !strings.Contains(hint, "git revert") {
		t.Errorf("%v (%s)", err, hint)
	}
}

// Changes in the working tree stay, whether they are staged or not; where they overlap,
// nothing is written.
func TestDirtyTree(t *testing.T) {
	apart := strings.Replace(text, "Oldest first", "Newest first", 1)
	both := strings.Replace(better, "Oldest first", "Newest first", 1)
	overlap := strings.Replace(text, "Tag them", "Tag all of them", 1)
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	for name, c := range map[string]struct {
		tree, want, refusal string
		stage               bool
	}{
		"apart":               {tree: apart, want: both},
		"staged":              {tree: apart, want: both, stage: true},
		"overlapping":         {tree: overlap, refusal: `both changed section "Steps"`},
		"the same":            {tree: better, want: better},
		"checked out as CRLF": {tree: crlf(text), want: crlf(better)},
		"CRLF and changes":    {tree: crlf(apart), want: crlf(both)},
		"in a merge":          {tree: strings.Replace(text, "- Tag them.\n", "<<<<<<< ours\n- Tag them.\n=======\n- Tag.\n>>>>>>> theirs\n", 1), refusal: "both changed"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			s.proved(better)
			s.write(s.path(), c.tree)
			if c.stage {
				s.git("add", "-A")
			}
			status := s.git("status", "--short")
			d, err := s.promote(Options{ForEveryone: true})
			if c.refusal != "" {
				s.refused(err, c.refusal)
				s.holds(c.tree)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			s.holds(c.want)
			if d.Already {
				return
			}
			if _, err := Rollback(t.Context(), s.in, s.live(), false); err != nil {
				t.Fatal(err)
			}
			s.holds(c.tree)
			if now := s.git("status", "--short"); now != status {
				t.Errorf("%q, before %q", now, status)
			}
		})
	}
}

// What a checkout can be: nothing is written where that would not be what was meant.
func TestTrees(t *testing.T) {
	for name, c := range map[string]struct {
		make    func(s *shop)
		refusal string
		holds   string
	}{
		"read-only":           {func(s *shop) { s.must(os.Chmod(s.path(), 0o440)) }, "is read-only", text},
		"a filter":            {func(s *shop) { s.write(filepath.Join(s.dir, ".gitattributes"), "*.md filter=secret\n") }, "in another form", text},
		"eol=crlf":            {func(s *shop) { s.write(filepath.Join(s.dir, ".gitattributes"), "*.md text eol=crlf\n") }, "", better},
		"detached HEAD":       {func(s *shop) { s.git("checkout", "-q", "--detach") }, "", better},
		"an unborn branch":    {func(s *shop) { s.git("checkout", "-q", "--orphan", "new") }, "", better},
		"gone from the index": {func(s *shop) { s.git("rm", "-q", "--cached", "-r", ".") }, "", better},
		"a link": {func(s *shop) {
			to := filepath.Join(s.dir, "docs", "tagger.md")
			s.must(errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.Rename(s.path(), to), os.Symlink(to, s.path())))
			s.git("add", "-A")
			s.git("commit", "-q", "-m", "a link")
		}, "", better},
		"unmerged": {func(s *shop) {
			id := s.git("rev-parse", "HEAD:.claude/skills/tagger/SKILL.md")
			cmd := exec.Command("git", "-C", s.dir, "update-index", "--index-info")
			cmd.Stdin = strings.NewReader("0 " + strings.Repeat("0", 40) + "\t.claude/skills/tagger/SKILL.md\n100644 " + id + " 2\t.claude/skills/tagger/SKILL.md\n")
			s.must(cmd.Run())
		}, "in the middle of a merge", text},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			c.make(s)
			s.proved(better)
			_, err := s.promote(Options{ForEveryone: true})
			if c.refusal != "" {
				s.refused(err, c.refusal)
			} else if err != nil {
				t.Fatal(err)
			}
			s.holds(c.holds)
		})
	}
}
