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

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament/record"
)

// BenchmarkStatus is a person with thirty skills, 5,000 uses of each, a hundred
// cases, three runs with forty candidates, and a trial.
func BenchmarkStatus(b *testing.B) {
	ctx := b.Context()
	dir := b.TempDir()
	a := newGlobal(strings.NewReader(""), new(bytes.Buffer), new(bytes.Buffer))
	a.Getenv = func(k string) string {
		return map[string]string{"EVOLVE_HOME": filepath.Join(dir, "data"), "CLAUDE_CONFIG_DIR": filepath.Join(dir, "claude")}[k]
	}
	defer a.close()
	db, err := a.store(ctx)
	check := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	check(err)
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	config, err := json.Marshal(map[string]string{"incumbent": strings.Repeat("x", 20_000)})
	check(err)
	for k := range 30 {
		name := fmt.Sprintf("skill-%02d", k)
		text := []byte(swap(tablesText, "tables", name))
		path := filepath.Join(dir, "claude", "skills", name, skill.FileName)
		check(os.MkdirAll(filepath.Dir(path), 0o700))
		check(os.WriteFile(path, text, 0o600))
		for i := range 100 {
			s := &harvest.Session{ID: fmt.Sprintf("%s-%03d", name, i), Path: fmt.Sprintf("/%s/%03d.jsonl", name, i), Agent: "claude-code", Started: began}
			for u := range 50 {
				label := harvest.Accepted
				if u%5 == 0 {
					label = harvest.Corrected
				}
				s.Invocations = append(s.Invocations, harvest.Invocation{ID: fmt.Sprintf("toolu_%s_%d_%d", name, i, u), Skill: name, Turn: u,
					Time: began.Add(time.Duration(i*50+u) * time.Minute), Feedback: harvest.Feedback{Label: label, Evidence: strings.Repeat("no, use the other one ", 5)}})
			}
			check(db.SaveSession(ctx, s))
		}
		var cases []eval.Case
		for i := range 100 {
			cases = append(cases, eval.Case{ID: fmt.Sprintf("c%03d", i), Skill: name, Prompt: strings.Repeat("p", 500), Split: []eval.Split{eval.Train, eval.Val, eval.Test}[i%3],
				Checks: []eval.Check{{Type: eval.Contains, Value: "x"}}})
		}
		_, _, err := db.SaveCases(ctx, cases)
		check(err)
		sha := skill.HashText(text)
		for i := range 3 {
			id := fmt.Sprintf("20260101-00000%d-%06x", i, k)
			j := db.Journal(id)
			check(j.SaveRun(ctx, &record.Run{ID: id, Skill: name, Status: record.Finished, Incumbent: sha, Config: config, Started: began}))
			for c := range 40 {
				body := fmt.Sprintf("%s\n%d %d\n", text, i, c)
				check(j.SaveCandidate(ctx, &record.Candidate{SHA: skill.HashText([]byte(body)), Run: id, Seq: c, Operator: "reflect", State: record.Pooled, Text: []byte(body)}))
			}
			tr := pareto.NewTrial(pareto.DefaultConfig())
			for range 20 {
				tr.Add(pareto.Pair{Quality: 0.5})
			}
			state, err := json.Marshal(map[string]any{"version": 1, "trial": tr})
			check(err)
			check(j.SaveTrial(ctx, &record.TrialRecord{Skill: name, Incumbent: sha, Challenger: skill.HashText([]byte(fmt.Sprintf("%s\n%d %d\n", text, i, 3))), Run: id,
				Decision: pareto.Undecided, State: state, Updated: began}))
		}
	}
	reg, err := a.layout().Registry()
	check(err)
	check(recordAll(ctx, a, db, reg, ""))
	_, err = db.SkillUses(ctx) // as a harvest does
	check(err)
	check(a.close())
	a.access = datadir.Looks
	for b.Loop() {
		r, err := gatherStatus(ctx, a)
		if err != nil || len(r.Skills) != 30 || r.Skills[0].Uses != 5000 {
			b.Fatalf("%v", err)
		}
	}
}
