package replies

import (
	"path/filepath"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store"
)

func TestTo(t *testing.T) {
	ctx := t.Context()
	db, err := store.Open(ctx, filepath.Join(t.TempDir(), "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if c, err := To(ctx, db, "k"); c != nil || err != nil {
		t.Fatalf("%v, %v", c, err)
	}
	if err := db.Journal("other").SaveCompletion(ctx, "k", eval.ByJudge, &eval.Completion{Text: "no", Finish: "stop"}); err != nil {
		t.Fatal(err)
	}
	if c, err := To(ctx, db, "k"); err != nil || c == nil || c.Text != "no" {
		t.Errorf("%v, %v", c, err)
	}
	if c, err := To(ctx, db, "l"); c != nil || err != nil {
		t.Errorf("another prompt: %v, %v", c, err)
	}
}
