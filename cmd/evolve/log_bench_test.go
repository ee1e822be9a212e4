package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
)

// BenchmarkLog is a year of nights: 300 runs of forty candidates and a trial each,
// every tenth of which was installed.
func BenchmarkLog(b *testing.B) {
	ctx, dir, out := b.Context(), b.TempDir(), new(bytes.Buffer)
	a := newGlobal(strings.NewReader(""), out, new(bytes.Buffer))
	a.Getenv = func(k string) string {
		return map[string]string{"EVOLVE_HOME": filepath.Join(dir, "data"), "CLAUDE_CONFIG_DIR": filepath.Join(dir, "claude")}[k]
	}
	defer a.close()
	check := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	db, err := a.store(ctx)
	check(err)
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	config, err := json.Marshal(map[string]string{"incumbent": strings.Repeat("x", 20_000)})
	check(err)
	text := func(run, c int) []byte { return []byte(fmt.Sprintf("%s\n%d %d\n", tablesText, run, c)) }
	path := filepath.Join(dir, "claude", "skills", "tables", skill.FileName)
	check(os.MkdirAll(filepath.Dir(path), 0o700))
	check(os.WriteFile(path, []byte(tablesText), 0o600))
	if _, err := gatherStatus(ctx, a); err != nil { // records v0
		b.Fatal(err)
	}
	live := skill.HashText([]byte(tablesText))
	for i := range 300 {
		at := began.Add(time.Duration(i) * 24 * time.Hour)
		id := fmt.Sprintf("%s-%06x", at.Format("20060102-150405"), i)
		j := db.Journal(id)
		won := skill.HashText(text(i, 39))
		check(j.SaveRun(ctx, &record.Run{ID: id, Skill: "tables", Status: record.Finished, Incumbent: live, Challenger: won, Config: config, Started: at, Ended: at}))
		for c := range 40 {
			check(j.SaveCandidate(ctx, &record.Candidate{SHA: skill.HashText(text(i, c)), Run: id, Seq: c, Parents: []string{live}, Operator: "reflect",
				State: record.Pooled, Taught: []string{"c1", "c2"}, Text: text(i, c)}))
		}
		tr := pareto.NewTrial(pareto.DefaultConfig())
		for range 20 {
			tr.Add(pareto.Pair{Quality: 0.5})
		}
		state, err := json.Marshal(map[string]any{"version": 1, "trial": tr})
		check(err)
		decision := pareto.Reject
		if i%10 == 9 {
			decision = pareto.Promote
		}
		check(j.SaveTrial(ctx, &record.TrialRecord{Skill: "tables", Incumbent: live, Challenger: won, Run: id, Decision: decision, State: state, Updated: at}))
		if decision == pareto.Promote {
			_, err := db.SaveVersion(ctx, record.Version{Skill: "tables", SHA: won, Parent: live, Author: "evolve", Operator: "reflect", Run: id, Proven: true, Created: at, Text: text(i, 39)})
			check(err)
			live = won
		}
	}
	check(os.WriteFile(path, text(299, 39), 0o600))
	for b.Loop() {
		out.Reset()
		root := newRoot(a)
		root.SetArgs([]string{"log", "tables", "--all"})
		root.SetOut(out)
		if err := root.ExecuteContext(ctx); err != nil || strings.Count(out.String(), "better") < 30 {
			b.Fatalf("%v: %s", err, out)
		}
	}
}
