package sleep

import (
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A Model is who answers, as for the gate: a change of it is what makes a trial
// start again, and an installed version be compared again.
type Model = record.Model

// ModelOf is the agent with this identity, and the model that it reported.
func ModelOf(id eval.Identity, reported string) Model { return record.ModelOf(id, reported) }
