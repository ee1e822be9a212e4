package main

import (
	"github.com/skill-evolve/evolve/cmd/evolve/internal/usage"
	"github.com/skill-evolve/evolve/eval/plain"
)

var exactArgs, noArgs, parent = usage.Exact, usage.None, usage.Parent

// oneLine folds a message, so that an error is one line whatever it quotes,
// and no text from a server or a file reaches the terminal as a control
// sequence.
func oneLine(s string) string { return plain.Line(s) }
