package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
)

const tablesText = `---
name: tables
description: Make tables from text.
---
# tables

Read the text first.

## Columns

- Name every column.

## Rows

- One fact a row.

<!-- kernel -->
Never leave a row out.
<!-- /kernel -->

## Output

Print Markdown.
`

// A desk is an owner with one skill, and a challenger of it that waits.
type desk struct {
	tried int // challengers
	*testing.T
	a    *global
	db   *store.Store
	path string
	base string // SHA-256 of tablesText
}

func newDesk(t *testing.T) *desk {
	a := testApp(t)
	a.claudeHome = t.TempDir()
	o := &desk{T: t, a: a, path: filepath.Join(a.claudeHome, "skills", "tables", skill.FileName), base: skill.HashText([]byte(tablesText))}
	if err := os.MkdirAll(filepath.Dir(o.path), 0o700); err != nil {
		t.Fatal(err)
	}
	o.write(tablesText)
	var err error
	if o.db, err = a.store(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.look()
	return o
}

func (o *desk) check(err error) {
	o.Helper()
	if err != nil {
		o.Fatal(err)
	}
}

func (o *desk) write(text string) {
	o.Helper()
	o.check(os.WriteFile(o.path, []byte(text), 0o644))
}

// look is what every command does first; it returns what was said.
func (o *desk) look() string {
	o.Helper()
	said := o.a.Stderr.(*bytes.Buffer)
	said.Reset()
	live, err := o.a.layout().Live("tables")
	o.check(err)
	o.check(installerOf(o.a, o.db).Record(o.Context(), live))
	return said.String()
}

// swap replaces in a text.
func swap(text string, oldnew ...string) string { return strings.NewReplacer(oldnew...).Replace(text) }

// challenger puts a text on trial against another one; it has used two
// clusters.
func (o *desk) challenger(base, text, operator string, decision pareto.Verdict) string {
	o.Helper()
	ctx, sha := o.Context(), skill.HashText([]byte(text))
	run := "20261120-000000-" + sha[:6]
	j := o.db.Journal(run)
	o.check(j.SaveRun(ctx, &record.Run{ID: run, Skill: "tables", Status: record.Finished, Incumbent: base, Challenger: sha,
		Started: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)}))
	o.check(j.SaveCandidate(ctx, &record.Candidate{SHA: sha, Run: run, Seq: 1, Parents: []string{base}, Operator: operator,
		State: record.Pooled, Taught: []string{"case-1"}, Text: []byte(text)}))
	tr := pareto.NewTrial(pareto.DefaultConfig())
	tr.Add(pareto.Pair{Quality: 1})
	state, err := json.Marshal(map[string]any{"version": 1, "start": tr, "trial": tr, "clusters": []string{"heard"}})
	o.check(err)
	o.check(j.SaveTrial(ctx, &record.TrialRecord{Skill: "tables", Incumbent: base, Challenger: sha, Run: run, Decision: decision,
		State: state, Updated: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)}))
	o.tried++ // each on another case: no case speaks for two texts
	id, cluster := "cut-"+string(rune('0'+o.tried)), []string{"cut short", "cut short later"}[o.tried-1]
	_, _, err = o.db.SaveCases(ctx, []eval.Case{{ID: id, Skill: "tables", Prompt: "p", Cluster: cluster, Split: eval.Test, Checks: []eval.Check{{Type: eval.Contains, Value: "x"}}}})
	o.check(err)
	o.check(j.SpendCase(ctx, "tables", base, sha, id, ""))
	return sha
}

// onTrial is the text that is on trial against the live one, "" for none.
func (o *desk) onTrial() (text string, t *record.TrialRecord) {
	o.Helper()
	live, err := o.a.layout().Live("tables")
	o.check(err)
	t, err = openTrialOf(o.Context(), o.a, o.db, live, "")
	o.check(err)
	if t == nil {
		return "", nil
	}
	c, err := o.db.Candidate(o.Context(), t.Challenger)
	o.check(err)
	return string(c.Text), t
}

