package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNightForOneSkillHidesNothing: new sessions that a night for another skill has
// harvested are made cases of by the next night for all.
func TestNightForOneSkillHidesNothing(t *testing.T) {
	t.Parallel()
	b := newBedroom(t)
	other := filepath.Join(b.env["CLAUDE_CONFIG_DIR"], "skills", "other")
	if err := os.MkdirAll(other, 0o700); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(b.live()), "name: "+demoSkill, "name: other", 1)
	if err := os.WriteFile(filepath.Join(other, "SKILL.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := func() int {
		db := b.store()
		defer db.Close()
		cs, err := db.Cases(t.Context(), demoSkill)
		if err != nil {
			t.Fatal(err)
		}
		return len(cs)
	}
	before := cases()
	// A session that the first harvest has not seen.
	projects, err := filepath.Glob(filepath.Join(b.env["CLAUDE_CONFIG_DIR"], "projects", "*", "*.jsonl"))
	if err != nil || len(projects) == 0 {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(projects[0])
	if err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSuffix(filepath.Base(projects[0]), ".jsonl")
	again := "ffffffff" + id[8:]
	fresh := strings.NewReplacer(id, again, "planetarium", "aquarium of the harbour").Replace(string(raw))
	if err := os.WriteFile(filepath.Join(filepath.Dir(projects[0]), again+".jsonl"), []byte(fresh), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := b.night(exitDone, "--skill", "other", "--max-rollouts", "1"); r.Sessions != 1 {
		t.Fatalf("%d sessions, want the new one", r.Sessions)
	}
	if n := cases(); n != before {
		t.Fatalf("a night for another skill made %d cases of this one", n-before)
	}
	b.night(exitDone, "--max-rollouts", "1")
	if n := cases(); n <= before {
		t.Errorf("%d cases, as before: the night for all has made none of the new session", n)
	}
}
