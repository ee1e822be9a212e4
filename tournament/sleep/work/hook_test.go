package work

import (
	"path/filepath"
	"testing"

	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// TestNightsLeaveHooksAlone: nothing is read or recorded of a hook, and nothing of it can be tried.
func TestNightsLeaveHooksAlone(t *testing.T) {
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	const key = "hook:~:hooks/guard.sh"
	run := &record.Run{ID: "r1", Skill: key, Status: record.Finished, Challenger: "abc"}
	if err := db.Journal(run.ID).SaveRun(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	o, err := (&Worker{Store: db}).look(t.Context(), key)
	if err != nil || o.Unable == "" || o.Incumbent != "" || o.Challenger != "" {
		t.Errorf("%+v, %v", o, err)
	}
	if v, err := db.Versions(t.Context(), key); err != nil || len(v) > 0 {
		t.Errorf("versions %v, %v", v, err)
	}
}
