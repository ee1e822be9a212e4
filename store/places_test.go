package store

import (
	"errors"
	"reflect"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill/install"
)

// TestInstallsOfOneIntention: all are recorded or none; for a place that was empty the
// store remembers which files were put there, and forgets them with the skill.
func TestInstallsOfOneIntention(t *testing.T) {
	s, ctx := open(t), t.Context()
	files := []install.FolderFile{{Path: "scripts/run.sh", Mode: 0o755, Size: 3, SHA: "abc"}}
	both := []Intent{{Install: Install{Skill: "x", Path: "/a", From: "old", To: "new", Op: OpPromote}},
		{Install: Install{Skill: "x", Path: "/b", To: "new", Op: OpPromote}, Files: files}}
	ids, err := s.BeginInstalls(ctx, both)
	must(t, err)
	var pending *PendingError
	if _, err := s.BeginInstalls(ctx, []Intent{{Install: Install{Skill: "x", Path: "/c", To: "new"}}, both[1]}); !errors.As(err, &pending) {
		t.Errorf("began twice at /b: %v", err)
	}
	if list, err := s.PendingInstalls(ctx); err != nil || len(list) != 2 || list[1].Op != OpPromote {
		t.Errorf("pending %+v, %v: a refused intention leaves nothing", list, err)
	}
	for _, id := range ids {
		must(t, s.FinishInstall(ctx, id))
	}
	if got, planted, err := s.PlantedFiles(ctx, "x", "/b"); err != nil || !planted || !reflect.DeepEqual(got, files) {
		t.Errorf("planted %+v, %v, %v", got, planted, err)
	}
	if _, planted, err := s.PlantedFiles(ctx, "x", "/a"); err != nil || planted {
		t.Errorf("what was there is taken for what evolve put there: %v", err)
	}
	if places, err := s.Places(ctx, "x"); err != nil || len(places) != 2 || places[1].Path != "/b" || places[1].SHA != "new" {
		t.Errorf("places %+v, %v", places, err)
	}
	id, err := s.BeginInstall(ctx, Install{Skill: "x", Path: "/b", From: "new", Op: OpRollback})
	must(t, err)
	must(t, s.FinishInstall(ctx, id))
	_, planted, err := s.PlantedFiles(ctx, "x", "/b")
	if places, e := s.Places(ctx, "x"); e != nil || err != nil || planted || len(places) != 1 {
		t.Errorf("after it was removed: %+v, %v, %v %v", places, planted, e, err)
	}
	if _, err := s.BeginInstall(ctx, Install{Skill: "x", Path: "/b"}); err == nil {
		t.Error("began an install from nothing to nothing")
	}
	// One that did not happen leaves no files to take back.
	ids, err = s.BeginInstalls(ctx, []Intent{{Install: Install{Skill: "x", Path: "/b", To: "new"}, Files: files}})
	must(t, err)
	must(t, s.AbandonInstall(ctx, ids[0]))
	if _, planted, err := s.PlantedFiles(ctx, "x", "/b"); err != nil || planted {
		t.Errorf("abandoned, and planted: %v", err)
	}
	must(t, s.ForgetPlace(ctx, "x", "/a"))
	if places, err := s.Places(ctx, "x"); err != nil || len(places) != 0 {
		t.Errorf("places %+v, %v", places, err)
	}
}

func TestPins(t *testing.T) {
	s, ctx := open(t), t.Context()
	if p, err := s.Pinned(ctx, "x"); p != nil || err != nil {
		t.Errorf("pinned %+v, %v", p, err)
	}
	must(t, s.PinSkill(ctx, "x", "aa"))
	must(t, s.PinSkill(ctx, "x", "bb"))
	if p, err := s.Pinned(ctx, "x"); err != nil || p == nil || p.SHA != "bb" || p.At.IsZero() {
		t.Errorf("pinned %+v, %v", p, err)
	}
	for i, want := range []bool{true, false} {
		if was, err := s.UnpinSkill(ctx, "x"); was != want || err != nil {
			t.Errorf("unpinned the %d. time: %v, %v", i+1, was, err)
		}
	}
	if p, err := s.Pinned(ctx, "x"); p != nil || err != nil {
		t.Errorf("pinned %+v, %v", p, err)
	}
}
