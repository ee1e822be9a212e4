// Package tournament re-exports the types of record, gate and search that
// other modules use.
package tournament

import (
	"github.com/skill-evolve/evolve/tournament/gate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
	"github.com/skill-evolve/evolve/tournament/search"
)

// The gate, and what it records.
type (
	Gate        = gate.Gate
	Verdict     = gate.Verdict
	Journal     = record.Journal
	Memory      = recordtest.Memory
	Log         = record.Log
	Event       = record.Event
	Run         = record.Run
	Candidate   = record.Candidate
	Version     = record.Version
	TrialRecord = record.TrialRecord
	TrialNumber = record.TrialNumber
	Calibration = record.Calibration
	Model       = record.Model
	Spent       = record.Spent

	SpentError        = record.SpentError
	TrialChangedError = record.TrialChangedError
)

// The search.
type (
	Engine  = search.Engine
	Options = search.Options
	Cases   = search.Cases
	Result  = search.Result
	Plan    = search.Plan
	Outcome = search.Outcome
)
