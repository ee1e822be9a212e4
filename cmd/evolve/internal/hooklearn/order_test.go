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
	var all []*played
	for day := 1; day < 11; day += 2 {
		all = append(all, worked(t, day, harvest.Corrected, bad...), worked(t, day+1, harvest.Accepted, good...))
	}
	all = append(all, // the newer ones: one is stopped, four were broken otherwise, one is stopped wrongly
		worked(t, 11, harvest.Corrected, bad...), worked(t, 12, harvest.Corrected, good...), worked(t, 13, harvest.Corrected, good...), worked(t, 14, harvest.Corrected, "ls"), worked(t, 15, harvest.Corrected, commit),
		worked(t, 16, harvest.Accepted, goFile, "+"+commit), worked(t, 17, harvest.Accepted, good...), worked(t, 18, harvest.Accepted, "edit /w/README.md", commit), worked(t, 19, harvest.Unknown, bad...))
	o := orderOf(lintRule(1, 3, 5, 7, 9, 11, 12, 13, 14, 15), all)
	if o == nil || len(o.old) != 10 || len(o.late) != 9 || strings.Join(o.ask.Words, ", ") != "lint fails 1, lint fails 3, lint fails 5, lint fails 7, lint fails 9" {
		t.Fatalf("%+v", o)
	}
	q := o.question(func(string, string) bool { return true })
	if q == nil || fmt.Sprint(q.Commands) != "[{git commit 5} {make lint 5}]" {
		t.Fatalf("%+v", q)
	}
	if o.question(func(_, id string) bool { return id != "s3" }) != nil {
		t.Error("the words of a session that may not be shown are in the question")
	}
	if q := o.question(func(_, id string) bool { return id != "s2" }); q == nil || q.Commands[0].Sessions != 4 || len(o.shown) != 9 {
		t.Errorf("commands of a session that may not be shown: %+v", q)
	}
	q.Order = &orders.Order{Steps: [][]string{{"make lint"}}, Before: []string{"git commit", "stop"}, Files: []string{"*.go"}}
	o.learn()
	if len(o.Guard) != 1 || o.Guard[0].Program != "git" {
		t.Fatalf("the weakest guard that holds is the commit alone: %+v, %s", o.Guard, o.None)
	}
	for got, want := range map[string]string{
		o.Older.text(): "stops 5 of 5 corrected sessions: at least 55 %; wrongly in 0 of 5 sessions: at most 45 %",
		o.Newer.text(): "stops 1 of 5 corrected sessions: at least 1 %; wrongly in 1 of 2 sessions: at most 97 %",
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
	if o.learn(); o.Guard != nil || !strings.Contains(o.text(), "no guard: it would have stopped nothing") {
		t.Errorf("it stops nothing: %+v", o)
	}
}

// What a few sessions cannot tell is shown as what was tried, and not proposed.
func TestOrderNotTold(t *testing.T) {
	var all []*played
	for day := 1; day < 9; day += 2 {
		all = append(all, worked(t, day, harvest.Corrected, goFile, commit), worked(t, day+1, harvest.Accepted, goFile, "make lint", commit))
	}
	o := orderOf(lintRule(1, 3, 5, 7), all)
	o.ask.Order = &orders.Order{Steps: [][]string{{"make lint"}}, Before: []string{"git commit"}}
	o.learn()
	shown := o.text()
	if o.None == "" || len(o.Guard) != 1 || o.Newer.Stopped != 2 || !strings.Contains(shown, "  no guard: the older sessions do not tell") || !strings.Contains(shown, "  tried  the best") || strings.Contains(shown, "--out") {
		t.Errorf("%+v: %s", o, shown)
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
