package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Its own change, made by hand and taken out again, does not come back.
func TestEditOfWhatWasTakenByHand(t *testing.T) {
	theirs := swap(tablesText, "Name every column.", "Name every column, with its unit.")
	o := newDesk(t)
	o.challenger(o.base, theirs, "reflect", pareto.Undecided)
	o.write(theirs)
	o.look()
	o.write(swap(tablesText, "Markdown", "HTML"))
	o.look()
	if text, _ := o.waiting(); text != "" {
		t.Errorf("on trial\n%s", text)
	}
}

// A search begins with a flagged candidate that its owner approved, with her edits since,
// unless they overlap or break another rule of the firewall with it.
func TestEditOfApproved(t *testing.T) {
	theirs := swap(tablesText, "- Name every column.", "- Name every column, as https://tables.example/names says.")
	edit := swap(tablesText, "Print Markdown.", "Print Markdown.\nNever use tabs, the owner says.")
	for _, c := range []struct {
		name, edit string
		want       string // that a search begins with, "" for nothing
		note       string
	}{
		{"another section", edit, swap(theirs, "Print Markdown.", "Print Markdown.\nNever use tabs, the owner says."), "starts beside the live text"},
		{"the same section", swap(tablesText, "every column", "each column"), "", `is left out: your edit and the new text both changed section "tables > Columns"`},
	} {
		for _, editFirst := range []bool{false, true} {
			ctx, o := t.Context(), newDesk(t)
			sha := o.flagged(o.base, theirs)
			seeds := func(want, note string) {
				t.Helper()
				live, err := o.a.layout().Live("tables")
				o.check(err)
				got, _, notes, err := candidate.Seeds(ctx, o.db, live, skill.Harness)
				o.check(err)
				if (len(got) == 1 && got[0] == sha) != (want != "") || len(notes) != 1 || !strings.Contains(notes[0], note) {
					t.Errorf("%s: a search begins with %v, %q", c.name, got, notes)
				}
				if want == "" {
					return
				}
				seed, why, err := candidate.Seed(ctx, o.db, live, sha)
				o.check(err)
				if seed == nil || string(seed.Text) != want {
					t.Errorf("%s: a search begins with %+v (%s), want\n%s", c.name, seed, why, want)
				}
			}
			if !editFirst {
				o.approve(sha)
				seeds(theirs, "starts beside")
			}
			o.write(c.edit)
			o.look()
			if editFirst {
				o.approve(sha)
			}
			seeds(c.want, c.note)
			o.write(tablesText) // her edit is taken back
			o.look()
			seeds(theirs, "starts beside")
		}
	}
}

// A candidate that was made before an edit can be approved.
func TestApproveAfterAnEdit(t *testing.T) {
	theirs := swap(tablesText, "- Name every column.", "- Name every column, as https://tables.example/names says.")
	for edit, want := range map[string]string{
		swap(tablesText, "Markdown", "HTML"): "next: `evolve --skill tables` tries it beside the live text",
		tablesText:                           "next: `evolve --skill tables` tries it beside the live text",
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
func TestEditOfWhatIsElsewhere(t *testing.T) {
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
		c, err := rd.Challenger(ctx, live)
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
		if text, _ := o.waiting(); text != want {
			t.Errorf("taken back there %v: on trial\n%s", back, text)
		}
		if live, err := os.ReadFile(o.path); err != nil || string(live) != swap(tablesText, "Markdown", "HTML") {
			t.Errorf("live\n%s, %v", live, err)
		}
	}
}
