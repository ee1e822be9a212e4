package codex

import (
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// Kind is this backend.
var Kind = &agent.Kind{Name: "codex", Program: "codex", Sessions: "codex", UsesTools: true, Records: true, Credentials: Credentials, BaseEnv: "OPENAI_BASE_URL",
	Install: Install, Login: "export OPENAI_API_KEY=…", Dollars: agent.ByTable,
	Asks: agent.Server("api.openai.com"),
	Make: replay.Maker(New, Credentials)}
