package hooklearn

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/hooktest"
	"github.com/skill-evolve/evolve/eval/guard/rulefile"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/corrections"
	"github.com/skill-evolve/evolve/harvest/events"
	"github.com/skill-evolve/evolve/harvest/orders"
)

// worked is a session of a day whose first turn has these calls ("edit FILE", a command, or one with
// a + before it that its user permitted), and was read as label.
func worked(t *testing.T, day int, label harvest.Label, calls ...string) *played {
	t.Helper()
	at := func(minute int) time.Time { return time.Date(2026, 1, day, 0, minute, 0, 0, time.UTC) }
	s := &hooktest.Session{Agent: claudeCode, ID: fmt.Sprint("s", day), CWD: "/w"}
	for i, text := range calls {
		e := events.Event{Name: events.PreToolUse, Tool: "Bash", Time: at(i), Outcome: events.Ran}
		in := map[string]string{"command": strings.TrimPrefix(text, "+")}
		if file, ok := strings.CutPrefix(text, "edit "); ok {
			e.Tool, in = "Edit", map[string]string{"file_path": file}
		}
		if strings.HasPrefix(text, "+") {
			e.Outcome = events.Permitted
		}
		var err error
		if e.Input, err = json.Marshal(map[string]any{"tool_use_id": fmt.Sprint(day, i), "tool_input": in}); err != nil {
			t.Fatal(err)
		}
		s.Events, s.Calls = append(s.Events, e), append(s.Calls, e)
	}
	said := &harvest.Session{ID: s.ID, Agent: s.Agent, Turns: []harvest.Turn{{Time: at(0), Reading: &harvest.Reading{Label: label}}, {Time: at(30)}}}
	return &played{Session: s, said: said, moments: momentsOf(s, said)}
}

// lintRule was broken in sessions of these days.
func lintRule(days ...int) corrections.Rule {
	r := corrections.Rule{Rule: "Run the linter before you commit"}
	for _, d := range days {
		r.Quotes = append(r.Quotes, corrections.Quote{Session: fmt.Sprint("s", d), Words: fmt.Sprint("lint fails ", d)})
	}
	return r
}

const (
	goFile = "edit /w/a.go"
	commit = "git commit -m x"
)

// What the older sessions teach is chosen there, and tried on the newer ones alone.
func TestOrder(t *testing.T) {
	bad, good := []string{goFile, commit}, []string{goFile, "make lint", commit}
	all := []*played{
		worked(t, 1, harvest.Corrected, bad...), worked(t, 2, harvest.Accepted, good...), worked(t, 3, harvest.Corrected, bad...), worked(t, 4, harvest.Accepted, good...),
		// From here on they are newer: one is stopped, one was broken otherwise, one is stopped wrongly.
		worked(t, 5, harvest.Corrected, bad...), worked(t, 6, harvest.Corrected, good...), worked(t, 7, harvest.Accepted, goFile, "+"+commit), worked(t, 8, harvest.Accepted, good...),
		worked(t, 9, harvest.Accepted, "edit /w/README.md", commit), worked(t, 10, harvest.Unknown, bad...),
	}
	o := orderOf(lintRule(1, 3, 5, 6), all)
	if o == nil || len(o.old) != 4 || len(o.late) != 6 || strings.Join(o.ask.Words, ", ") != "lint fails 1, lint fails 3" {
		t.Fatalf("%+v", o)
	}
	q := o.question(func(string, string) bool { return true })
	if q == nil || fmt.Sprint(q.Commands) != "[{git commit 2} {make lint 2}]" {
		t.Fatalf("%+v", q)
	}
	if o.question(func(_, id string) bool { return id != "s3" }) != nil {
		t.Error("the words of a session that may not be shown are in the question")
	}
	if q := o.question(func(_, id string) bool { return id != "s2" }); q != nil {
		t.Errorf("commands of a session that may not be shown: %+v", q)
	}
	q.Order = &orders.Order{Steps: [][]string{{"make lint"}}, Before: []string{"git commit", "stop"}, Files: []string{"*.go"}}
	o.learn()
	if len(o.Guard) != 1 || o.Guard[0].Program != "git" {
		t.Fatalf("the weakest guard that holds is the commit alone: %+v, %s", o.Guard, o.None)
	}
	for got, want := range map[string]string{
		o.Older.text(): "stops 2 of 2 corrected sessions: at least 22 %; wrongly in 0 of 2 sessions: at most 78 %",
		o.Newer.text(): "stops 1 of 2 corrected sessions: at least 3 %; wrongly in 1 of 2 sessions: at most 97 %",
	} {
		if got != want {
			t.Errorf("%s, and not %s", got, want)
		}
	}
	dir := t.TempDir()
	if err := o.write(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "first-make-lint-then-git-commit", "first-make-lint-then-git-commit.json"))
	if f, bad := rulefile.Parse(text); err != nil || bad != nil || len(f.Rules) != 1 {
		t.Errorf("%v, %v: %s", err, bad, text)
	}
	if shown := o.text(); !strings.Contains(shown, "stops `git commit` without `make lint` since the last edit of *.go\n") {
		t.Error(shown)
	}
}

// A rule that says nothing of an order, or that the older sessions do not bear out, has no guard.
func TestNoOrder(t *testing.T) {
	good := []string{goFile, "make lint", commit}
	var all []*played
	for day := range 8 {
		all = append(all, worked(t, day+1, []harvest.Label{harvest.Corrected, harvest.Accepted}[day%2], good...))
	}
	if o := orderOf(lintRule(1, 3, 5), all); o != nil {
		t.Errorf("three sessions are too few: %+v", o)
	}
	o := orderOf(lintRule(1, 3, 5, 7), all)
	if o.learn(); o.Guard != nil || o.None != "it is no order over commands that ran" {
		t.Errorf("%+v", o)
	}
	o.ask.Order = &orders.Order{Steps: [][]string{{"make lint"}}, Before: []string{"git commit"}}
	if o.learn(); o.Guard != nil || !strings.Contains(o.text(), "no guard: in the older sessions") {
		t.Errorf("it stops nothing: %+v", o)
	}
}

// Each turn ends once, unless its user stopped it, behind its own calls.
func TestMoments(t *testing.T) {
	p := worked(t, 1, harvest.Accepted, "ls", "pwd")
	p.said.Turns = append(p.said.Turns, harvest.Turn{Time: p.Calls[1].Time.Add(time.Hour), Interrupted: true})
	p.said.Turns[1].Time = p.Calls[1].Time
	var got []string
	for _, m := range momentsOf(p.Session, p.said) {
		got = append(got, fmt.Sprint(m.turn, m.call.Command, m.call.Event))
	}
	if want := "0ls, 0Stop, 1pwd, 1Stop"; strings.Join(got, ", ") != want {
		t.Errorf("%q, and not %s", got, want)
	}
}
