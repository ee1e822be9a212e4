package claude

import (
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// Kind is this backend.
var Kind = &agent.Kind{Name: "claude", Program: "claude", Sessions: "claude-code", UsesTools: true, Records: true, Credentials: Credentials, BaseEnv: "ANTHROPIC_BASE_URL",
	Install: Install, Login: "`" + SetupToken + "`, then export CLAUDE_CODE_OAUTH_TOKEN=…; or export ANTHROPIC_API_KEY=…",
	Asks: agent.Server("api.anthropic.com"),
	Make: replay.Maker(New, Credentials)}
