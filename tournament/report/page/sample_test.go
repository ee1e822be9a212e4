package page

import (
	"io"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/report/reporttest"
	"github.com/skill-evolve/evolve/tournament/sleep"
	"github.com/skill-evolve/evolve/tournament/status"
)

// pageWriters are pages of every kind, and of every size.
func pageWriters(t *testing.T) map[string]func(io.Writer) error {
	return map[string]func(io.Writer) error{
		"run":     Run(reporttest.Model(t, reporttest.Sample(t))),
		"hostile": Run(reporttest.Model(t, reporttest.HostileRun(t))),
		"compare": Comparison(reporttest.HostileComparison(t)),
		"night":   Night(night()),
		"quiet":   Night(&status.Night{Night: &sleep.Night{ID: "20260302-031700", Policy: sleep.Staging, Began: reporttest.Begin, Ended: reporttest.Begin}, Spent: eval.Spent{CostKnown: true}}),
		"busy":    Run(reporttest.Model(t, reporttest.Tournament(t, 30, 60))),
	}
}

// night is one with every kind of step, and reporttest.Hostile words.
func night() *status.Night {
	spent := func(n int64) eval.Spent {
		return eval.Spent{Rollouts: n, CostUSD: float64(n) * 0.01, CostKnown: true}
	}
	return &status.Night{Night: &sleep.Night{ID: "20260302-031700", Policy: sleep.Staging, Began: reporttest.Begin, Ended: reporttest.Begin.Add(2e12), Sessions: 41, TakenOver: 1,
		Caps: sleep.Caps{Rollouts: 240, CostUSD: 2},
		Steps: []sleep.Step{
			{Kind: sleep.Harvest, Stage: sleep.Done, Note: "41 sessions new or changed"},
			{Kind: sleep.Watch, Skill: "tagger", Stage: sleep.Done, Note: "alarm: failures in 60 % of 20 sessions"},
			{Kind: sleep.Watch, Skill: "a-skill-with-a-very-long-name-that-hardly-fits-anywhere", Stage: sleep.Done, Note: "fine"},
			{Kind: sleep.Continue, Skill: "dataviz", Stage: sleep.Done, Note: "undecided", Attempts: 1, Spent: spent(60), Gain: 3.2,
				Result: &sleep.Result{Decision: pareto.Undecided, Challenger: "ab", EValue: 5.9, Alpha: 0.04, Report: "20260302-031702-0b51e5.html"}},
			{Kind: sleep.Search, Skill: "tagger", Stage: sleep.Done, Note: "proven", Attempts: 1, Spent: spent(140), Gain: 1.4,
				Result: &sleep.Result{Decision: pareto.Promote, Challenger: "cd", EValue: 40, Alpha: 0.04, Flagged: []string{"new-host"}, Report: "javascript:alert(1)", Simulated: true}},
			{Kind: sleep.Install, Skill: "tagger", Stage: sleep.Skipped, Note: "better, and waits for your word (policy stage)", Result: &sleep.Result{}},
			{Kind: sleep.Search, Skill: reporttest.Hostile, Stage: sleep.Failed, Note: reporttest.Hostile, Attempts: 3, Errors: 3, Spent: spent(0)},
		}}, Spent: eval.Spent{Rollouts: 200, CostUSD: 1.9, TokensIn: 4e6, TokensOut: 1e5, CostKnown: true, WallMS: 7e5},
		Waiting: []string{"tagger@cd: proven; `evolve promote tagger`", reporttest.Hostile}}
}
