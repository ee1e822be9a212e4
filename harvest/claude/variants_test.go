package claude_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
)

// TestEveryVariant holds the session and its skill events to a golden file, for
// every way of using the real program that was recorded.
func TestEveryVariant(t *testing.T) {
	entries, err := os.ReadDir("testdata/headless")
	if err != nil || len(entries) < 26 {
		t.Fatalf("%d recorded variants, %v", len(entries), err)
	}
	if err := os.MkdirAll("testdata/golden/events", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Run(e.Name(), func(t *testing.T) {
			all, _ := sessions(t, filepath.Join("testdata/headless", e.Name(), ".claude"), nil)
			if len(all) == 0 {
				t.Fatal("no session was read")
			}
			var got []any
			for _, s := range all {
				if wantPerson := e.Name() == "tui"; s.Headless == wantPerson {
					t.Errorf("headless %v", s.Headless)
				}
				got = append(got, map[string]any{"session": s, "events": harvest.Events(s)})
			}
			golden(t, filepath.Join("events", e.Name()+".json"), got)
		})
	}
}
