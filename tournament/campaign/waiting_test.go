package campaign

import (
	"bytes"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
)

// TestUnrunTellsTheEvidence: a trial that waits for cases is told as what it is.
func TestUnrunTellsTheEvidence(t *testing.T) {
	l, ctx := newLab(t), t.Context()
	_, _, err := l.db.SaveCases(ctx, l.world.Cases(12, 12, 24))
	l.check(err)
	c, err := l.Prepare(ctx, l.config(), Options{Run: "20261122-000000-aaaaaa"})
	l.check(err)
	defer c.Close()
	for want, wins := range map[pareto.Verdict]int{pareto.Undecided: 1, pareto.Promising: 5} {
		trial := pareto.NewTrial(pareto.DefaultConfig())
		for range wins {
			trial.Add(pareto.Pair{Quality: 1})
		}
		text := append(bytes.Clone(c.Live.Doc.Render()), "\nBe brief.\n"...)
		w := &WaitingError{Trial: candidate.OnTrial{TrialRecord: record.TrialRecord{Skill: c.Config.Skill, Incumbent: c.Live.Doc.Hash(), Challenger: "c"},
			With: &record.Candidate{SHA: skill.HashText(text), Text: text}}}
		l.check(w.Trial.Save(&record.State{Version: 1, Trial: trial}))
		res, err := c.Unrun(ctx, w)
		if err != nil || res.Verdict.Decision != want || res.Verdict.Cases != wins || res.Verdict.EValue != trial.EValue() {
			t.Errorf("after %d wins: %+v, %v, want %s", wins, res, err, want)
		}
	}
}
