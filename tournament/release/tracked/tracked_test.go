package tracked

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/store/proposed"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release"
)

const (
	text = "---\nname: tagger\ndescription: Tags notes.\n---\n\n## Steps\n\n- Tag them.\n\n## Order\n\n- Oldest first.\n"
	rule = "- At most three tags.\n"
)

var better = strings.Replace(text, "- Tag them.\n", "- Tag them.\n"+rule, 1)

// A shop is a project's repository with a skill.
type shop struct {
	t         *testing.T
	home, dir string
	in        *release.Installer
	name      string // of the skill, or the key of a file
	said      []string
}

func newShop(t *testing.T) *shop {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"HOME": home, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": filepath.Join(home, ".gitconfig"), "XDG_CONFIG_HOME": "",
		"EMAIL": "", "GIT_COMMITTER_EMAIL": ""} {
		t.Setenv(name, value)
	}
	s := &shop{t: t, home: home, dir: filepath.Join(home, "shop"), name: "tagger"}
	s.write(filepath.Join(home, ".gitconfig"), "[user]\n\tname = Mia\n\temail = mia@example.org\n[init]\n\tdefaultBranch = main\n")
	data := datadir.Dir(filepath.Join(home, "data"))
	if err := os.MkdirAll(string(data), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), data.Database())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	s.in = &release.Installer{Store: db, Dir: data, Access: datadir.Writes, Now: time.Now, Layout: s.layout(s.dir),
		Say:  func(format string, args ...any) { s.said = append(s.said, fmt.Sprintf(format, args...)) },
		Note: func(string, hook.NoteKind, string, ...any) {}}
	s.write(s.path(), text)
	s.git("init", "-q")
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "a skill")
	return s
}

// layout is that of somebody who works in the folder of a project.
func (s *shop) layout(dir string) *skill.Layout {
	l := &skill.Layout{Getenv: func(string) string { return "" }, SkillsDir: filepath.Join(dir, ".claude", "skills"),
		Configured: func() ([]string, error) { return nil, nil }}
	l.Tracked = Text(l)
	return l
}

func (s *shop) path() string {
	return filepath.Join(s.dir, ".claude", "skills", "tagger", skill.FileName)
}

func (s *shop) write(path, text string) {
	s.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		s.t.Fatal(err)
	}
}

