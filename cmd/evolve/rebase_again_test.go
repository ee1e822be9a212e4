package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
)

// An editor that empties the file before it writes it: nothing is a version that was
// never meant, and the proof follows to what was.
func TestRebaseOverAHalfSavedFile(t *testing.T) {
	theirs := swap(tablesText, "Name every column.", "Name every column, with its unit.")
	for _, c := range []struct{ name, half string }{
		{"empty", ""},
		{"blanks", "\n\n"},
		{"in the middle of the frontmatter", tablesText[:12]},
		{"in the middle of a section", tablesText[:strings.Index(tablesText, "every column")]},
		{"before the section", tablesText[:strings.Index(tablesText, "## Columns")]},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := newDesk(t)
			o.challenger(o.base, theirs, "reflect", pareto.Promote)
			o.write(c.half)
			var broken *skill.BrokenSkillError
			if live, err := o.a.layout().Live("tables"); err == nil {
				o.check(installerOf(o.a, o.db).Record(t.Context(), live))
			} else if !errors.As(err, &broken) {
				t.Fatal(err)
			}
			if versions, err := o.db.Versions(t.Context(), "tables"); err != nil || broken != nil && len(versions) != 1 {
				t.Errorf("%d versions, %v; want the first", len(versions), err)
			}
			o.write(swap(tablesText, "Markdown", "HTML"))
			if said := o.look(); !strings.Contains(said, "its trial starts again") {
				t.Errorf("said %q", said)
			}
			if text, _ := o.onTrial(); text != swap(theirs, "Markdown", "HTML") {
				t.Errorf("on trial\n%s", text)
			}
		})
	}
}

// A dropped challenger is tried again on the next text; the same reason is
// reported once, and none comes back that another challenger has replaced.
func TestRebaseDroppedIsTriedAgain(t *testing.T) {
	theirs := swap(tablesText, "Name every column.", "Name every column, with its unit.")
	mine := swap(tablesText, "Name every column", "Name the columns")
	o := newDesk(t)
	sha := o.challenger(o.base, theirs, "reflect", pareto.Undecided)
	o.write(mine)
	if said := o.look(); strings.Count(said, "was dropped") != 1 {
		t.Errorf("said %q", said)
	}
	o.write(swap(mine, "Markdown", "HTML"))
	if said := o.look(); strings.Contains(said, "was dropped") {
		t.Errorf("said again %q", said)
	}
	last, err := o.db.LatestRun(t.Context(), "tables")
	if err != nil || last.Incumbent != skill.HashText([]byte(swap(mine, "Markdown", "HTML"))) || !strings.Contains(last.Note, "was dropped") {
		t.Errorf("what became of it is not kept: %+v, %v", last, err)
	}
	o.write(swap(tablesText, "Markdown", "HTML"))
	if said := o.look(); !strings.Contains(said, "starts again") {
		t.Errorf("said %q", said)
	}
	text, trial := o.onTrial()
	if text != swap(theirs, "Markdown", "HTML") {
		t.Fatalf("on trial\n%s", text)
	}
	o.restarted(trial, sha, "reflect")

	o = newDesk(t)
	o.challenger(o.base, theirs, "reflect", pareto.Undecided)
	o.write(mine)
	o.look()
	next := swap(mine, "One fact", "Just one fact")
	o.challenger(skill.HashText([]byte(mine)), next, "reflect", pareto.Undecided)
	o.write(swap(tablesText, "Markdown", "HTML", "text first", "text twice"))
	o.look()
	trials, err := o.db.Trials(t.Context(), "tables")
	o.check(err)
	if text, _ := o.onTrial(); !strings.Contains(text, "Just one fact") || len(trials) != 3 {
		t.Errorf("%d trials, want the newer challenger re-based and no other:\n%s", len(trials), text)
	}
}

// Its own change, made by hand and taken out again, does not come back.
func TestRebaseOfWhatWasTakenByHand(t *testing.T) {
	theirs := swap(tablesText, "Name every column.", "Name every column, with its unit.")
	o := newDesk(t)
	o.challenger(o.base, theirs, "reflect", pareto.Undecided)
	o.write(theirs)
	o.look()
	o.write(swap(tablesText, "Markdown", "HTML"))
	o.look()
	if text, _ := o.onTrial(); text != "" {
		t.Errorf("on trial\n%s", text)
	}
}

