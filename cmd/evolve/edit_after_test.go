package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/install"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// An edit between the gate and the installation stays: a plan that was made before it
// fails, and the next one installs the change in the edited text. The version knows both,
// is not offered again once it is rolled back, whatever is edited then, and is marked by a
// purge of what taught the change.
func TestPromoteAfterAnEdit(t *testing.T) {
	o, ctx := newDesk(t), t.Context()
	theirs := swap(tablesText, "Name every column.", "Name every column, with its unit.")
	o.check(o.db.SaveSession(ctx, &harvest.Session{ID: "s1", Path: "/s1", Agent: "claude-code"}))
	_, _, err := o.db.SaveCases(ctx, []eval.Case{{ID: "case-1", Skill: "tables", Prompt: "p", Split: eval.Train, Source: &eval.Source{Session: "s1", Origin: "mined"},
		Checks: []eval.Check{{Type: eval.Contains, Value: "x"}}}})
	o.check(err)
	sha := o.challenger(o.base, theirs, "reflect", pareto.Promote)
	found, err := o.a.layout().Live("tables")
	o.check(err)
	edit := swap(tablesText, "Markdown", "HTML")
	o.write(edit)
	var drift *install.DriftError
	if _, err := putInPlace(ctx, o.a, o.db, found, record.Version{Skill: "tables", SHA: sha, Parent: o.base, Author: "evolve",
		Proven: true, Text: []byte(theirs)}, nil); !errors.As(err, &drift) {
		t.Fatalf("installed over an edit: %v", err)
	}
	o.look()
	in := installerOf(o.a, o.db)
	plan := func(op string) *release.Plan {
		t.Helper()
		live, err := o.a.layout().Live("tables")
		o.check(err)
		p, err := in.Next(ctx, live, op, release.Request{})
		o.check(err)
		return p
	}
	_, err = in.Apply(ctx, plan(store.OpPromote))
	o.check(err)
	want := swap(theirs, "Markdown", "HTML")
	if live, err := os.ReadFile(o.path); err != nil || string(live) != want {
		t.Fatalf("live is\n%s\n%v, want\n%s", live, err, want)
	}
	v, err := o.db.VersionBySHA(ctx, "tables", skill.HashText([]byte(want)))
	if err != nil || !v.Proven || v.Parent != skill.HashText([]byte(edit)) || v.Note != fmt.Sprintf("the change of %.12s, and your edits since", sha) {
		t.Errorf("%+v, %v", v, err)
	}
	made, err := candidate.MadeBy(ctx, o.db, "tables", v.SHA)
	if err != nil || !slices.Equal(made.Parents, []string{v.Parent, sha}) || !slices.Equal(made.Taught, []string{"case-1"}) {
		t.Errorf("made as %+v, %v", made, err)
	}
	if _, trial := o.waiting(); trial != nil {
		t.Errorf("it still waits: %+v", trial)
	}
	_, err = in.Apply(ctx, plan(store.OpRollback))
	o.check(err)
	for range 2 {
		if _, trial := o.waiting(); trial != nil {
			t.Errorf("what was rolled back waits again: %+v", trial)
		}
		o.write(swap(edit, "One fact", "Just one fact"))
		o.look()
	}
	_, err = o.db.PurgeSessions(ctx, []string{"s1"})
	o.check(err)
	if v, err = o.db.VersionBySHA(ctx, "tables", v.SHA); err != nil || !strings.Contains(v.Note, "purged") {
		t.Errorf("it learned from what was purged: %+v, %v", v, err)
	}
}

// What is proved is shown with its owner's edits, by whatever name.
func TestDiffAfterAnEdit(t *testing.T) {
	o := newDesk(t)
	sha := o.challenger(o.base, swap(tablesText, "Name every column.", "Name every column, with its unit."), "reflect", pareto.Undecided)
	o.write(swap(tablesText, "Markdown", "HTML"))
	o.look()
	s, err := openTexts(t.Context(), o.a, "tables")
	o.check(err)
	for _, names := range [][]string{nil, {sha[:12]}, {"challenger"}} {
		old, new, err := s.Pair(t.Context(), names)
		o.check(err)
		if !strings.Contains(string(old.Doc.Render()), "HTML") || !strings.Contains(string(new.Doc.Render()), "HTML") || !strings.Contains(string(new.Doc.Render()), "its unit") ||
			new.Label != fmt.Sprintf("tables candidate %.12s with your edits", sha) {
			t.Errorf("%v: %s\n%s", names, new.Label, new.Doc.Render())
		}
	}
}

// A text that was rejected is not brought back by an edit.
func TestEditMakesARejectedText(t *testing.T) {
	o := newDesk(t)
	theirs := swap(tablesText, "Name every column.", "Name every column, with its unit.")
	o.challenger(o.base, theirs, "reflect", pareto.Undecided)
	_, err := o.db.Decide(t.Context(), store.Decision{Skill: "tables", SHA: skill.HashText([]byte(swap(theirs, "Markdown", "HTML"))), Word: store.Rejected, By: "owner"})
	o.check(err)
	o.write(swap(tablesText, "Markdown", "HTML"))
	if said := o.look(); !strings.Contains(said, "is closed: with your edit it is a text that you rejected") {
		t.Errorf("said %q", said)
	}
	if text, _ := o.waiting(); text != "" {
		t.Errorf("waits\n%s", text)
	}
}