// Whatever its owner edits, a challenger that waits follows, or is dropped for a
// reason that is said once and kept.
func TestRebaseOnEdits(t *testing.T) {
	t.Parallel()
	names := []string{"Name every column.", "Name every column, with its unit."}
	challenger := swap(tablesText, names...)
	described := swap(tablesText, "Make tables from text.", "Tabulate text.")
	for _, c := range []struct {
		name     string
		edit     string
		operator string
		decision pareto.Verdict
		theirs   string
		want     string // on trial after it, "" for nothing
		said     string
	}{
		{"another section", swap(tablesText, "Markdown", "HTML"), "reflect", pareto.Undecided, challenger, swap(challenger, "Markdown", "HTML"), "its trial starts again"},
		{"proved already", swap(tablesText, "Markdown", "HTML"), "reflect", pareto.Promote, challenger, swap(challenger, "Markdown", "HTML"), "its trial starts again"},
		{"rejected before", swap(tablesText, "Markdown", "HTML"), "reflect", pareto.Reject, challenger, "", ""},
		{"the same section", swap(tablesText, "every column", "each column"), "reflect", pareto.Undecided, challenger, "",
			`was dropped: your edit and the challenger both changed section "tables > Columns"; ` + "`evolve diff tables@"},
		{"the change itself", challenger, "reflect", pareto.Undecided, challenger, "", "was dropped: your edit has made its change already"},
		{"the change itself and more", swap(challenger, "Markdown", "HTML"), "reflect", pareto.Undecided, challenger, "", "your edit has made its change already"},
		{"blanks", swap(tablesText, "column.\n", "column.  \n\n"), "reflect", pareto.Undecided, challenger, challenger, "starts again"},
		{"line ends", swap(tablesText, "\n", "\r\n"), "reflect", pareto.Undecided, challenger, swap(challenger, "\n", "\r\n"), "starts again"},
		{"the kernel", swap(tablesText, "a row out", "any row out"), "reflect", pareto.Undecided, challenger, swap(challenger, "a row out", "any row out"), "starts again"},
		{"a kernel over it", swap(tablesText, "- Name every column.", "<!-- kernel -->\n- Name every column.\n<!-- /kernel -->"), "reflect", pareto.Undecided, challenger, "",
			`both changed section "tables > Columns"`},
		{"the frontmatter", swap(tablesText, "name: tables\n", "name: tables\nlicense: MIT\n"), "reflect", pareto.Undecided, challenger,
			swap(challenger, "name: tables\n", "name: tables\nlicense: MIT\n"), "starts again"},
		{"the description", swap(tablesText, "from text.", "from any text."), "reflect", pareto.Undecided, challenger, swap(challenger, "from text.", "from any text."), "starts again"},
		{"the description of a described one", swap(tablesText, "from text.", "from any text."), "description", pareto.Undecided, described, "", "both changed the description"},
		{"the text of a described one", swap(tablesText, "Markdown", "HTML"), "description", pareto.Undecided, described, swap(described, "Markdown", "HTML"), "starts again"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := newDesk(t)
			was := o.challenger(o.base, c.theirs, c.operator, c.decision)
			box, err := o.a.outbox()
			o.check(err)
			box.Leave("tables", hook.Waiting, "something waits")
			o.write(c.edit)
			said := o.look()
			if !strings.Contains(said, "tables was edited by hand: recorded as v1\n") || !strings.Contains(said, c.said) {
				t.Errorf("said %q, want %q", said, c.said)
			}
			v, err := o.db.Version(t.Context(), "tables", 1)
			if err != nil || v.Author != "you" || v.Parent != o.base || string(v.Text) != c.edit {
				t.Errorf("v1 %+v, %v", v, err)
			}
			text, trial := o.onTrial()
			if text != c.want {
				t.Fatalf("on trial\n%s\nwant\n%s", text, c.want)
			}
			if again := o.look(); again != "" {
				t.Errorf("said again %q", again)
			}
			if live, err := os.ReadFile(o.path); err != nil || string(live) != c.edit {
				t.Errorf("the live text is not the edit: %v", err)
			}
			if kept, err := o.db.Candidate(t.Context(), was); err != nil || string(kept.Text) != c.theirs {
				t.Errorf("the challenger is not kept: %v", err)
			}
			if c.said == "" {
				return
			}
			last, err := o.db.LatestRun(t.Context(), "tables")
			if err != nil || !strings.Contains(last.Note, c.said) {
				t.Errorf("the reason is not kept: %+v, %v", last, err)
			}
			home, err := o.a.home()
			o.check(err)
			if notes, err := hook.Notes(string(home)); err != nil || len(notes) > 0 {
				t.Errorf("the next session is told %v, %v", notes, err)
			}
			if trial != nil {
				o.restarted(trial, was, c.operator)
			}
		})
	}
}