// git runs git as the owner of the repository.
func (s *shop) git(args ...string) string {
	s.t.Helper()
	out, err := exec.Command("git", append([]string{"-C", s.dir}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s *shop) live() *skill.Live {
	s.t.Helper()
	live, err := s.in.Layout.Live(s.name)
	if err != nil {
		s.t.Fatal(err)
	}
	return live
}

// holds demands what is in the working tree.
func (s *shop) holds(want string) {
	s.t.Helper()
	if got, err := os.ReadFile(s.path()); err != nil || string(got) != want {
		s.t.Errorf("the working tree has %q (%v), want %q", got, err, want)
	}
}

// proved stores that the gate has proved a text against the default branch's, with what
// taught it.
func (s *shop) proved(text string, cases ...eval.Case) {
	s.t.Helper()
	live := s.live()
	if err := s.in.Record(s.t.Context(), live); err != nil {
		s.t.Fatal(err)
	}
	sha, base := skill.HashText([]byte(text)), live.Doc.Hash()
	var taught []string
	for i := range cases {
		cases[i].Skill, cases[i].Split = s.name, eval.Train
		taught = append(taught, cases[i].ID)
	}
	_, _, err := s.in.Store.SaveCases(s.t.Context(), cases)
	j := s.in.Store.Journal("run-" + sha[:6])
	for _, err := range []error{err,
		j.SaveRun(s.t.Context(), &record.Run{ID: "run-" + sha[:6], Skill: s.name, Status: record.Finished, Incumbent: base, Challenger: sha}),
		j.SaveCandidate(s.t.Context(), &record.Candidate{SHA: sha, Run: "run-" + sha[:6], Seq: 1, Parents: []string{base}, Operator: "reflect",
			State: record.Pooled, Text: []byte(text), Taught: taught, Shown: taught}),
		j.SaveTrial(s.t.Context(), &record.TrialRecord{Skill: s.name, Incumbent: base, Challenger: sha, Run: "run-" + sha[:6], Decision: pareto.Promote,
			State: []byte(`{"version":1}`), Updated: time.Now()})} {
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

// session stores a session of a person, "" for the shop's owner.
func (s *shop) session(id, author string) {
	s.t.Helper()
	if err := s.in.Store.SaveSession(s.t.Context(), &harvest.Session{ID: id, Agent: "claude-code", Path: "/sessions/" + id, CWD: "/work/other/project", Author: harvest.AuthorOf(author)}); err != nil {
		s.t.Fatal(err)
	}
}

func corrected(id, session, prompt, said string) eval.Case {
	return eval.Case{ID: id, Prompt: prompt, Checks: []eval.Check{{Type: "judge", Rubric: said, Feedback: said}},
		Source: &eval.Source{Agent: "claude-code", Session: session, Origin: "mined", Outcome: "corrected", Stratum: "corrected", Time: time.Date(2026, 11, len(id), 9, 0, 0, 0, time.UTC)}}
}

// promote is the owner's command.
func (s *shop) promote(o Options) (*Done, error) {
	s.t.Helper()
	in := *s.in
	in.Word = true
	plan, err := in.Next(s.t.Context(), s.live(), store.OpPromote, release.Request{})
	if err != nil {
		return nil, err
	}
	if o.Kind == "" {
		o.Kind = proposed.Tree
	}
	o.Redactor = redact.Detector{}
	return Promote(s.t.Context(), &in, plan, o)
}

// refused demands a refusal that says this.
func (s *shop) refused(err error, says string) {
	s.t.Helper()
	if kind, _ := problem.Of(err); kind != problem.Refused || !strings.Contains(err.Error(), says) {
		s.t.Errorf("%v, want a refusal with %q", err, says)
	}
}

func (s *shop) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// What others have is the text that everything is about; the working tree and other
// branches are no edits.
func TestBase(t *testing.T) {
	s := newShop(t)
	if live := s.live(); !live.Tracked || string(live.Doc.Render()) != text {
		t.Fatalf("%v, %q", live.Tracked, live.Doc.Render())
	}
	if err := s.in.Record(t.Context(), s.live()); err != nil {
		t.Fatal(err)
	}
	s.write(s.path(), "dirty")
	s.git("checkout", "-q", "-b", "aside")
	s.git("commit", "-qam", "aside")
	tree := filepath.Join(s.home, "tree")
	s.git("worktree", "add", "-q", tree, "main")
	for _, dir := range []string{s.dir, tree} {
		s.in.Layout = s.layout(dir)
		if got := string(s.live().Doc.Render()); got != text {
			t.Errorf("%s: %q", dir, got)
		}
		if err := s.in.Record(t.Context(), s.live()); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := s.in.Store.Versions(t.Context(), "tagger"); err != nil || len(all) != 1 {
		t.Errorf("%d versions of one text (%v): %q", len(all), err, s.said)
	}
	s.in.Layout = s.layout(s.dir)
	s.git("branch", "-q", "-f", "odd", "main")
	s.git("worktree", "remove", tree)
	s.git("branch", "-q", "-D", "main")
	if live := s.live(); !live.Tracked || string(live.Doc.Render()) != "dirty" { // nobody else has it
		t.Errorf("%v, %q without a default branch", live.Tracked, live.Doc.Render())
	}
}

// A person's own folder of an agent may be in a repository that is theirs alone; a
// project's file is not theirs, whatever leads to it.
func TestOwn(t *testing.T) {
	s := newShop(t)
	s.in.Layout.SkillsDir = ""
	if err := os.MkdirAll(filepath.Join(s.home, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(filepath.Dir(s.path())), filepath.Join(s.home, ".claude", "skills")); err != nil {
		t.Fatal(err)
	}
	if s.live().Tracked {
		t.Error("what a person keeps in a repository of their own counts as shared")
	}
	s.git("-c", "user.email=leo@example.org", "commit", "-q", "--allow-empty", "-m", "hello")
	if !s.live().Tracked {
		t.Error("a repository with two authors counts as one person's")
	}
}

// Whose a repository is that does not tell all of its authors is not known.
func TestUnknownAuthors(t *testing.T) {
	for name, change := range map[string]func(s *shop){
		"no default branch": func(s *shop) { s.git("branch", "-q", "-m", "trunk") },
		"no commit":         func(s *shop) { s.git("update-ref", "-d", "refs/heads/main") },
		"a shallow clone": func(s *shop) {
			s.git("-c", "user.email=leo@example.org", "commit", "-q", "--allow-empty", "--amend", "--reset-author", "-m", "a skill")
			s.git("commit", "-q", "--allow-empty", "-m", "mine")
			clone := filepath.Join(s.home, "clone")
			s.git("clone", "-q", "--depth=1", "file://"+s.dir, clone)
			s.dir = clone
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			change(s)
			s.in.Layout.SkillsDir = ""
			s.must(os.MkdirAll(filepath.Join(s.home, ".claude"), 0o700))
			s.must(os.Symlink(filepath.Dir(filepath.Dir(s.path())), filepath.Join(s.home, ".claude", "skills")))
			if !s.live().Tracked {
				t.Error("a repository whose authors are not known counts as one person's")
			}
		})
	}
}

// Nothing but the owner's command changes the file: every other writer is refused.
func TestWriters(t *testing.T) {
	s := newShop(t)
	s.proved(better)
	const says = "so others get it: it is changed at your word alone"
	offer := record.Version{Skill: "tagger", SHA: skill.HashText([]byte(better)), Parent: skill.HashText([]byte(text)), Author: "evolve", Operator: "reflect", Proven: true, Text: []byte(better)}
	main, err := s.in.Layout.Main("tagger")
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string][]skill.Target{"a night, or a run with --promote": nil, "a target that is named": {main}} {
		v := offer
		plan, err := s.in.PlanProved(t.Context(), s.live(), &v, to)
		if err != nil {
			t.Fatal(err)
		}
		done, err := s.in.Apply(t.Context(), plan)
		if err != nil {
			t.Fatal(err)
		}
		if err := done.HomeRefusal(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, night := range []bool{false, true} {
		_, err := s.in.PlanTry(t.Context(), s.live(), release.Request{At: offer.SHA[:12], ByNight: night})
		if night { // its owner is told that it is proved already
			s.refused(err, says)
		} else if err == nil {
			t.Error("a proved text may be tried")
		}
	}
	s.holds(text)
	if all, err := s.in.Store.Versions(t.Context(), "tagger"); err != nil || len(all) != 1 {
		t.Errorf("%d versions, %v", len(all), err)
	}
	if command, against, err := s.in.Offer(t.Context(), s.live(), waiting(t, s)); command != "evolve promote tagger" || len(against) > 0 || err != nil {
		t.Errorf("%q is offered, with %v, %v", command, against, err)
	}

	// Another place that git tracks is changed at a named word alone.
	other := filepath.Join(s.dir, "team")
	s.write(filepath.Join(other, "tagger", skill.FileName), text)
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "a copy")
	for _, word := range []bool{false, true} {
		in := *s.in
		in.Word = word
		plan, err := in.PlanPromotion(t.Context(), s.live(), release.Request{To: []skill.Target{{Name: other, Dir: other}}})
		if err != nil {
			t.Fatal(err)
		}
		done, err := in.Apply(t.Context(), plan)
		if err != nil {
			t.Fatal(err)
		}
		if err := done.Refusal(); word != (err == nil) {
			t.Errorf("word %v: %v", word, err)
		}
	}
}

// A file of standing instructions goes the same ways.
func TestFile(t *testing.T) {
	s := newShop(t)
	const was, now = "# Shop\n\nRun the tests.\n\n## Style\n\n- Short names.\n", "# Shop\n\nRun the tests before you commit.\n\n## Style\n\n- Short names.\n"
	path := filepath.Join(s.dir, "CLAUDE.md")
	s.write(path, was)
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "instructions")
	key, err := s.in.Layout.Key(path)
	if err != nil {
		t.Fatal(err)
	}
	s.name = key
	s.proved(now)
	s.write(path, strings.Replace(was, "Short", "Long", 1))
	if _, err := s.promote(Options{ForEveryone: true}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != strings.Replace(now, "Short", "Long", 1) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Rollback(t.Context(), s.in, s.live(), false); err != nil {
		t.Fatal(err)
	}
	d, err := s.promote(Options{Kind: proposed.Branch, Branch: "x", ForEveryone: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.git("show", "x:CLAUDE.md"); got != strings.TrimSpace(now) {
		t.Errorf("%q", got)
	}
	if subject := s.git("log", "-1", "--format=%s", d.Commit); subject != "CLAUDE.md: reword “Run the tests before you commit.”" {
		t.Error(subject)
	}

	offer := record.Version{Skill: key, SHA: d.Version.SHA, Parent: s.live().Doc.Hash(), Author: "evolve", Operator: "reflect", Proven: true, Text: []byte(now)}
	plan, err := s.in.PlanProved(t.Context(), s.live(), &offer, nil)
	if err != nil {
		t.Fatal(err)
	}
	done, err := s.in.Apply(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	s.refused(done.HomeRefusal(), "so others get it: it is changed at your word alone")
}
