package tracked

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store/proposed"
)

// A branch and a patch are against the default branch, and leave the working tree alone.
func TestBranchAndPatch(t *testing.T) {
	s := newShop(t)
	s.proved(better)
	s.write(s.path(), strings.Replace(text, "Tag them", "Tag all of them", 1)) // it would overlap
	_, err := s.promote(Options{Kind: proposed.Branch, Branch: "evolve/tagger"})
	s.refused(err, "no more than one person")
	d, err := s.promote(Options{Kind: proposed.Patch, ForEveryone: true})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("git", "-C", s.dir, "apply", "--cached", "--check", "-")
	cmd.Stdin = bytes.NewReader(d.Patch)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("git apply: %v: %s\n%s", err, out, d.Patch)
	}
	branch := Options{Kind: proposed.Branch, Branch: "evolve/tagger", ForEveryone: true}
	if d, err = s.promote(branch); err != nil {
		t.Fatal(err)
	}
	if got := s.git("show", "evolve/tagger:.claude/skills/tagger/SKILL.md"); got != strings.TrimSpace(better) {
		t.Errorf("%q", got)
	}
	if got := s.git("log", "-1", "--format=%an <%ae>%n%B", d.Commit); got != "Mia <mia@example.org>\n.claude/skills/tagger/SKILL.md: add “At most three tags.”\n\n- add “At most three tags.”\n\nNot tried against the text before." {
		t.Error(got)
	}
	_, err = s.promote(branch)
	s.refused(err, "exists already")
	if _, err := s.promote(Options{Kind: proposed.Branch, Branch: "a..b", ForEveryone: true}); err == nil {
		t.Error("a bad name makes a branch")
	}

	back := func() (string, error) { return Rollback(t.Context(), s.in, s.live(), false) }
	s.git("worktree", "add", "-q", filepath.Join(s.home, "tree"), "evolve/tagger")
	_, err = back()
	s.refused(err, "is checked out")
	s.git("worktree", "remove", filepath.Join(s.home, "tree"))
	s.git("branch", "-q", "-f", "evolve/tagger", "main")
	_, err = back()
	s.refused(err, "has other commits")
	s.git("branch", "-q", "-f", "evolve/tagger", d.Commit)
	if _, err := back(); err != nil {
		t.Fatal(err)
	}
	if got := s.git("branch", "--list", "evolve/tagger"); got != "" {
		t.Errorf("branch %s is there", got)
	}
	if _, err = s.promote(branch); err != nil { // again
		t.Fatal(err)
	}
	s.git("branch", "-q", "-D", "evolve/tagger")
	if words, err := back(); err != nil || !strings.Contains(words, "gone already") {
		t.Errorf("%q, %v", words, err)
	}

	s.write(filepath.Join(s.home, ".gitconfig"), "")
	_, err = s.promote(branch)
	s.refused(err, "git does not know your name and address")
	s.git("rm", "-q", "-f", "-r", "--cached", ".")
	s.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "gone")
	s.git("add", "-A")
	s.write(s.path(), text)
	_, err = s.promote(branch)
	s.refused(err, "main has no .claude/skills/tagger/SKILL.md")
	_, err = s.promote(Options{ForEveryone: true})
	if err != nil {
		t.Fatal(err)
	}
	s.holds(better)
}

// Two people's sessions speak for others; more of one person's do not.
func TestPeople(t *testing.T) {
	for name, c := range map[string]struct {
		authors []string
		config  string // "" for the owner's
		ok      bool
	}{
		"mine":                         {authors: []string{"", ""}},
		"mine, also through Entire":    {authors: []string{"", "mia@example.org"}},
		"mine and another's":           {authors: []string{"", "leo@example.org"}, ok: true},
		"two others'":                  {authors: []string{"leo@example.org", "kim@example.org"}, ok: true},
		"another's":                    {authors: []string{"leo@example.org", "leo@example.org"}},
		"mine and perhaps mine":        {authors: []string{"", "leo@example.org"}, config: "[core]\n\tpager = less\n"},
		"two others', I may be either": {authors: []string{"", "leo@example.org", "kim@example.org"}, config: "[core]\n\tpager = less\n", ok: true},
		"nobody's":                     {},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			var cases []eval.Case
			for i, who := range c.authors {
				id := strings.Repeat("c", i+1)
				s.session("session-"+id, who)
				cases = append(cases, corrected(id, "session-"+id, "tag "+id, "at most three tags"))
			}
			s.proved(better, cases...)
			if c.config != "" {
				s.write(filepath.Join(s.home, ".gitconfig"), c.config)
			}
			_, err := s.promote(Options{})
			if c.ok && err != nil {
				t.Error(err)
			} else if !c.ok {
				s.refused(err, "no more than one person")
			}
		})
	}
}

