package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// TestOneProcessAtWorkOnASkill: while a run works on a skill, another one of
// the same part is refused before it spends anything, with the name of the
// first; a night skips the skill. After the run has ended the skill is free,
// even if its process was killed and left the file.
func TestOneProcessAtWorkOnASkill(t *testing.T) {
	t.Parallel()
	b := newBedroom(t)
	a := newGlobal(strings.NewReader(""), io.Discard, io.Discard)
	a.Getenv = func(k string) string { return b.env[k] }
	runs := func() int {
		t.Helper()
		db := b.store()
		defer db.Close()
		all, err := db.Runs(t.Context(), demoSkill)
		if err != nil {
			t.Fatal(err)
		}
		if begun, err := db.BegunRun(t.Context(), demoSkill); begun != "" || err != nil {
			t.Errorf("run %q has begun (%v)", begun, err)
		}
		return len(all)
	}
	locks, err := a.locks()
	if err != nil {
		t.Fatal(err)
	}
	own, err := locks.Skill(t.Context(), demoSkill, skill.Harness, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := own.By("20261121-000000-aaaaaa"); err != nil {
		t.Fatal(err)
	}
	search := []string{"--skill", demoSkill, "--agent", "simulated", "--no-harvest", "--max-rollouts", "20"}
	if b.run(exitFailed, search...); !strings.Contains(b.stderr.String(), "run 20261121-000000-aaaaaa (process ") ||
		!strings.Contains(b.stderr.String(), "nothing was spent") {
		t.Errorf("it is told:\n%s", b.stderr.String())
	}
	r := b.night(exitDone)
	skipped := false
	for _, k := range r.Steps {
		if k.Skill == demoSkill && k.Kind == sleep.Search {
			skipped = k.Stage == sleep.Skipped && strings.Contains(k.Note, "its owner's run is on it: run 20261121-000000-aaaaaa")
		}
	}
	if !skipped || r.Spent.AgentCalls+r.Spent.MutatorCalls+r.Spent.MinerCalls > 0 {
		t.Errorf("a night: spent %+v, %+v", r.Spent, r.Steps)
	}
	if n := runs(); n > 0 {
		t.Errorf("%d runs of those that were refused", n)
	}
	if other, err := locks.Skill(t.Context(), demoSkill, skill.Description, nil); err != nil {
		t.Errorf("its description is tried on other cases: %v", err)
	} else {
		other.Unlock()
	}
	b.run(exitDone, append(search, "--dry-run")...)
	held, err := filepath.Glob(filepath.Join(locks.Dir.Running(), "skill-*"))
	if err != nil || len(held) != 1 {
		t.Fatalf("locks %v, %v", held, err)
	}
	path := held[0]
	own.Unlock()

	// A process that was killed leaves the file, and the system takes its lock.
	if err := os.WriteFile(path, []byte(`{"run":"gone","pid":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	b.run(exitStopped, search...)
	if n := runs(); n != 1 {
		t.Errorf("%d runs after it was free", n)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); err != nil || len(left) > 0 {
		t.Errorf("locks that nobody has: %v, %v", left, err)
	}
}
