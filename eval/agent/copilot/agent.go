// Package copilot is a stub.
package copilot

import (
	"context"

	copilot "github.com/github/copilot-sdk/go"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// Credentials are the variables that the program takes its key from.
var Credentials = []string{}

// An Agent is an eval.Agent and an eval.Model.
type Agent struct{ c replay.Config }

// New asks the program for its version.
func New(ctx context.Context, c replay.Config) (*Agent, error) { panic("not yet") }

// Identity names program, version, model and parameters.
func (a *Agent) Identity() eval.Identity { panic("not yet") }

// Run replays one task.
func (a *Agent) Run(ctx context.Context, t eval.Task) (eval.Attempt, error) { panic("not yet") }

// Complete asks for the reply to one prompt, without tools and skills.
func (a *Agent) Complete(ctx context.Context, p eval.Prompt) (eval.Completion, error) {
	panic("not yet")
}

// Ping says why the agent cannot work; nil where it can.
func (a *Agent) Ping(ctx context.Context) error { panic("not yet") }

var _ = copilot.NewClient
