package sleep

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A Model is who answers, as for the gate: a change of it is what makes a trial
// start again, and what a certificate is about.
type Model = record.Model

// ModelOf is the agent with this identity, and the model that it reported.
func ModelOf(id eval.Identity, reported string) Model { return record.ModelOf(id, reported) }

// alike reports whether m is o, as far as one can tell.
func alike(m, o Model) bool {
	return m.Agent == o.Agent && m.Simulated == o.Simulated && !m.DriftedFrom(o)
}

// keyOf is short, and another one for every other model.
func keyOf(m Model) string {
	h := sha256.Sum256([]byte(strings.Join([]string{m.Agent, m.Release, m.Asked, m.Reported}, "\x00")))
	return hex.EncodeToString(h[:6])
}
