package copilot

import (
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// Kind is this backend.
var Kind = &agent.Kind{Name: "copilot", Program: "copilot", Sessions: "copilot-cli", UsesTools: true, Records: true, Credentials: Credentials, BaseEnv: "COPILOT_PROVIDER_BASE_URL",
	Install: Install, Login: "export COPILOT_GITHUB_TOKEN=…", Dollars: agent.ByTable,
	Asks: agent.Server("api.githubcopilot.com"),
	Make: replay.Maker(New, Credentials)}
