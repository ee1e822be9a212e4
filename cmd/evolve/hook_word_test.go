//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/owner"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

const (
	weakGuard   = "#!/bin/sh\ngrep -q 'push --force' && exit 2\nexit 0\n"
	strongGuard = "#!/bin/sh\ngrep -qe 'push.*--force' && exit 2\nexit 0\n"
)

// betterGuard writes a hook's script at dir/guard.sh, and records a text that is shown to be
// better than it. It returns the hook's key.
func betterGuard(t *testing.T, db *store.Store, dir string) (key, path string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	dir, err := filepath.EvalSymlinks(dir)
	must(err)
	path = filepath.Join(dir, "guard.sh")
	must(os.WriteFile(path, []byte(weakGuard), 0o755))
	key = subject.OfHook(dir, "guard.sh").Key()
	weak, strong := skill.HashText([]byte(weakGuard)), skill.HashText([]byte(strongGuard))
	run := &record.Run{ID: "20300102-000000-0000aa", Skill: key, Status: record.Finished, Incumbent: weak, Challenger: strong, Started: time.Now(), Ended: time.Now(), Config: json.RawMessage(`{"hook":true}`)}
	j := db.Journal(run.ID)
	must(j.SaveRun(t.Context(), run))
	for i, c := range []record.Candidate{{Text: []byte(weakGuard), SHA: weak, State: record.Seed, Operator: "found"},
		{Text: []byte(strongGuard), SHA: strong, State: record.Pooled, Operator: "reflect", Parents: []string{weak}}} {
		c.Run, c.Seq = run.ID, i
		must(j.SaveCandidate(t.Context(), &c))
	}
	tr, none := pareto.NewTrial(pareto.DefaultConfig()), pareto.NewTrial(pareto.DefaultConfig())
	for range 40 {
		tr.Add(pareto.Pair{Quality: 1, Retries: 1})
	}
	state, err := json.Marshal(map[string]any{"version": 1, "start": none, "trial": tr})
	must(err)
	must(j.SaveTrial(t.Context(), &record.TrialRecord{Skill: key, Incumbent: weak, Challenger: strong, Run: run.ID, Decision: pareto.Promote, State: state, Updated: time.Now()}))
	return key, path
}

// TestTerminalHook: on a terminal promote shows how a hook's script changes and asks; whatever
// else is answered, nothing changes. With -y the bytes have to be named.
func TestTerminalHook(t *testing.T) {
	t.Parallel()
	s := newStation(t, 0)
	home := s.home()
	db := s.open(home)
	_, path := betterGuard(t, db, t.TempDir())
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	is := func(want string) {
		t.Helper()
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want || info.Mode().Perm() != 0o755 {
			t.Fatalf("%v %s %v", info.Mode(), got, err)
		}
	}
	sha := skill.HashText([]byte(strongGuard))[:12]
	for _, k := range []struct {
		args []string
		keys string // "" if nothing is asked
		code int
		says string
		then string
	}{
		{[]string{"promote", path}, "n\n", exitRefused, `name the bytes that are to run; nothing was changed`, weakGuard},
		{[]string{"promote", path}, "\n", exitRefused, `nothing was changed`, weakGuard},
		{[]string{"promote", path, "-y"}, "", exitRefused, `nothing was changed`, weakGuard},
		{[]string{"promote", path + "@" + sha[:11], "-y"}, "", exitRefused, `nothing was changed`, weakGuard},
		{[]string{"try", path}, "", exitRefused, `a hook is put in place by promote, at your word`, weakGuard},
		{[]string{"promote", path}, "y\n", exitDone, `is installed in`, strongGuard},
		{[]string{"rollback", path}, "", exitDone, `is installed in`, weakGuard},
		{[]string{"promote", path + "@" + sha, "-y"}, "", exitDone, `is installed in`, strongGuard},
	} {
		p := s.sit(140, home, k.args)
		if k.keys != "" {
			if seen := p.await(`Put these bytes \(` + sha + `\) in place\?.*\[y/N\]`); !strings.Contains(seen, "-grep -q 'push --force'") || !strings.Contains(seen, "+grep -qe 'push.*--force'") {
				t.Errorf("asked without the change:\n%s", seen)
			}
			p.press(k.keys)
		}
		has(t, p.leaves(k.code), k.says)
		is(k.then)
	}
}

