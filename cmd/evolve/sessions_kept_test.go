package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// TestPurgeNamesWhatIsInstalled: a version that learned from the session is the
// owner's; it is named and stays, as the live file does. A challenger that was
// never installed goes, with its trial.
func TestPurgeNamesWhatIsInstalled(t *testing.T) {
	live := shelf(t)
	home := os.Getenv("EVOLVE_HOME")
	path := filepath.Join(os.Getenv("CLAUDE_CONFIG_DIR"), "skills", "tagger", skill.FileName)
	db, err := store.Open(t.Context(), filepath.Join(home, "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	v1, err := db.Version(t.Context(), "tagger", 1)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Journal("r1").SaveCandidate(t.Context(), &record.Candidate{SHA: v1.SHA, Run: "r1", Taught: []string{"c-1"}, Text: v1.Text})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	// A run that is at work would write down again what it is using.
	unlock, err := lockRun(testHome(home), "20260404-030000-00000a")
	if err != nil {
		t.Fatal(err)
	}
	if _, said, code := read(t, "sessions", "purge", "s-1", "--yes"); code != exitFailed || !strings.Contains(said, "another process is at work") {
		t.Errorf("purged beside a run: exit %d, %s", code, said)
	}
	unlock()

	out, said, code := read(t, "sessions", "purge", "s-1", "--yes")
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, said)
	}
	for _, want := range []string{"1 session purged", "tagger v1 (", "tagger v2 (", "learned from it and stays", "1 trial on the removed texts ended"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "tagger v0") {
		t.Errorf("v0 learned nothing:\n%s", out)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != live {
		t.Errorf("the live skill changed: %v", err)
	}
	if _, said, code := read(t, "rollback", "tagger"); code != exitDone {
		t.Errorf("roll back after a purge: exit %d: %s", code, said)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != string(v1.Text) {
		t.Errorf("rolled back to\n%s, %v", now, err)
	}
	for _, args := range [][]string{{"status"}, {"log", "tagger"}, {"show", "tagger"}, {"report", "last"}} {
		if _, said, code := read(t, args...); code != exitDone {
			t.Errorf("evolve %v after a purge: exit %d: %s", args, code, said)
		}
	}
}

// testHome is an app with a data folder alone.
func testHome(home string) *global {
	a := newGlobal(strings.NewReader(""), new(strings.Builder), new(strings.Builder))
	a.Getenv = func(k string) string { return map[string]string{"EVOLVE_HOME": home}[k] }
	return a
}