// Whoever rejects a challenger rejects its change, in the edited text too.
func TestRejectedChangeInAnEdit(t *testing.T) {
	o := newDesk(t)
	theirs := swap(tablesText, "Name every column.", "Name every column, with its unit.")
	sha := o.challenger(o.base, theirs, "reflect", pareto.Promote)
	o.write(swap(tablesText, "Markdown", "HTML"))
	o.look()
	live, err := o.a.layout().Live("tables")
	o.check(err)
	in := installerOf(o.a, o.db)
	run, err := o.db.Run(t.Context(), "20261120-000000-"+sha[:6])
	o.check(err)
	v, err := in.Proved(t.Context(), live, run)
	o.check(err)
	if v.SHA == sha {
		t.Fatal("the edit is not in it: this test shows nothing")
	}
	if _, err := in.PlanProved(t.Context(), live, v, nil); err != nil {
		t.Errorf("before it is rejected: %v", err)
	}
	_, err = o.db.Decide(t.Context(), store.Decision{Skill: "tables", SHA: sha, Word: store.Rejected, By: "owner"})
	o.check(err)
	if _, err := in.PlanProved(t.Context(), live, v, nil); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("candidate %.12s was", sha)) {
		t.Errorf("a proof is installed after its owner rejected it: %v", err)
	}
	if _, err := in.PlanPromotion(t.Context(), live, release.Request{At: sha}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("candidate %.12s", sha)) {
		t.Errorf("it is promoted by name: %v", err)
	}
}

// A broken edit is no incumbent; once it is repaired, the trial goes on.
func TestTrialOverABrokenText(t *testing.T) {
	o := newDesk(t)
	theirs := swap(tablesText, "Name every column.", "Name every column, with its unit.")
	o.challenger(o.base, theirs, "reflect", pareto.Undecided)
	o.write("---\nname: tables\n")
	live, err := o.a.layout().AsItIs("tables")
	o.check(err)
	o.check(installerOf(o.a, o.db).Record(t.Context(), live))
	o.write(swap(tablesText, "Markdown", "HTML"))
	o.look()
	if text, _ := o.waiting(); text != swap(theirs, "Markdown", "HTML") {
		t.Errorf("on trial\n%s", text)
	}
}

// TestNightAfterAnEdit: the trial of one night goes on in the next, with its owner's edit
// of the day in both arms.
func TestNightAfterAnEdit(t *testing.T) {
	b := newBedroom(t)
	b.night(exitDone, "--max-rollouts", "300")
	trial := func() (*record.TrialRecord, int) {
		db := b.store()
		defer db.Close()
		all, err := db.Trials(t.Context(), demoSkill)
		if err != nil || len(all) != 1 {
			t.Fatalf("%d trials, %v", len(all), err)
		}
		d, err := all[0].Evidence()
		if err != nil {
			t.Fatal(err)
		}
		return &all[0], d.Cases
	}
	was, heard := trial()
	const mine = "\n## Mine\n\nBe brief.\n"
	edited := append(b.live(), mine...)
	if err := os.WriteFile(filepath.Join(b.env["CLAUDE_CONFIG_DIR"], "skills", demoSkill, "SKILL.md"), edited, 0o600); err != nil {
		t.Fatal(err)
	}
	r := b.night(exitDone, "--max-rollouts", "300")
	if !strings.Contains(b.stderr.String(), fmt.Sprintf("the trial of new text %.12s of %s goes on: your edit is in both texts", was.Challenger, demoSkill)) {
		t.Errorf("the night says\n%s", b.stderr.String())
	}
	now, more := trial()
	if now.Change() != was.Change() || more <= heard {
		t.Errorf("%d cases of evidence after %d", more, heard)
	}
	k := slices.IndexFunc(r.Steps, func(k sleep.Step) bool { return k.Kind == sleep.Continue && k.Skill == demoSkill })
	if k < 0 || r.Steps[k].Result == nil || r.Steps[k].Result.Challenger != was.Challenger {
		t.Fatalf("the night did not go on with it: %+v", r.Steps)
	}
	db := b.store()
	defer db.Close()
	run, err := db.Run(t.Context(), now.Run)
	if err != nil || run.Tried() != was.Change() || run.Incumbent != skill.HashText(edited) {
		t.Fatalf("%+v, %v", run, err)
	}
	c, err := db.Candidate(t.Context(), run.Challenger)
	if err != nil || !bytes.HasSuffix(c.Text, []byte(mine)) || c.SHA == was.Challenger {
		t.Errorf("the text that was run: %+v, %v", c, err)
	}
	for _, sha := range []string{run.Incumbent, c.SHA} {
		if rs, err := db.Rollouts(t.Context(), store.RolloutFilter{Candidate: sha, Run: run.ID}); err != nil || len(rs) == 0 {
			t.Errorf("%d rollouts of %.12s, %v", len(rs), sha, err)
		}
	}
	if !bytes.Equal(b.live(), edited) {
		t.Error("the live text is not the edit")
	}
}
