package pi

import (
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// Kind is this backend.
var Kind = &agent.Kind{Name: "pi", Program: "pi", UsesTools: true, Credentials: Credentials, BaseEnv: "PI_BASE_URL",
	Install: Install, Login: "export ANTHROPIC_API_KEY=… or OPENAI_API_KEY=…",
	Make: replay.Maker(New, Credentials)}
