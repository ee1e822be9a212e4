package report

import (
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A Task is work that takes a while and whose progress is shown.
type Task struct {
	Of    string // the skill's name if there are several, else ""
	Phase string // the first
	Unit  string // what is counted: "rollouts", "sessions"
	Total int64  // of them; 0: unknown
	// Count returns how many there are; nil counts the calls of Count and Rollout.
	Count  func() int64
	Budget *eval.Budget // nil: nothing is spent
	Caps   eval.Caps    // of Budget
	// Since is when a resumed run began: what was recorded since counts as done
	// before. Zero: nothing was.
	Since time.Time
	// Expect is what Total takes by the forecast; 0: unknown.
	Expect time.Duration
	// Bound: Total may not be needed, the evidence or the patience can end it.
	Bound bool
}

// A View shows the progress of a task until it is done.
type View interface {
	Event(record.Event)
	Rollout(*eval.Rollout)
	Done()
}
