package hook

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/harvest"
)

// TestHeads: the commit at the beginning and at the end of turns is on the bus, each once,
// and no use of a skill.
func TestHeads(t *testing.T) {
	d := newDesk(t)
	repo := t.TempDir()
	at := func(commit string) {
		t.Helper()
		git := filepath.Join(repo, ".git")
		err := errors.Join(os.MkdirAll(filepath.Join(git, "objects"), 0o700), os.MkdirAll(filepath.Join(git, "refs", "heads"), 0o700),
			os.WriteFile(filepath.Join(git, "HEAD"), []byte("ref: refs/heads/main\n"), 0o600), os.WriteFile(filepath.Join(git, "refs", "heads", "main"), []byte(commit+"\n"), 0o600))
		if err != nil {
			t.Fatal(err)
		}
	}
	one, two := strings.Repeat("1", 40), strings.Repeat("2", 40)
	in := `{"session_id":"s","cwd":"` + repo + `","transcript_path":"/t.jsonl"}`
	at(one)
	for range 2 {
		d.fire(Go, SessionStart, in)
		d.fire(Go, Stop, in)
	}
	at(two)
	d.fire(Go, Stop, in)
	d.fire(Go, SessionStart, in) // it was resumed
	d.fire(Go, SessionStart, `{"session_id":"s","cwd":"`+t.TempDir()+`"}`)
	d.fire(Go, SubagentStop, `{"session_id":"s","cwd":"`+repo+`","agent_id":"a"}`)
	all := d.records()
	var got []string
	for _, r := range all {
		got = append(got, string(r.Phase)+" "+r.Head[:1])
		if r.OfUse() {
			t.Errorf("%+v is of a use", r)
		}
	}
	if want := "began 1,stopped 1,stopped 2,began 2"; strings.Join(got, ",") != want {
		t.Errorf("%q, want %s", got, want)
	}
	live := Join(all)
	if ids := live.Sessions(); len(ids) != 0 {
		t.Errorf("uses in %q", ids)
	}
	for name, c := range map[string]struct {
		change func(*harvest.Session)
		want   string
	}{
		"a session":             {func(*harvest.Session) {}, one},
		"known already":         {func(s *harvest.Session) { s.Commit = two }, two},
		"in another folder":     {func(s *harvest.Session) { s.CWD = "/" }, ""},
		"older than its hooks":  {func(s *harvest.Session) { s.Turns[0].Time = noon.Add(-time.Hour) }, ""},
		"of another agent":      {func(s *harvest.Session) { s.Agent = "codex" }, ""},
		"a subagent, some time": {func(s *harvest.Session) { s.ID, s.Subagent = "s/a", "a" }, ""},
	} {
		s := &harvest.Session{ID: "s", Agent: agent, CWD: repo, Turns: []harvest.Turn{{Time: noon.Add(time.Hour)}}}
		c.change(s)
		if live.Merge(s); s.Commit != c.want {
			t.Errorf("%s: commit %q, want %q", name, s.Commit, c.want)
		}
	}
}

// TestHarvestStarts: one is started at the end of a session that there is, and its failure
// is a line in the log.
func TestHarvestStarts(t *testing.T) {
	d := newDesk(t)
	started := 0
	d.Harvest = func() error { started++; return nil }
	file := filepath.Join(t.TempDir(), "t.jsonl")
	in := func(cwd string) string {
		return `{"session_id":"s","cwd":"` + cwd + `","transcript_path":"` + file + `"}`
	}
	d.fire(Go, SessionEnd, in("/shop"))
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.fire(Go, Stop, in("/shop"))
	d.fire(Go, SessionEnd, in("/tmp/evolve-replay-7/x"))
	if started != 0 {
		t.Errorf("%d were started", started)
	}
	d.fire(Go, SessionEnd, in("/shop"))
	d.Harvest = func() error { return &os.PathError{Op: "fork/exec", Path: "evolve", Err: os.ErrPermission} }
	d.fire(Go, SessionEnd, in("/shop"))
	log, err := os.ReadFile(filepath.Join(d.Home, "logs", "SessionEnd.log"))
	if started != 1 || err != nil || !strings.Contains(string(log), "fork/exec") {
		t.Errorf("%d were started; %s, %v", started, log, err)
	}
}
