package main

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/install"
	"github.com/skill-evolve/evolve/tournament/record"
)

// edit writes the live skill anew, with a line more.
func edit(t *testing.T, live *skill.Live, line string) []byte {
	t.Helper()
	text := append(bytes.Clone(live.Doc.Render()), line+"\n"...)
	if err := os.WriteFile(live.Path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return text
}

// An installation that is refused leaves no version that was never in place,
// and rolling back goes to what the live text took the place of.
func TestRefusedInstallLeavesNoVersion(t *testing.T) {
	ctx := t.Context()
	a := testApp(t)
	a.claudeHome = person(t)
	db, err := a.store(ctx)
	if err != nil {
		t.Fatal(err)
	}
	found, err := a.layout().Live("dataviz")
	if err != nil {
		t.Fatal(err)
	}
	if err := installerOf(a, db).Record(ctx, found); err != nil {
		t.Fatal(err)
	}
	next := append(bytes.Clone(found.Doc.Render()), "Label every axis.\n"...)
	offer := record.Version{Skill: "dataviz", SHA: skill.HashText(next), Parent: found.Doc.Hash(), Author: "evolve", Proven: true, Text: next}
	edited := edit(t, found, "Be brief.")
	var drift *install.DriftError
	if _, err := putInPlace(ctx, a, db, found, offer, nil); !errors.As(err, &drift) {
		t.Fatalf("installed over an edit: %v", err)
	}
	versions, err := db.Versions(ctx, "dataviz")
	if err != nil || len(versions) != 1 {
		t.Fatalf("%d versions after a refused installation, error %v; want the found one", len(versions), err)
	}
	if err := rollbackLive(ctx, a, "dataviz"); err != nil { // the edit becomes v1, its parent is v0
		t.Fatal(err)
	}
	if now, _ := os.ReadFile(found.Path); string(now) != string(found.Doc.Render()) {
		t.Errorf("rolling an edit back gave\n%s", now)
	}

	// v2 is installed and rolled back; an edit of v0 is then rolled back to v0.
	live, err := a.layout().Live("dataviz")
	if err != nil {
		t.Fatal(err)
	}
	if done, err := putInPlace(ctx, a, db, live, offer, nil); err != nil || done.Version.N != 2 {
		t.Fatalf("installed %+v, %v", done, err)
	}
	if err := rollbackLive(ctx, a, "dataviz"); err != nil {
		t.Fatal(err)
	}
	edit(t, found, "Be polite.")
	if err := rollbackLive(ctx, a, "dataviz"); err != nil {
		t.Fatal(err)
	}
	if now, _ := os.ReadFile(found.Path); string(now) != string(found.Doc.Render()) {
		t.Errorf("rolling back an edit of v0 gave\n%s", now)
	}
	if v, err := db.Version(ctx, "dataviz", 1); err != nil || string(v.Text) != string(edited) {
		t.Errorf("the first edit is not kept: %v", err)
	}
	if err := rollbackLive(ctx, a, "dataviz"); err == nil || !strings.Contains(err.Error(), "no version of dataviz before") {
		t.Errorf("rolled back beyond v0: %v", err)
	}
}
