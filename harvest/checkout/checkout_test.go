package checkout

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/work"
)

// minute is a time of the tests, which all have whole minutes.
func minute(n int) time.Time { return time.Date(2026, 3, 1, 9, n, 0, 0, time.UTC) }

// run runs git at a time of the tests.
func run(t *testing.T, dir string, n int, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	date := minute(n).Format(time.RFC3339)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date,
		"GIT_AUTHOR_NAME=dev", "GIT_AUTHOR_EMAIL=dev@example.com", "GIT_COMMITTER_NAME=dev", "GIT_COMMITTER_EMAIL=dev@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit makes a commit at minute n and returns its id.
func commit(t *testing.T, dir string, n int) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "file"), fmt.Append(nil, n), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, dir, n, "add", "-A")
	run(t, dir, n, "commit", "-q", "-m", "c")
	return run(t, dir, n, "rev-parse", "HEAD")
}

func newRepository(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on PATH")
	}
	dir := t.TempDir()
	run(t, dir, 0, "init", "-q", "-b", "main")
	return dir
}

// turns are one at each minute.
func turns(minutes ...int) (all []harvest.Turn) {
	for _, n := range minutes {
		all = append(all, harvest.Turn{Time: minute(n), Prompt: "p"})
	}
	return all
}

func check(t *testing.T, name string, s *harvest.Session, turn int, commit string, approximate bool) {
	t.Helper()
	var want *eval.Workspace
	if commit != "" {
		want = &eval.Workspace{Repo: s.CWD, Commit: commit, Approximate: approximate}
	}
	got, err := new(Finder).Workspace(t.Context(), s, turn)
	if err != nil {
		t.Fatal(err)
	}
	if (got == nil) != (want == nil) || got != nil && *got != *want {
		t.Errorf("%s: turn %d is at %+v, want %+v", name, turn, got, want)
	}
}

const exact, approximate = false, true

// A session of an agent that records no commit, in a repository with its reflog.
func TestReflog(t *testing.T) {
	dir := newRepository(t)
	one, two := commit(t, dir, 10), commit(t, dir, 20)
	run(t, dir, 25, "checkout", "-q", "-b", "topic", one)
	three := commit(t, dir, 30)
	run(t, dir, 40, "checkout", "-q", "main")

	s := &harvest.Session{CWD: dir, Branch: "main", Started: minute(5), Turns: turns(5, 15, 20, 21, 27, 31, 41)}
	for i, want := range []struct {
		commit      string
		approximate bool
	}{
		{"", false}, // before the first commit
		{one, exact},
		{two, approximate}, // in the second of the commit: before it or after it
		{two, exact},
		{one, exact}, // on another branch
		{three, exact},
		{two, exact},
	} {
		check(t, "main", s, i, want.commit, want.approximate)
	}
	// What was checked out is known although the branch was renamed or deleted since.
	run(t, dir, 50, "branch", "-q", "-m", "topic", "renamed")
	check(t, "renamed", s, 5, three, exact)
	run(t, dir, 51, "branch", "-q", "-D", "renamed")
	check(t, "deleted", s, 5, three, exact)
	run(t, dir, 52, "checkout", "-q", "--detach", one)
	s.Turns = append(s.Turns, turns(53)...)
	check(t, "detached", s, 7, one, exact)
	s.CWD = filepath.Join(dir, "sub")
	if err := os.Mkdir(s.CWD, 0o700); err != nil {
		t.Fatal(err)
	}
	check(t, "below", s, 1, one, exact)
	s.CWD = dir

	// A line that was dropped in between leaves a gap.
	log := filepath.Join(dir, ".git", "logs", "HEAD")
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	if err := os.WriteFile(log, []byte(lines[0]+strings.Join(lines[2:], "")), 0o600); err != nil {
		t.Fatal(err)
	}
	check(t, "gap", s, 3, one, approximate)
	if err := os.Remove(log); err != nil {
		t.Fatal(err)
	}
	check(t, "no log", s, 3, two, approximate)
	s.Branch = "gone"
	check(t, "no log and no branch", s, 1, one, approximate)
	check(t, "before the first commit", s, 0, "", false)
}

// Each worktree has a HEAD of its own.
func TestWorktree(t *testing.T) {
	dir := newRepository(t)
	one := commit(t, dir, 10)
	tree := filepath.Join(t.TempDir(), "tree")
	run(t, dir, 12, "worktree", "add", "-q", "-b", "aside", tree)
	commit(t, dir, 20)
	three := commit(t, tree, 30)
	check(t, "worktree", &harvest.Session{CWD: tree, Turns: turns(25)}, 0, one, exact)
	check(t, "worktree", &harvest.Session{CWD: tree, Turns: turns(31)}, 0, three, exact)
}

// A shallow clone has no log of what was checked out elsewhere, and not all commits.
func TestClones(t *testing.T) {
	dir := newRepository(t)
	commit(t, dir, 10)
	two, three := commit(t, dir, 20), commit(t, dir, 30)
	shallow := filepath.Join(t.TempDir(), "shallow")
	run(t, dir, 40, "clone", "-q", "--depth=2", "file://"+dir, shallow)
	partial := filepath.Join(t.TempDir(), "partial")
	run(t, dir, 0, "config", "uploadpack.allowFilter", "true")
	run(t, dir, 40, "clone", "-q", "--filter=tree:0", "--no-checkout", "file://"+dir, partial)
	for _, clone := range []string{shallow, partial} {
		s := &harvest.Session{CWD: clone, Branch: "main", Turns: turns(25, 35, 45)}
		check(t, clone, s, 0, two, approximate)
		check(t, clone, s, 1, three, approximate)
		check(t, clone, s, 2, three, exact)
	}
	check(t, "cut off", &harvest.Session{CWD: shallow, Turns: turns(15)}, 0, "", false)
}

