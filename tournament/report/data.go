package report

import (
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Data is what a report is made from.
type Data struct {
	Run        record.Run
	Candidates []record.Candidate // of the run, with their texts
	Events     []record.Event
	// Rollouts are those that the run paid for. Reused are all of its pooled
	// candidates that another one paid for: they hold what it took from its cache.
	Rollouts, Reused []eval.Rollout
	Cases            []eval.Case
	// Replies are what other models than the agent's answered, by who asked. The
	// judge's grades are in the rollouts; here are those of its calibration.
	Replies map[eval.Spender][]eval.Completion
	// Trial is the gate's evidence as it is kept now; nil if there is none.
	Trial *pareto.Trial
	// Version and Installed are the versions of incumbent and challenger, nil
	// if they have none.
	Version, Installed *int
	// Lessons are the challenger's sentences with what taught them.
	Lessons []Lesson
	// Incumbent and Challenger are their texts; nil if there is none.
	Incumbent, Challenger []byte
}