// restarted checks the trial of a re-based challenger: no evidence, and nothing
// that its ancestor was tried on is fresh to it.
func (o *desk) restarted(trial *record.TrialRecord, was, operator string) {
	o.Helper()
	ctx := o.Context()
	if d, err := trial.Evidence(); err != nil || d.Cases != 0 || trial.Decision != pareto.Undecided {
		o.Errorf("%s with %d cases, %v; want a trial without evidence", trial.Decision, d.Cases, err)
	}
	test := []eval.Case{{ID: "a", Cluster: "heard"}, {ID: "cut-1", Cluster: "cut short"}, {ID: "c", Cluster: "new"}}
	if n, err := trial.Fresh(test, nil); err != nil || n != 1 {
		o.Errorf("%d fresh cases, %v; want the new one", n, err)
	}
	if trial.Challenger == was {
		return // the same text against another one
	}
	c, err := candidate.MadeBy(ctx, o.db, "tables", trial.Challenger)
	o.check(err)
	live, err := o.a.layout().Live("tables")
	o.check(err)
	if want := []string{live.Doc.Hash(), was}; !slices.Equal(c.Parents, want) || !slices.Equal(c.Taught, []string{"case-1"}) || candidate.PartOf(c.Operator) != candidate.PartOf(operator) {
		o.Errorf("made by %s from %v, taught by %v", c.Operator, c.Parents, c.Taught)
	}
	s, err := openTexts(ctx, o.a, "tables")
	o.check(err)
	t, err := s.Find(ctx, trial.Challenger)
	o.check(err)
	h, err := s.History(ctx, t)
	o.check(err)
	for _, k := range h.Changes(trial.Challenger) {
		if len(k.Steps) == 0 || len(k.Steps[0].Cases) == 0 || k.Steps[0].Cases[0].Case != "case-1" || k.Steps[0].SHA != was {
			o.Errorf("%q cites %+v; want the step that made the old challenger", k.Text, k.Steps)
		}
	}
}

// An edit of an edit: the re-based challenger follows, the old one does not.
func TestRebaseTwice(t *testing.T) {
	o := newDesk(t)
	theirs := swap(tablesText, "Name every column.", "Name every column, with its unit.")
	o.challenger(o.base, theirs, "reflect", pareto.Undecided)
	o.write(swap(tablesText, "Markdown", "HTML"))
	o.look()
	o.write(swap(tablesText, "Markdown", "LaTeX"))
	if said := o.look(); strings.Count(said, "re-based") != 1 {
		t.Errorf("said %q", said)
	}
	text, trial := o.onTrial()
	if want := swap(theirs, "Markdown", "LaTeX"); text != want {
		t.Fatalf("on trial\n%s\nwant\n%s", text, want)
	}
	if n, err := trial.Fresh([]eval.Case{{ID: "a", Cluster: "heard"}, {ID: "b"}}, nil); err != nil || n != 1 {
		t.Errorf("%d fresh, %v: what the first one heard is not fresh to its grandchild", n, err)
	}
}

// After the edit is reverted, the trial against the old text continues with
// its evidence, except for the clusters that its descendant has used
// meanwhile.
func TestRebaseReverted(t *testing.T) {
	o := newDesk(t)
	theirs := swap(tablesText, "Name every column.", "Name every column, with its unit.")
	was := o.challenger(o.base, theirs, "reflect", pareto.Undecided)
	o.write(swap(tablesText, "Markdown", "HTML"))
	o.look()
	_, between := o.onTrial()
	if _, err := between.Exclude([]string{"heard meanwhile"}); err != nil {
		t.Fatal(err)
	}
	o.check(o.db.Journal(between.Run).SaveTrial(t.Context(), between))
	other := o.challenger(between.Incumbent, swap(tablesText, "Markdown", "HTML", "One fact", "Just one fact"), "reflect", pareto.Promote)
	o.write(tablesText)
	said := o.look()
	if !strings.Contains(said, "its trial goes on") || !strings.Contains(said, "starts again") {
		t.Errorf("said %q", said)
	}
	var trial *record.TrialRecord
	trials, err := o.db.Trials(t.Context(), "tables")
	o.check(err)
	for i := range trials {
		if k := &trials[i]; k.Incumbent == o.base && k.Challenger == was {
			trial = k
		}
	}
	if d, err := trial.Evidence(); err != nil || d.Cases != 1 {
		t.Errorf("%d cases of evidence, %v; want the one that it had", d.Cases, err)
	}
	if n, err := trial.Fresh([]eval.Case{{ID: "a", Cluster: "heard meanwhile"}, {ID: "b"}}, nil); err != nil || n != 1 {
		t.Errorf("%d fresh, %v; want the one that nobody heard", n, err)
	}
	// What was found against the edited text follows to the old one.
	if text, k := o.onTrial(); text != swap(tablesText, "One fact", "Just one fact") || k.Challenger == other {
		t.Errorf("on trial\n%s", text)
	}
}
