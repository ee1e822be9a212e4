package campaign

import (
	"context"

	"github.com/skill-evolve/evolve/eval"
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
	Left            eval.Caps       // tokens, dollars and time that the payer's caps leave, as eval.Budget.Remaining has them
	Lease           *lock.Lease     // of a night
}

// ProbesOf forecasts the kernel probes of one text of a skill that is found better; nil if none
// would be asked.
func (r *Runner) ProbesOf(f *Config, live *skill.Live, tools bool, past PastRate) (*probes.Takes, error) {
	if r.ProbeCaps == nil || f.NoGate {
		return nil, nil
	}
	caps, err := r.ProbeCaps()
	if err != nil || caps.Rollouts < 0 {
		return nil, err
	}
	st := probes.Folder(r.Dir.Probes(live.Name)).Of(live.Doc, "", "")
	if st.Set == nil || len(st.Set.Probes) == 0 {
		return nil, nil
	}
	cases := make([]eval.Case, len(st.Set.Probes))
	for i := range cases {
		cases[i] = st.Set.Probes[i].Case(live.Name)
	}
	each := f.PerRollout(string(live.Doc.Body()), cases, tools)
	if past.Tokens > 0 {
		each = float64(past.Tokens) / float64(past.Rollouts)
	}
	most := min(st.Set.Most(), caps.Rollouts)
	return &probes.Takes{Replays: most, Tokens: int64(each * float64(most))}, nil
}

// probe has a proved challenger answer the probes of its kernel. The verdict stands.
func (c *Campaign) probe(ctx context.Context, res *Result) error {
	if c.runner.Probe == nil || res.Verdict.Decision != pareto.Promote || len(probes.Rules(c.Live.Doc)) == 0 {
		return nil
	}
	st, spent, err := c.runner.Probe(ctx, c.runner, ProbeRequest{c.db, c.back, &c.Config, c.Live, res.doc, res.Challenger.SHA, c.run.ID, c.budget.Remaining(), c.options.Lease})
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
