package report

import (
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Data is the input of a report.
type Data struct {
	Run        record.Run
	Candidates []record.Candidate // of the run, with their texts
	Events     []record.Event
	// Rollouts are those that the run paid for. Reused are all rollouts of
	// its pooled candidates that another run paid for: the run took some of
	// them from the cache.
	Rollouts, Reused []eval.Rollout
	Cases            []eval.Case
	// Replies are the replies of models other than the agent's, by role. The
	// judge's grades are in the rollouts; here are its comparisons of answers.
	Replies map[eval.Spender][]eval.Completion
	// Trial is the gate's evidence as stored now; nil if there is none.
	Trial *pareto.Trial
	Heard *record.Heard // of it
	// Version and Installed are the versions of incumbent and challenger, nil
	// if they have none.
	Version, Installed *int
	// Lessons are the challenger's sentences with the cases that taught them.
	Lessons []Lesson
	// Promote is the command that installs the challenger, "" if that is not known.
	Promote string
	// Incumbent and Challenger are their texts; nil if there is none.
	Incumbent, Challenger []byte
}
