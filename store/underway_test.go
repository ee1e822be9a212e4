package store

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

// What was under way when a process was killed counts once, however many come after
// it; what is recorded, or has ended, does not.
func TestUnderway(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	must(t, s.Journal("r").SaveRollout(ctx, rollout("recorded")))
	must(t, s.Journal("r").SaveCompletion(ctx, "replied", eval.ByMiner, &eval.Completion{Text: "t"}))
	for life, want := range []struct {
		calls  int64
		tokens int64
	}{{0, 0}, {2, 300}, {4, 600}, {6, 900}} {
		u, calls, reserved, err := s.Underway(ctx, "r")
		must(t, err)
		if calls != want.calls || reserved.Tokens != want.tokens || reserved.USD < float64(want.tokens)/1000-1e-9 {
			t.Errorf("life %d: %d calls, %+v; want %+v", life, calls, reserved, want)
		}
		for _, key := range []string{"recorded", "replied", "lost", "ended", "lost2"} {
			must(t, u.Begin(key, eval.Assumed{Tokens: 150, USD: 0.15}))
		}
		u.End("ended")
		// Killed: it was never closed, and its last line may be torn.
		path := filepath.Join(filepath.Dir(s.Path()), "underway", "r.log")
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		must(t, err)
		_, err = f.WriteString("+ torn")
		must(t, err)
		must(t, f.Close())
		must(t, u.f.Close())
	}
	u, _, _, err := s.Underway(ctx, "another")
	must(t, err)
	must(t, u.Begin("k", eval.Assumed{Tokens: 1}))
	u.End("k")
	must(t, u.Close())
	if _, err := os.Stat(u.path); !os.IsNotExist(err) {
		t.Errorf("a run of which all has ended leaves %s: %v", u.path, err)
	}
}

func BenchmarkUnderway(b *testing.B) {
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "evolve.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	u, _, _, err := s.Underway(b.Context(), "r")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := u.Begin("0123456789012345678901234567890123456789012345678901234567890123", eval.Assumed{Tokens: 1000, USD: 0.01}); err != nil {
			b.Fatal(err)
		}
		u.End("0123456789012345678901234567890123456789012345678901234567890123")
	}
}