// What leaves the machine holds rules, counts and dates; anything else of the sessions is
// refused, quotations unless the owner wants them.
func TestLeaks(t *testing.T) {
	const long = "please never tag the notes of our customer Sunrise with internal words again"
	for name, c := range map[string]struct {
		rule, refusal string
		quotes        bool
	}{
		"a rule":               {rule: "Use at most three tags."},
		"a short one":          {rule: "Never tag the notes of our customer."},
		"a quotation":          {rule: "The user said: Never tag the notes of our customer Sunrise with internal words.", refusal: "a quotation: “never tag the notes of our customer sunrise”"},
		"a wanted one":         {rule: "The user said: Never tag the notes of our customer Sunrise with internal words.", quotes: true},
		"a request":            {rule: "As in: tag all the notes that I have written since March.", refusal: "a quotation"},
		"a secret":             {rule: "Use ghp_16C7e42F292c6912E7710c838347Ae178B4a for it.", refusal: "a secret"},
		"a wanted secret":      {rule: "Use ghp_16C7e42F292c6912E7710c838347Ae178B4a for it.", refusal: "a secret", quotes: true},
		"an address":           {rule: "Ask leo.berg@example.org first.", refusal: "personal data (mail)"},
		"a wrapped quotation":  {rule: "Never tag the\n  notes of our customer\n  Sunrise with internal words.", refusal: "a quotation: “never tag the notes of our customer sunrise”"},
		"in hidden characters": {rule: "Ne\u00adver tag the no\u200btes of our customer Sun\u200drise with internal words.", refusal: "a quotation"},
		"without spaces":       {rule: "请不要在给客户阳光公司的笔记上加内部标签。", refusal: "a quotation: “请不要在给客户阳光公司的笔记上加”"},
		"a short one of these": {rule: "请不要在给客户的笔记上加标签。"},
		"a folder of a home":   {rule: "Read ~/acme/notes first.", refusal: "the folder ~/acme"},
		"a program's folder":   {rule: "Read ~/.config/tagger first."},
		"root's home":          {rule: "Read `/root/acme` first.", refusal: "the folder /root/acme"},
		"a mounted home":       {rule: "Read /mnt/c/Users/leo/notes first.", refusal: "the folder /mnt/c/Users/leo"},
		"half of an id":        {rule: "As in 0AF31C77.", refusal: "the id of a session"},
		"a home":               {rule: "Read /home/leo/notes first.", refusal: "the folder /home/leo"},
		"another project":      {rule: "Read /work/other/project/README first.", refusal: "the folder /work/other/project"},
		"a session":            {rule: "As in session-0af31c.", refusal: "the id of a session"},
		"what was there":       {rule: "Use at most four tags."},
		"an address of a page": {rule: "See https://example.org/home/leo for it."},
		"a path of its own":    {rule: "Read docs/tags.md first."},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			s.session("session-0af31c", "")
			s.session("session-b2", "leo@example.org")
			s.session("0af31c77-1c2d-4e5f-8a9b-0123456789ab", "")
			s.proved(strings.Replace(text, "- Tag them.\n", "- Tag them.\n- "+c.rule+"\n", 1),
				corrected("three", "0af31c77-1c2d-4e5f-8a9b-0123456789ab", "tag those", "请不要在给客户阳光公司的笔记上加内部标签"),
				corrected("one", "session-0af31c", "Tag all the notes that I have written since March", long),
				corrected("eleven", "session-b2", "tag these", "use at most three tags"))
			for _, kind := range []proposed.Kind{proposed.Patch, proposed.Branch} {
				d, err := s.promote(Options{Kind: kind, Branch: "x", Quotes: c.quotes})
				if c.refusal != "" {
					s.refused(err, c.refusal)
					if s.git("branch", "--list", "x") != "" {
						t.Error("there is a branch")
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if kind == proposed.Patch {
					continue
				}
				message := s.git("log", "-1", "--format=%B", d.Commit)
				if strings.Contains(message, "said:") != c.quotes || strings.Contains(message, "session-") || strings.Contains(message, "Leo") {
					t.Error(message)
				}
				if name == "a rule" && message != ".claude/skills/tagger/SKILL.md: add “Use at most three tags.”\n\n"+
					"- add “Use at most three tags.”: corrected in 1 session, 2026-11-06\n\nNot tried against the text before." {
					t.Error(message)
				}
			}
		})
	}
}