// A flagged candidate that its owner approved is not tried unchanged after an
// edit of the text that it was made from: it is re-based, and waits for a
// decision.
func TestRebaseOfApproved(t *testing.T) {
	theirs := swap(tablesText, "- Name every column.", "- Name every column, as https://tables.example/names says.")
	edit := swap(tablesText, "Print Markdown.", "Print Markdown.\nNever use tabs, the owner says.")
	for _, c := range []struct {
		name        string
		editFirst   bool // before she approves it
		edit        string
		want        string // in quarantine then, "" for nothing
		said        string
		seededAfter bool // once that is approved
	}{
		{"another section", false, edit, swap(theirs, "Print Markdown.", "Print Markdown.\nNever use tabs, the owner says."), "is in quarantine: new-url; `evolve approve tables@", true},
		{"approved after the edit", true, edit, swap(theirs, "Print Markdown.", "Print Markdown.\nNever use tabs, the owner says."), "is in quarantine: new-url; `evolve approve tables@", true},
		{"the same section", false, swap(tablesText, "every column", "each column"), "", `was dropped: your edit and the challenger both changed section "tables > Columns"`, false},
		{"what was flagged, by hand", false, swap(edit, "text first.", "text first, as https://tables.example/names says."),
			swap(theirs, "Print Markdown.", "Print Markdown.\nNever use tabs, the owner says.", "text first.", "text first, as https://tables.example/names says."), "is in quarantine: new-url; `evolve approve tables@", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, o := t.Context(), newDesk(t)
			sha := o.flagged(o.base, theirs)
			seeds := func() []string {
				t.Helper()
				live, err := o.a.layout().Live("tables")
				o.check(err)
				seeds, _, _, err := candidate.Seeds(ctx, o.db, live, skill.Harness)
				o.check(err)
				return seeds
			}
			var said string
			if c.editFirst {
				o.write(c.edit)
				o.look()
				o.approve(sha)
				if got := seeds(); len(got) > 0 {
					t.Errorf("not re-based yet, and a search begins with %.12s", got)
				}
			} else {
				o.approve(sha)
				if got := seeds(); !slices.Equal(got, []string{sha}) {
					t.Errorf("a search begins with %.12s, want the approved one", got)
				}
				o.write(c.edit)
			}
			if said = o.look(); !strings.Contains(said, "approved candidate "+sha[:12]+" of tables was ") || !strings.Contains(said, c.said) {
				t.Errorf("said %q, want %q", said, c.said)
			}
			if got := seeds(); len(got) > 0 {
				t.Errorf("a search begins with %.12s", got)
			}
			if said := o.look(); said != "" {
				t.Errorf("said again %q", said)
			}
			var held []record.Candidate
			all, err := candidate.All(ctx, o.db, "tables")
			o.check(err)
			for _, k := range all {
				if k.Standing() == candidate.Quarantined {
					held = append(held, k.Candidate)
				}
			}
			if c.want == "" {
				if len(held) > 0 {
					t.Errorf("in quarantine: %+v", held)
				}
			} else {
				if len(held) != 1 || string(held[0].Text) != c.want || !slices.Contains(held[0].Parents, sha) || !slices.Equal(held[0].Taught, []string{"case-1"}) {
					t.Fatalf("in quarantine: %+v", held)
				}
				o.approve(held[0].SHA)
				if got := seeds(); !slices.Equal(got, []string{held[0].SHA}) {
					t.Errorf("approved again, and a search begins with %.12s", got)
				}
			}
			o.write(tablesText) // her edit is taken back
			o.look()
			if got := seeds(); !slices.Equal(got, []string{sha}) {
				t.Errorf("back where it was made: a search begins with %.12s, want %.12s", got, sha)
			}
		})
	}
}

