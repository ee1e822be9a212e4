package status

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/store"
)

// TestNextStepCountsWhatIsNotLearned: status sends its owner to a run for corrections
// that no run has seen, and never for none: after a promotion there is nothing to do
// until somebody corrects again.
func TestNextStepCountsWhatIsNotLearned(t *testing.T) {
	ctx := t.Context()
	db, err := store.Open(ctx, filepath.Join(t.TempDir(), "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	at := func(h int) time.Time { return firstNight.Add(time.Duration(h) * time.Hour) }
	r := &Report{harvested: true, Sessions: 1, Night: Nights{Next: &firstNight}}
	skill := func(name string, ran time.Time, corrected ...int) { // in these hours
		s := newSkillStatus(name)
		s.Path, s.Live, s.ran, s.Cases = "/"+name, &Live{}, ran, map[eval.Split]int{eval.Train: 3, eval.Val: 3}
		k := &harvest.Session{ID: name, Path: "/" + name, Started: firstNight}
		for i, h := range corrected {
			k.Invocations = append(k.Invocations, harvest.Invocation{ID: fmt.Sprint(name, i), Skill: name, Turn: i, Time: at(h), Feedback: harvest.Feedback{Label: harvest.Corrected}})
		}
		s.Uses, s.Corrected = 10, len(corrected)
		if err := db.SaveSession(context.WithoutCancel(ctx), k); err != nil {
			t.Fatal(err)
		}
		r.Skills = append(r.Skills, *s)
	}
	next := func(want string) {
		t.Helper()
		best, fresh, err := r.mostCorrected(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		if n := r.next(best, fresh); n.Command+": "+n.Text != want {
			t.Errorf("next %q: %q, want %q", n.Command, n.Text, want)
		}
	}
	skill("promoted", at(5), 1, 2, 3, 4)
	skill("never-corrected", time.Time{})
	next(": nothing to do: use your skills, and correct their mistakes")
	skill("seen-in-part", at(2), 1, 2, 3)
	next("evolve --skill seen-in-part: 1 correction to learn from; --dry-run says what it would cost")
	skill("new", time.Time{}, 1, 2)
	next("evolve --skill new: 2 corrections to learn from; --dry-run says what it would cost")
}

// Corrections after a rollback are to be learned from, whatever was taken back.
func TestNextAfterARollback(t *testing.T) {
	ctx := t.Context()
	db, err := store.Open(ctx, filepath.Join(t.TempDir(), "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := newSkillStatus("tables")
	s.Path, s.Live, s.Uses, s.Corrected = "/tables", &Live{Author: "you"}, 5, 2
	s.Cases = map[eval.Split]int{eval.Train: 3, eval.Val: 3}
	s.Challenger = &Challenger{TakenBack: true, Version: 1}
	r := &Report{harvested: true, Sessions: 1, Night: Nights{Next: &firstNight}, Skills: []Skill{*s}}
	best, fresh, err := r.mostCorrected(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	if n := r.next(best, fresh); n.Command != "evolve --skill tables" {
		t.Errorf("next %+v", n)
	}
}

var firstNight = time.Date(2026, 11, 20, 3, 17, 0, 0, time.UTC)

// TestNextIsASearchOfImportedCases: a skill that was never used, and has cases of its owner's.
func TestNextIsASearchOfImportedCases(t *testing.T) {
	s := newSkillStatus("tables")
	s.Path, s.Cases = "/skills/tables/SKILL.md", map[eval.Split]int{eval.Train: 24, eval.Val: 18, eval.Test: 18}
	r := &Report{harvested: true, Skills: []Skill{*s}}
	if n := r.next(nil, 0); n.Command != "evolve --skill tables" || !strings.HasPrefix(n.Text, "42 cases to learn from, and no search yet") {
		t.Errorf("next %+v", n)
	}
	r.Skills[0].ran = time.Now()
	if n := r.next(nil, 0); n.Command != "" {
		t.Errorf("after a search: %+v", n)
	}
}
