package backend

import (
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/claude"
	"github.com/skill-evolve/evolve/eval/agent/codex"
	"github.com/skill-evolve/evolve/eval/agent/command"
	"github.com/skill-evolve/evolve/eval/agent/copilot"
	"github.com/skill-evolve/evolve/eval/agent/handoff"
	"github.com/skill-evolve/evolve/eval/agent/openai"
	"github.com/skill-evolve/evolve/eval/agent/pi"
	"github.com/skill-evolve/evolve/eval/agent/simulated"
)

// The backends that this build links, in the order in which they are tried if none is
// named.
func init() {
	agent.Register(
		openai.Kind,
		claude.Kind,
		codex.Kind,
		pi.Kind,
		copilot.Kind,
		command.Kind,
		handoff.Kind,
		simulated.Kind,
	)
}