// TestServeHook: the pages list a hook with its verdict, show how its script changes, and leave
// it to the terminal to put it in place; a rollback too.
func TestServeHook(t *testing.T) {
	t.Parallel()
	d := serveDemo(t)
	key, path := betterGuard(t, d.db, filepath.Dir(filepath.Dir(d.path)))
	at := "/skills/" + url.PathEscape(key)
	page := func(path string) string { return html.UnescapeString(d.get(at + path)) }
	sha := skill.HashText([]byte(strongGuard))[:12]
	d.says(page(""), path, "better (at most 5 % luck)")
	promote := page("/promote")
	d.says(promote, "push.*--force", "nothing but your word for its exact bytes changes it", "evolve promote "+path+"@"+sha)
	if strings.Contains(promote, "<form") {
		t.Errorf("the page has a form:\n%s", promote)
	}
	forged := form(d.get("/skills/dataviz/promote"))
	forged.Set("at", skill.HashText([]byte(strongGuard)))
	d.says(html.UnescapeString(d.post(at+"/promote", forged, http.StatusConflict)), "nothing but your word")
	d.says(page("/run"), "evolve --hook "+path)
	if got, err := os.ReadFile(path); err != nil || string(got) != weakGuard {
		t.Errorf("the script is %q, %v", got, err)
	}
}

// TestAgentsHook: what an agent types neither puts a script in place that its hook runs, nor puts
// an older one back: the hook may be what holds that agent.
func TestAgentsHook(t *testing.T) {
	s := newStation(t, 0)
	home := s.home()
	db := s.open(home)
	_, path := betterGuard(t, db, t.TempDir())
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("EVOLVE_HOME", home)
	t.Setenv("HOME", home)
	agent := &owner.Agent{Name: "Codex", Sign: "variable CODEX_CI"}
	for _, k := range []struct {
		by   *owner.Agent
		args []string
		code int
		then string
	}{
		{agent, []string{"promote", path + "@" + skill.HashText([]byte(strongGuard)), "-y"}, exitRefused, weakGuard},
		{nil, []string{"promote", path + "@" + skill.HashText([]byte(strongGuard)), "-y"}, exitDone, strongGuard},
		{agent, []string{"rollback", path}, exitRefused, strongGuard},
		{nil, []string{"rollback", path}, exitDone, weakGuard},
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), machine{typist: k.by}, k.args, strings.NewReader("y\n"), &out, &errs)
		if code != k.code || (k.by != nil) != strings.Contains(errs.String(), "typed in a session of Codex") {
			t.Errorf("%v: exit %d\n%s%s", k.args, code, out.String(), errs.String())
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != k.then {
			t.Errorf("%v: %s, %v", k.args, got, err)
		}
	}
}

// TestInterruptedHook: an interrupted run of a hook goes on by the command that began it, which
// status names; --resume, which asks agents, refuses it and names it too.
func TestInterruptedHook(t *testing.T) {
	s := newStation(t, 0)
	home := s.home()
	db := s.open(home)
	key, path := betterGuard(t, db, t.TempDir())
	cut := &record.Run{ID: "20300103-000000-0000aa", Skill: key, Status: record.Interrupted, Incumbent: skill.HashText([]byte(weakGuard)), Started: time.Now().Add(time.Hour), Config: json.RawMessage(`{"hook":true}`)}
	if err := errors.Join(db.Journal(cut.ID).SaveRun(t.Context(), cut), db.Close()); err != nil {
		t.Fatal(err)
	}
	t.Setenv("EVOLVE_HOME", home)
	t.Setenv("HOME", home)
	for _, args := range [][]string{{"status"}, {"--resume", cut.ID}} {
		var out, errs bytes.Buffer
		code := run(t.Context(), machine{}, append(args, "--skills-dir", s.skills), strings.NewReader(""), &out, &errs)
		if want := map[bool]int{true: exitDone, false: exitUsage}[len(args) == 1]; code != want || !strings.Contains(out.String()+errs.String(), "`evolve --hook "+path+"`") {
			t.Errorf("%v: exit %d\n%s%s", args, code, out.String(), errs.String())
		}
	}
}
