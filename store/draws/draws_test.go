package draws

import (
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/harvest/moments"
	"github.com/skill-evolve/evolve/store"
)

// The coin of a subject is made once, whoever comes second; its share and its counts change.
func TestKeep(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "evolve.db")
	db, err := store.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if d, err := Of(ctx, db, "file:~:CLAUDE.md"); err != nil || d != nil {
		t.Fatalf("%+v, %v", d, err)
	}
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	first := moments.Draw{Subject: "file:~:CLAUDE.md", Seed: "first", Share: .1, Made: at}
	second := moments.Draw{Subject: "file:~:CLAUDE.md", Seed: "second", Share: .2, Made: at.Add(time.Hour), Counts: &moments.Counts{Turns: 7}}
	other := moments.Draw{Subject: "file:/src/a:b:AGENTS.md", Seed: "other", Share: .3, Made: at}
	for _, d := range []*moments.Draw{&first, &second, &other} {
		if err := Keep(ctx, db, d); err != nil {
			t.Fatal(err)
		}
	}
	want := moments.Draw{Subject: "file:~:CLAUDE.md", Seed: "first", Share: .2, Made: at, Counts: &moments.Counts{Turns: 7}}
	if !reflect.DeepEqual(second, want) {
		t.Errorf("the second one goes on with %+v", second)
	}
	if got, err := Of(ctx, db, want.Subject); err != nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if all, err := All(ctx, db); err != nil || !reflect.DeepEqual(all, []moments.Draw{other, want}) {
		t.Errorf("%+v, %v", all, err)
	}
}
