package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNightOverAFolderThatCannotBeWritten: nights end, report what waits, and
// look at new sessions; once the folder can be written a night installs what
// was proved.
func TestNightOverAFolderThatCannotBeWritten(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	b := newBedroom(t)
	v0 := b.live()
	b.run(exitDone, "kernel", "confirm", demoSkill)
	dir := filepath.Join(b.env["CLAUDE_CONFIG_DIR"], "skills", demoSkill)
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	for night := range 2 {
		r := b.night(exitFailed, "--policy", "auto", "--max-rollouts", "420")
		if r.Ended.IsZero() || r.TakenOver != 0 || len(r.Waiting) != 1 || !strings.Contains(r.Waiting[0], "permission denied") || !bytes.Equal(b.live(), v0) {
			t.Errorf("night %d: %+v, waiting %q; want it to end with its reason", night+1, r.Night, r.Waiting)
		}
		if status := b.run(exitDone, "sleep", "status"); !strings.Contains(status, "permission denied") {
			t.Errorf("status:\n%s", status)
		}
		db := b.store()
		v, err := db.Versions(t.Context(), demoSkill)
		db.Close()
		if err != nil || len(v) != 1 {
			t.Errorf("night %d: %d versions, %v; want v0 alone", night+1, len(v), err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if r := b.night(exitDone, "--policy", "auto"); len(r.Waiting) != 0 || r.Spent.AgentCalls != 0 || bytes.Equal(b.live(), v0) {
		t.Errorf("with the folder writable: waiting %q, spent %+v; want it installed", r.Waiting, r.Spent)
	}
}
