package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/madeup"
	"github.com/skill-evolve/evolve/eval/agent/simulated"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// firstRunOn runs evolve, on the defaults, for a person who has only the oldest sessions of
// the demo and reviews 20 pairs: as many as there are between search and gate, and if the
// run came to nothing for want of more, the rest after it, before another run.
func firstRunOn(t *testing.T, sessions int, seed int64) (said []pareto.Verdict, pairs int) {
	t.Helper()
	dir := t.TempDir()
	newest, err := newestStamp(demoHome)
	if err != nil {
		t.Fatal(err)
	}
	if err := copyTree(demoHome, "demodata/home", dir, time.Now().Add(-time.Hour).Sub(newest)); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, ".claude", "projects", "*", "*.jsonl"))
	if err != nil || len(files) < 100 {
		t.Fatal(len(files), err)
	}
	began := map[string]string{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		began[f] = string(stamp.Find(text))
	}
	slices.SortFunc(files, func(a, b string) int { return strings.Compare(began[a], began[b]) })
	for _, f := range files[sessions:] {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	home := filepath.Join(dir, "evolve")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	for at, text := range map[string]string{filepath.Join(home, "config.yaml"): demoConfig, filepath.Join(dir, backend.DemoMark): ""} {
		if err := os.WriteFile(at, []byte(text), fileMode); err != nil {
			t.Fatal(err)
		}
	}
	own := map[string]string{"EVOLVE_HOME": home, "CLAUDE_CONFIG_DIR": filepath.Join(dir, ".claude")}
	evolve := func() {
		var out, errs bytes.Buffer
		a := newGlobal(strings.NewReader(""), &out, &errs)
		a.Getenv, a.Now, a.demo.sandboxed = func(k string) string { return own[k] }, time.Now, true
		a.demo.review = madeup.Reviews(simulated.Demo(), a.Say)
		defer a.close()
		c := newRoot(a)
		c.SetArgs([]string{"--skill", demoSkill, "--seed", fmt.Sprint(seed), "--yes", "--json"})
		if err := c.ExecuteContext(t.Context()); err != nil && a.fail(err) != exitDone {
			t.Fatalf("%v\n%s", err, errs.String())
		}
		if out.Len() == 0 { // no fresh case is held out
			said = append(said, pareto.Undecided)
			return
		}
		var got struct {
			Verdict struct {
				Decision pareto.Verdict
				Cases    int
			}
		}
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		said, pairs = append(said, got.Verdict.Decision), got.Verdict.Cases
	}
	if evolve(); said[0] == pareto.Promote || said[0] == pareto.Promising {
		return said, pairs
	}
	db, err := store.Open(t.Context(), filepath.Join(home, "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = madeup.Review(t.Context(), db, demoSkill, record.TrustedLabels, simulated.Demo().Person().Prefers)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	evolve()
	return said, pairs
}

// TestFirstRuns: what one command comes to for somebody with few sessions, and a review and
// a second one. EVOLVE_LONG=1: twelve seeds, and 20 and 40 sessions too.
func TestFirstRuns(t *testing.T) {
	t.Parallel()
	seeds, sizes := int64(6), []int{30, 60}
	if os.Getenv("EVOLVE_LONG") != "" {
		seeds, sizes = 12, []int{20, 30, 40, 60}
	}
	for _, n := range sizes {
		first, last := map[pareto.Verdict]int64{}, map[pareto.Verdict]int64{}
		var pairs []int
		for seed := range seeds {
			said, cases := firstRunOn(t, n, seed+1)
			first[said[0]]++
			last[said[len(said)-1]]++
			pairs = append(pairs, cases)
		}
		t.Logf("%d sessions: %v after one run, %v after the review, on %v pairs", n, first, last, pairs)
		if hopeful := last[pareto.Promote] + last[pareto.Promising]; n >= 30 && hopeful*6 < seeds*5 {
			t.Errorf("%d sessions: %v, want 5 of 6 at least promising", n, last)
		}
		if n >= 60 && last[pareto.Promote]*6 < seeds*5 {
			t.Errorf("%d sessions: %v, want 5 of 6 proved", n, last)
		}
	}
}
