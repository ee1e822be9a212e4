package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/splits"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
)

// TestSplitsFollowSearchAndTrial: what a search has read and what a trial has heard are
// found in the store; a case moves to train when its trial is over, whatever its verdict,
// and not before; a search that came to nothing because it was stopped has read nothing.
func TestSplitsFollowSearchAndTrial(t *testing.T) {
	for _, verdict := range []pareto.Verdict{pareto.Undecided, pareto.Promising, pareto.Reject, pareto.Promote} {
		t.Run(string(verdict), func(t *testing.T) {
			ctx, g := t.Context(), person(t)
			g.Layout.ClaudeHome = t.TempDir() // its text is edited below
			if err := os.CopyFS(g.Layout.ClaudeHome, os.DirFS(home)); err != nil {
				t.Fatal(err)
			}
			var cases []eval.Case
			for n := range 30 {
				cases = append(cases, eval.Case{ID: fmt.Sprintf("c%02d", n), Skill: "dataviz", Prompt: fmt.Sprint("plot number ", n), Checks: []eval.Check{{Type: eval.Contains, Value: "x"}},
					Source: &eval.Source{Origin: "mined", Outcome: "corrected", Stratum: "corrected", Session: fmt.Sprint("s", n), Time: time.Unix(int64(n), 0).UTC()}})
			}
			check := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			counts := func() map[eval.Split]int {
				t.Helper()
				check(g.Split(ctx, "dataviz", false))
				now, err := g.Store.Cases(ctx, "dataviz")
				check(err)
				return SplitCounts(now)
			}
			lack := func() splits.Lack {
				t.Helper()
				st, err := SplitState(ctx, g.Store, g.Layout, "dataviz")
				check(err)
				now, err := g.Store.Cases(ctx, "dataviz")
				check(err)
				return st.Lack(now)
			}
			_, _, err := g.Store.SaveCases(ctx, cases)
			check(err)
			if n := counts(); !maps.Equal(n, map[eval.Split]int{eval.Train: 12, eval.Val: 6, eval.Test: 12}) || lack() != (splits.Lack{}) {
				t.Fatalf("%v, and a search waits for %q", n, lack())
			}
			live, err := g.Layout.Live("dataviz")
			check(err)
			at := map[string]eval.Split{}
			now, err := g.Store.Cases(ctx, "dataviz")
			check(err)
			for _, c := range now {
				at[c.ID] = c.Split
			}
			config, err := json.Marshal(map[string]any{"evolve": skill.Harness, "splits": at})
			check(err)
			run := &record.Run{ID: "20261101-000000-aaaaaa", Skill: "dataviz", Incumbent: live.Doc.Hash(), Status: record.Interrupted, Config: config, Started: time.Unix(1000, 0)}
			j := g.Store.Journal(run.ID)
			check(j.SaveRun(ctx, run))
			if l := lack(); l != (splits.Lack{}) {
				t.Errorf("after a search that was interrupted the next waits for %q", l)
			}
			run.Status, run.Challenger = record.Finished, "challenger"
			check(j.SaveRun(ctx, run))
			if l := lack(); l != (splits.Lack{Train: 12, Val: 6}) {
				t.Errorf("after a search the next waits for %q", l)
			}
			for _, c := range now[18:26] {
				check(j.SpendCase(ctx, "dataviz", run.Incumbent, "challenger", c.ID, ""))
			}
			trial := &record.TrialRecord{Skill: "dataviz", Incumbent: run.Incumbent, Challenger: "challenger", Run: run.ID, Decision: verdict, Updated: time.Unix(2000, 0).UTC()}
			check(trial.Save(&record.State{Version: 1}))
			check(j.SaveTrial(ctx, trial))
			want, waits := map[eval.Split]int{eval.Train: 12, eval.Val: 6, eval.Test: 12}, splits.Lack{Train: 12, Val: 6}
			if !verdict.IsOpen() {
				want, waits = map[eval.Split]int{eval.Train: 20, eval.Val: 6, eval.Test: 4}, splits.Lack{Train: 4, Val: 6}
			}
			for range 2 {
				if n := counts(); !maps.Equal(n, want) || lack() != waits {
					t.Errorf("%v, and the next search waits for %q; want %v and %q", n, lack(), want, waits)
				}
			}
			// Its owner's edit is in both arms of a trial, which goes on; another text of evolve's
			// ends it.
			moved := map[eval.Split]int{eval.Train: 20, eval.Val: 6, eval.Test: 4}
			text := live.Doc.Render()
			_, err = g.Store.SaveVersion(ctx, record.Version{Skill: "dataviz", SHA: skill.HashText(text), Text: text, Author: "you", Created: time.Unix(500, 0)})
			check(err)
			for i, step := range []struct {
				author string
				want   map[eval.Split]int
			}{{"you", want}, {"evolve", moved}} {
				edited := append(bytes.Clone(text), "\nBy "+step.author+".\n"...)
				check(os.WriteFile(live.Path, edited, 0o600))
				_, err = g.Store.SaveVersion(ctx, record.Version{Skill: "dataviz", SHA: skill.HashText(edited), Parent: skill.HashText(text), Text: edited, Author: step.author, Created: time.Unix(int64(3000+i), 0)})
				check(err)
				if n := counts(); !maps.Equal(n, step.want) {
					t.Errorf("live by %s: %v, want %v", step.author, n, step.want)
				}
			}
		})
	}
}
