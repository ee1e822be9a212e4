package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/sleep"
	"github.com/skill-evolve/evolve/tournament/status"
	"github.com/spf13/pflag"
)

// night runs one, and returns what it printed on stdout and on stderr.
func (o *desk) night(args ...string) (stdout, stderr string) {
	o.Helper()
	out, errs := o.a.Stdout.(*bytes.Buffer), o.a.Stderr.(*bytes.Buffer)
	out.Reset()
	errs.Reset()
	f := &sleepFlags{}
	fl := pflag.NewFlagSet("night", pflag.ContinueOnError)
	f.register(fl)
	o.check(fl.Parse(append([]string{"--agent", "simulated", "--source", "claude"}, args...)))
	o.check(sleepRun(o.Context(), o.a, f))
	return unfolded(out.String()), errs.String()
}

// unfolded is what a night printed with every line in one piece.
func unfolded(page string) string { return foldedAt.ReplaceAllString(page, " ") }

var foldedAt = regexp.MustCompile(`\n {9,}`)

// A trial that an edit closed is named once by the night, with the reason, in what the owner reads in the morning.
func TestNightTellsOfClosedTrials(t *testing.T) {
	const reason = `your edit and the new text both changed section "tables > Columns"`
	o := newDesk(t)
	was := o.challenger(o.base, swap(tablesText, "Name every column.", "Name every column, with its unit."), "reflect", pareto.Undecided)
	o.write(swap(tablesText, "every column", "each column"))
	out, errs := o.night()
	line := ""
	for l := range strings.Lines(out) {
		if strings.HasPrefix(l, "  tables  edit  done") {
			line += l
		}
	}
	if !strings.Contains(line, was[:12]) || !strings.Contains(line, reason) || strings.Count(out, reason) != 1 || strings.Contains(out, "nothing to do") {
		t.Errorf("the night says:\n%s%s", out, errs)
	}
	nights, err := sleep.Nights(t.Context(), o.db, 1)
	if err != nil || len(nights) != 1 || nights[0].Ended.IsZero() {
		t.Fatalf("%v, %v", nights, err)
	}
	if k := nights[0].Steps[len(nights[0].Steps)-1]; k.Kind != sleep.Edited || k.Skill != "tables" || !strings.Contains(k.Note, reason) {
		t.Errorf("what is kept of it: %+v", k)
	}
	page := strings.TrimSpace(out[strings.Index(out, "  report ")+len("  report "):])
	if raw, err := os.ReadFile(strings.SplitN(page, "\n", 2)[0]); err != nil || !bytes.Contains(raw, []byte("both changed section")) {
		t.Errorf("the page: %v", err)
	}
	home, err := o.a.home()
	o.check(err)
	notes, err := hook.Notes(string(home))
	if err != nil || len(notes) != 1 || notes[0].Kind != hook.Edited || !strings.Contains(notes[0].Text, reason) {
		t.Errorf("notes %+v, %v", notes, err)
	}
	o.a.JSON = true
	out, _ = o.night()
	o.a.JSON = false
	var r status.Night
	o.check(json.Unmarshal([]byte(out), &r))
	for _, k := range r.Steps {
		if k.Kind == sleep.Edited {
			t.Errorf("it is told again: %+v", k)
		}
	}
	o.write(swap(tablesText, "every column", "each column", "Markdown", "HTML")) // the next text, and nothing new
	if out, errs := o.night(); strings.Contains(out+errs, "both changed") {
		t.Errorf("it is told again after the next edit:\n%s%s", out, errs)
	}
}

// One that goes on is reported too, without a note.
func TestNightTellsOfEdits(t *testing.T) {
	o := newDesk(t)
	o.challenger(o.base, swap(tablesText, "Name every column.", "Name every column, with its unit."), "reflect", pareto.Undecided)
	o.write(swap(tablesText, "Markdown", "HTML"))
	out, errs := o.night()
	if !strings.Contains(out, "  tables  edit  done") || !strings.Contains(out, "goes on: your edit is in both texts") {
		t.Errorf("the night says:\n%s%s", out, errs)
	}
	home, err := o.a.home()
	o.check(err)
	if notes, err := hook.Notes(string(home)); err != nil || len(notes) != 0 {
		t.Errorf("notes %+v, %v; want none", notes, err)
	}
}

// Each step of a night is one line on stdout; stderr only shows the present
// step.
func TestNightSaysEachStepOnce(t *testing.T) {
	t.Parallel()
	b := newBedroom(t)
	out := b.run(exitDone, "sleep", "run", "--agent", "simulated", "--source", "claude", "--max-rollouts", "420")
	if n := strings.Count(out, demoSkill+"  search"); n != 1 {
		t.Errorf("%d lines of the search:\n%s", n, out)
	}
	if got, want := b.stderr.String(), "harvest begins\nsearch "+demoSkill+" begins\n"; got != want {
		t.Errorf("stderr is %q, want %q", got, want)
	}
}
