package work

import (
	"context"
	"strings"

	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/campaign/probing"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release/tracked"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// conclude gathers the facts that the policy decides on.
func (s *Worker) conclude(ctx context.Context, c *campaign.Campaign, res *campaign.Result, r *sleep.Result) (err error) {
	out := res.Outcome
	r.Warnings, r.Settled, r.Kept = res.Warnings, c.Settled.Words, c.Settled.Kept
	if res.Probes != nil {
		r.Probed = res.Probes.Spent
	}
	if err := s.Outbox.Guard(ctx, s.Store, res.Skill); err != nil {
		return err
	}
	if r.Report, err = s.Page(ctx, res.Run); err != nil {
		return err
	}
	of := c.Stored().Tried()
	r.Incumbent, r.Simulated, r.Stopped = of.Base, res.Simulated, out.BudgetStop
	switch {
	case out.Search != nil && out.Search.Cap != "" && res.Challenger == nil:
		r.Stopped, r.StoppedBy = true, out.Search.Cap
	case out.BudgetStop && out.Verdict != nil:
		r.StoppedBy = out.Verdict.Cap
	}
	r.Unboxed = c.UsesTools() && (c.Config.Sandbox == agent.SandboxNone || process.Available() != nil)
	if res.Challenger == nil || out.Verdict == nil {
		return nil
	}
	v := out.Verdict
	r.Challenger, r.Decision, r.Route, r.Reason, r.EValue, r.Alpha = of.Challenger, v.Verdict, v.Route, v.Reason, pareto.Finite(v.Proof()), v.Alpha
	r.Round, r.Restarted = v.Round, v.Restarted
	r.Total, r.NotLower = v.Total(), v.NotLower()
	t, err := candidate.On(ctx, s.Store, c.Live, of)
	if err != nil || t == nil || t.With == nil { // an edit while it ran: its owner installs it
		r.Against = "you changed the live text while it ran"
		return err
	}
	if err := s.weigh(ctx, c.Live, t, r); err != nil || r.Decision != pareto.Promote || r.Against != "" {
		return err
	}
	// The owner's labels may complete measurements on the model before.
	if r.Against = record.Against(v.Beside); r.Against != "" {
		return nil
	}
	r.Against, err = s.outdated(ctx, c.Live.Name, r.Challenger)
	return err
}

// weigh adds to the result of a trial the facts besides the evidence that the policy
// decides on.
func (s *Worker) weigh(ctx context.Context, live *skill.Live, t *candidate.OnTrial, r *sleep.Result) (err error) {
	if _, r.Kernel, err = s.Store.KernelConfirmed(ctx, live.Name, live.Doc.KernelHash()); err != nil {
		return err
	}
	next, err := skill.Stored(live.Name, t.With.Text)
	if err != nil {
		return err
	}
	c, err := candidate.Of(ctx, s.Store, live.Name, t.Challenger)
	if err != nil {
		return err
	}
	by, err := s.answers(ctx, &t.TrialRecord)
	if err != nil {
		return err
	}
	st := probing.FolderOf(s.Runner.Dir, live.Name).Of(live.Doc, skill.HashText(t.With.Text), by)
	if !st.Unanswered() { // else they are answered before it is put in place
		r.Probes = st.Against(live.Name)
	}
	part := candidate.PartOf(t.With.Operator)
	if live.Tracked {
		r.Against = "git tracks the file, so others get it"
		if r.Command, err = tracked.Command(ctx, s.Store, live, t.Challenger, live.Name); err != nil {
			return err
		}
	}
	if part == skill.Description {
		// It decides when the skill is offered, which its owner has confirmed.
		r.Against = "it changes the description"
	}
	if candidate.OnlyDeletes(live.Doc, t.With.Text) {
		r.Against = "it only lacks lines of the live text"
	}
	if dropped, err := t.Dropped(); err != nil {
		return err
	} else if len(dropped) > 0 {
		r.Against = strings.Join(dropped, " and ") + " did not count any more after it was seen"
	}
	if r.Against == "" {
		if r.Against, err = candidate.NotOwnWords(ctx, s.Store, &t.TrialRecord); err != nil {
			return err
		}
	}
	if r.Against == "" && t.Decision == pareto.Promote {
		if r.Against, err = candidate.Creep(ctx, s.Store, live, t); err != nil {
			return err
		}
	}
	if r.Against == "" && t.Decision == pareto.Promote {
		if r.Against, err = oneWorkspace(&t.TrialRecord); err != nil {
			return err
		}
	}
	r.Flagged, err = candidate.FlaggedRules(live.Doc, next, part, c)
	return err
}
