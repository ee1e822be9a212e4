package campaign

import (
	"context"

	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/probes"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/lock"
)

// A ProbeRequest asks how a text that is otherwise proved answers the probes of its kernel.
type ProbeRequest struct {
	Store           *store.Store
	Back            *agent.Backends
	Config          *Config
	Live            *skill.Live
	With            *skill.Document // that is to replace the live text
	Challenger, Run string          // SHA-256 of the candidate whose change With has; the run that pays, "" for none
	Lease           *lock.Lease     // of a night
}

// probe has a proved challenger answer the probes of its kernel. The verdict stands.
func (c *Campaign) probe(ctx context.Context, res *Result) error {
	if c.runner.Probe == nil || res.Verdict.Decision != pareto.Promote || len(probes.Rules(c.Live.Doc)) == 0 {
		return nil
	}
	st, spent, err := c.runner.Probe(ctx, c.runner, ProbeRequest{c.db, c.back, &c.Config, c.Live, res.doc, res.Challenger.SHA, c.run.ID, c.options.Lease})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if res.Probes = st.Report(c.Config.Skill, spent, err); spent.Nothing() {
		return nil
	}
	res.Spent = res.Spent.Plus(spent)
	c.run.Spent = res.Spent
	return c.journal().SaveRun(ctx, c.run)
}