// A commit that the session recorded is that of its beginning.
func TestRecorded(t *testing.T) {
	dir := newRepository(t)
	one, two := commit(t, dir, 10), commit(t, dir, 20)
	s := &harvest.Session{CWD: dir, Commit: one, Started: minute(15), Turns: turns(16, 17, 25)}
	check(t, "first", s, 0, one, exact)
	check(t, "not moved", s, 1, one, exact)
	check(t, "moved", s, 2, two, exact)
	s.Turns[0].Time = minute(21) // it waited for its user
	check(t, "first", s, 0, two, exact)
	s.Turns[0].Time = time.Time{}
	check(t, "no time", s, 0, one, exact)

	s.Commit, s.Turns = two, turns(16, 17) // another clone had stood here
	check(t, "other", s, 0, two, exact)
	check(t, "other", s, 1, two, approximate)
	s.Started = minute(17) // a fork begins with the turns of another session
	check(t, "fork", s, 0, one, exact)
	check(t, "fork", s, 1, two, exact)

	if err := os.RemoveAll(filepath.Join(dir, ".git", "logs")); err != nil {
		t.Fatal(err)
	}
	s = &harvest.Session{CWD: dir, Commit: one, Started: minute(15), Turns: turns(16, 25)}
	check(t, "no log", s, 0, one, exact)
	check(t, "no log", s, 1, one, approximate)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	check(t, "gone", s, 0, one, exact)
	check(t, "gone", s, 1, one, approximate)
	s.Commit = ""
	check(t, "gone", s, 0, "", false)
}

// What the session changed after the commit is not in it.
func TestUnsaved(t *testing.T) {
	dir := newRepository(t)
	one, two := commit(t, dir, 10), commit(t, dir, 20)
	second := int64(1000)
	edit := harvest.Turn{Time: minute(15), Tools: []harvest.Tool{{Name: "Edit"}}, Work: []work.Act{{Kind: work.Changed, File: "a"}}}
	ran := func(line string) harvest.Turn {
		return harvest.Turn{Time: minute(15), Tools: []harvest.Tool{{Name: "Bash"}}, Work: []work.Act{{Kind: work.Ran, Line: line}}}
	}
	for name, c := range map[string]struct {
		turn        harvest.Turn
		next        int // minute of the next turn
		commit      string
		approximate bool
	}{
		"edited":             {edit, 16, one, approximate},
		"edited in memory":   {harvest.Turn{Time: minute(15), Work: []work.Act{{Kind: work.Changed, File: work.Memory + "a.md"}}}, 16, one, exact},
		"edited until then":  {edit, 21, two, approximate},
		"committed after it": {harvest.Turn{Time: minute(15), DurationMS: &second, Tools: edit.Tools, Work: edit.Work}, 21, two, exact},
		"work not kept":      {harvest.Turn{Time: minute(15), Tools: edit.Tools}, 16, one, approximate},
		"failed":             {harvest.Turn{Time: minute(15), Tools: []harvest.Tool{{Name: "Edit", Failed: true}}}, 16, one, exact},
		"read":               {harvest.Turn{Time: minute(15), Tools: []harvest.Tool{{Name: "Read"}, {Name: "Grep"}}}, 16, one, exact},
		"listed":             {ran("cd sub && git log --oneline 2>/dev/null | head -3"), 16, one, exact},
		"written":            {ran("git diff > a"), 16, one, approximate},
		"ran anything":       {ran("make generate"), 16, one, approximate},
		"line not kept":      {harvest.Turn{Time: minute(15), Tools: []harvest.Tool{{Name: "Bash"}}}, 16, one, approximate},
	} {
		s := &harvest.Session{CWD: dir, Turns: append([]harvest.Turn{c.turn}, turns(c.next)...)}
		check(t, name, s, 1, c.commit, c.approximate)
	}
}

// Entire's checkpoints name the commits that the user made of the agent's work.
func TestCheckpoints(t *testing.T) {
	dir := newRepository(t)
	one, two := commit(t, dir, 10), commit(t, dir, 20)
	three := commit(t, dir, 30)
	s := &harvest.Session{Path: dir + harvest.CheckpointMark + "/s1", CWD: "/home/somebody/elsewhere", Commit: one, Started: minute(11), Turns: turns(11, 21, 31)}
	s.Turns[0].Committed, s.Turns[1].Committed = two, three
	at := func(name string, turn int, commit string, approximate bool) {
		t.Helper()
		got, err := new(Finder).Workspace(t.Context(), s, turn)
		if want := (eval.Workspace{Repo: dir, Commit: commit, Approximate: approximate}); err != nil || got == nil || *got != want {
			t.Errorf("%s: turn %d is at %+v, %v, want %+v", name, turn, got, err, want)
		}
	}
	at("parent", 0, one, exact)
	at("parent", 1, two, exact)
	at("after the last", 2, three, approximate)
	s.Turns[0].Tools = []harvest.Tool{{Name: "Edit"}}
	at("edited", 1, two, approximate)

	// A commit that was made again is at another place.
	s.Turns = turns(11, 21)
	run(t, dir, 40, "commit", "-q", "--amend", "-m", "again")
	s.Turns[1].Committed = run(t, dir, 40, "rev-parse", "HEAD")
	at("amended", 1, two, approximate)
	s.Turns[0].Time = minute(9)
	if got, err := new(Finder).Workspace(t.Context(), s, 0); got != nil || err != nil {
		t.Errorf("before the first commit: %+v, %v", got, err)
	}
}
