package subjects

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// TestOf: a subject is known by a version or a run, once, and those of other kinds, and skills
// with such a beginning, are not among them.
func TestOf(t *testing.T) {
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, key := range []string{"hook:~:b.sh", "hook:~:a.sh", "file:~:AGENTS.md", "hooked", "hook"} {
		if _, err := db.SaveVersion(t.Context(), record.Version{Skill: key, SHA: key, Text: []byte(key)}); err != nil {
			t.Fatal(err)
		}
	}
	for i, key := range []string{"hook:~:a.sh", "hook:/src/x:c.py", "hooks"} {
		run := &record.Run{ID: string(rune('a' + i)), Skill: key}
		if err := db.Journal(run.ID).SaveRun(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Of(t.Context(), db, subject.Hook)
	if want := []string{"hook:/src/x:c.py", "hook:~:a.sh", "hook:~:b.sh"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}
