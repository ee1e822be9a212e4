package handoff

import (
	"context"

	"github.com/skill-evolve/evolve/eval/agent"
)

// Kind is the backend that puts requests into a folder.
var Kind = &agent.Kind{Name: "handoff", UsesTools: true, ByHand: true, Dollars: agent.Unknown, Make: func(_ context.Context, o *agent.Opening) (a agent.Answerer, err error) {
	dir := o.Spec.HandoffDir
	if dir == "" {
		if dir, err = o.HandoffDir(); err != nil {
			return a, err
		}
	}
	return agent.Both(New(Config{Dir: dir, By: o.Model, Wait: !o.NoWait, Asking: o.Asking, Redactor: o.Redactor()}))
}}
