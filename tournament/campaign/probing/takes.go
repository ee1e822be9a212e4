package probing

import (
	"context"
	"fmt"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/probes"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament/campaign"
)

// Takes are what one text that is otherwise proved takes to answer a set, with both texts.
type Takes struct {
	Least    int64    `json:"replays"`     // if no rule is broken more often
	Most     int64    `json:"max_replays"` // if all are
	Tokens   int64    `json:"tokens"`      // of Least; 0 is unknown
	CostUSD  *float64 `json:"cost_usd"`    // of Least; nil is unknown
	Backends string   `json:"backends,omitempty"`

	free bool
}

// String formats the forecast.
func (t *Takes) String() string {
	line := fmt.Sprintf("%s, at most %s", plain.Counted(t.Least, "replay"), plain.Thousands(t.Most))
	if t.Backends != "" {
		line += fmt.Sprintf("; the former are about %s tokens, %s; %s", plain.Thousands(t.Tokens), campaign.CostWords(t.CostUSD, t.free), t.Backends)
	}
	return line
}

// TakesOf forecasts the answers to a set. Without an agent it counts the replays alone.
func TakesOf(ctx context.Context, r *campaign.Runner, spec agent.Spec, live *skill.Live, set *probes.Set) (*Takes, error) {
	t := &Takes{Least: int64(2 * probes.ScreenReplays * len(set.Probes)), Most: set.Most()}
	spec.TextOnly = false
	back, err := r.Backends(ctx, &spec)
	if err != nil {
		return t, nil //nolint:nilerr // a run reports it
	}
	defer back.Close() // what stays behind does no harm
	db, err := r.Existing(ctx)
	if err != nil || db == nil {
		return t, err
	}
	f := campaign.Config{Spec: spec, Skill: live.Name, Evolve: skill.Harness}
	turns, err := r.Recorded(ctx, db, &f, live.Name)
	if err != nil {
		return t, err
	}
	t.Backends, t.free, t.CostUSD = f.Describe(), agent.KindOf(f.Agent).Simulated, new(float64)
	if turns != nil {
		takes := f.Estimate(turns, t.Least, len(set.Probes), 0)
		t.Tokens, t.CostUSD = takes.Tokens, takes.CostUSD
		return t, nil
	}
	cases := make([]eval.Case, len(set.Probes))
	for i := range cases {
		cases[i] = set.Probes[i].Case(live.Name)
	}
	t.Tokens = t.Least * int64(f.PerRollout(string(live.Doc.Body()), cases, back.UsesTools()))
	if !t.free {
		t.CostUSD = f.USD(f.Model, float64(t.Tokens))
	}
	return t, nil
}