// The refusal to approve a candidate made before an edit names the candidate
// that may be approved instead.
func TestApproveAfterAnEdit(t *testing.T) {
	theirs := swap(tablesText, "- Name every column.", "- Name every column, as https://tables.example/names says.")
	for edit, want := range map[string]string{
		swap(tablesText, "Markdown", "HTML"):              "next: `evolve approve tables@" + skill.HashText([]byte(swap(theirs, "Markdown", "HTML")))[:12] + "` shows it with what the live text says",
		swap(tablesText, "every column", "every column."): "next: nothing: it was made from another text than the live one, and your edit and the challenger both changed section",
		tablesText: "next: `evolve --skill tables` tries it beside the live text",
	} {
		o := newDesk(t)
		sha := o.flagged(o.base, theirs)
		o.write(edit)
		o.look()
		o.check(runDecision(t.Context(), o.a, "tables@"+sha[:12], store.Approved, true))
		if said := o.a.Stdout.(*bytes.Buffer).String(); !strings.Contains(said, want) {
			t.Errorf("said\n%s\nwant %q", said, want)
		}
	}
}

// flagged puts a text into quarantine that a run against base has made.
func (o *desk) flagged(base, text string) string {
	o.Helper()
	sha := skill.HashText([]byte(text))
	run := "20261120-000000-" + sha[:6]
	j := o.db.Journal(run)
	o.check(j.SaveRun(o.Context(), &record.Run{ID: run, Skill: "tables", Status: record.Finished, Incumbent: base}))
	o.check(j.SaveCandidate(o.Context(), &record.Candidate{SHA: sha, Run: run, Seq: 1, Parents: []string{base}, Operator: "reflect",
		State: record.Quarantined, Reason: "new-url: it says https://tables.example", Taught: []string{"case-1"}, Text: []byte(text)}))
	return sha
}

func (o *desk) approve(sha string) {
	o.Helper()
	_, err := o.db.Decide(o.Context(), store.Decision{Skill: "tables", SHA: sha, Word: store.Approved, By: "owner", Rules: []string{"new-url"}, Incumbent: o.base})
	o.check(err)
}

// What was brought to another target alone waits here as before.
func TestRebaseOfWhatIsElsewhere(t *testing.T) {
	theirs := swap(tablesText, "Name every column.", "Name every column, with its unit.")
	for _, back := range []bool{false, true} {
		ctx, o := t.Context(), newDesk(t)
		sha := o.challenger(o.base, theirs, "reflect", pareto.Promote)
		_, err := o.db.SaveVersion(ctx, record.Version{Skill: "tables", SHA: sha, Parent: o.base, Author: "evolve", Proven: true, Text: []byte(theirs)})
		o.check(err)
		there := filepath.Join(t.TempDir(), "tables", skill.FileName)
		id, err := o.db.BeginInstall(ctx, store.Install{Skill: "tables", Path: there, From: o.base, To: sha, Op: store.OpPromote})
		o.check(err)
		o.check(o.db.FinishInstall(ctx, id))
		if back {
			id, err := o.db.BeginInstall(ctx, store.Install{Skill: "tables", Path: there, From: sha, To: o.base, Op: store.OpRollback})
			o.check(err)
			o.check(o.db.FinishInstall(ctx, id))
		}
		live, err := o.a.layout().Live("tables")
		o.check(err)
		rd, err := o.a.reader(o.db)
		o.check(err)
		c, err := rd.Challenger(ctx, live, live.Doc.Hash())
		o.check(err)
		if c.TakenBack != back || (c.Offer == "") != back {
			t.Errorf("taken back there %v: it is %+v", back, c)
		}
		o.write(swap(tablesText, "Markdown", "HTML"))
		o.look()
		want := swap(theirs, "Markdown", "HTML")
		if back {
			want = ""
		}
		if text, _ := o.onTrial(); text != want {
			t.Errorf("taken back there %v: on trial\n%s", back, text)
		}
		if live, err := os.ReadFile(o.path); err != nil || string(live) != swap(tablesText, "Markdown", "HTML") {
			t.Errorf("live\n%s, %v", live, err)
		}
	}
}
