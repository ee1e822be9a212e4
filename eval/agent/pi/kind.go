package pi

import (
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// Kind is this backend.
var Kind = &agent.Kind{Name: "pi", Program: "pi", Sessions: "pi", UsesTools: true, Records: true, Credentials: Credentials, BaseEnv: "PI_BASE_URL",
	Install: Install, Login: "export ANTHROPIC_API_KEY=… or OPENAI_API_KEY=…",
	Asks: asks,
	Make: replay.Maker(New, Credentials)}

// asks finds the provider that the program will ask. A way that cannot be found ends in
// an error once the backend is made; until then its provider is not known.
func asks(o *agent.Opening) (to []agent.Recipient) {
	r, err := routeOf(replay.Config{Model: o.Model, BaseURL: o.BaseURL, Credentials: replay.Keys(o, Credentials)})
	if err != nil {
		return []agent.Recipient{{Vendor: "pi"}}
	}
	for _, host := range r.hosts {
		to = append(to, agent.At(host)...)
	}
	return to
}
