// Package probing has a model write probes of a kernel, and has them answered by a text that is
// otherwise proved and by the one that it is to replace.
package probing

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/probes"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/gate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/report"
)

// FolderOf holds the probes of a skill.
func FolderOf(dir datadir.Dir, name string) probes.Folder { return probes.Folder(dir.Probes(name)) }

// ReportOf is what is known of a text, by its SHA-256, that is to replace the live one, with the
// agent that its trial ran with.
func ReportOf(ctx context.Context, db *store.Store, dir datadir.Dir, live *skill.Live, sha string, trial *record.TrialRecord) (*probes.Report, error) {
	by, err := TriedBy(ctx, db, trial)
	if err != nil {
		return nil, err
	}
	st := FolderOf(dir, live.Name).Of(live.Doc, sha, by)
	return st.Report(live.Name, eval.Spent{}, nil), nil
}

// By names who answers: the agent, its model and parameters, and whether it has a sandbox.
func By(id eval.Identity, sandbox string) string {
	s := fmt.Sprintf("%v, sandbox %s, %s", record.ModelOf(id, ""), cmp.Or(sandbox, agent.SandboxOn), id.Params)
	if id.Simulated {
		s = "simulated " + s
	}
	return s
}

// TriedBy is By of who answered last in a trial, "" if that is not known any more.
func TriedBy(ctx context.Context, db *store.Store, t *record.TrialRecord) (string, error) {
	who, err := db.ProvedBy(ctx, t.Challenger)
	if err != nil || who == nil {
		return "", err
	}
	run, err := db.Run(ctx, t.Run)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var f campaign.Config
	if err := json.Unmarshal(run.Config, &f); err != nil {
		return "", fmt.Errorf("read run %s: %w", run.ID, err)
	}
	return By(who.Agent, f.Sandbox), nil
}

// arm is the purpose of all replays of probes: under it no search and no trial finds them.
const arm = "probes"

// Answer is campaign.Runner.Probe: within the probes' own caps, and what those of the payer leave.
func Answer(ctx context.Context, r *campaign.Runner, q campaign.ProbeRequest) (probes.Standing, eval.Spent, error) {
	folder := FolderOf(r.Dir, q.Live.Name)
	st := folder.Of(q.Live.Doc, q.With.Hash(), By(q.Back.Agent.Identity(), q.Config.Sandbox))
	again := st.Outcome != nil && q.Run != "" && st.Outcome.Run == q.Run // the run is walked again
	if again && !st.Unanswered() {
		return st, st.Outcome.Spent, nil
	}
	if !st.Unanswered() || r.Access != datadir.Writes {
		return st, eval.Spent{}, nil
	}
	caps, err := r.ProbeCaps()
	if err != nil {
		return st, eval.Spent{}, err
	}
	var before eval.Spent // by an attempt that was stopped: its answers are used, and another run has paid for them
	if st.Outcome != nil && !again {
		before = st.Outcome.Spent
	}
	o, err := try(ctx, r, q, st.Set, caps, before)
	if err != nil {
		return st, eval.Spent{}, err
	}
	st.Outcome = o
	return st, since(o.Spent, before), folder.Save(o)
}

// withPaid are the caps of a budget that books what was paid for before once more, of what the
// payer's caps leave now.
func withPaid(left eval.Caps, before eval.Spent) (c eval.Caps) {
	// Zero is no cap: so small a cap stops the probes before their next call.
	if left.Tokens != 0 {
		c.Tokens = max(1, max(0, left.Tokens)+before.TokensIn+before.TokensOut)
	}
	if left.CostUSD != 0 {
		c.CostUSD = max(1e-9, max(0, left.CostUSD)+before.CostUSD)
	}
	if left.Duration != 0 {
		c.Duration = max(1, max(0, left.Duration)+time.Duration(before.WallMS)*time.Millisecond)
	}
	return c
}

// since is what was spent after before.
func since(all, before eval.Spent) eval.Spent {
	all.Rollouts -= before.Rollouts
	all.AgentCalls -= before.AgentCalls
	all.JudgeCalls -= before.JudgeCalls
	all.TokensIn -= before.TokensIn
	all.TokensOut -= before.TokensOut
	all.CostUSD -= before.CostUSD
	all.WallMS -= before.WallMS
	return all
}

// try answers the probes. What cannot be answered tonight is no error: the outcome says why.
func try(ctx context.Context, r *campaign.Runner, q campaign.ProbeRequest, set *probes.Set, caps eval.Caps, before eval.Spent) (*probes.Outcome, error) {
	o := &probes.Outcome{Schema: 1, Skill: q.Live.Name, Incumbent: q.Live.Doc.Hash(), Challenger: q.With.Hash(), Set: set.Fingerprint(), By: By(q.Back.Agent.Identity(), q.Config.Sandbox), Run: q.Run, At: r.Now().UTC(), Spent: before}
	if caps.Rollouts < 0 {
		o.Stopped = "probe_max_rollouts is 0, so that none are asked"
		return o, nil
	}
	caps = caps.Within(withPaid(q.Left, before))
	t := &trial{set: set, outcome: o, cases: make([]eval.Case, len(set.Probes))}
	kinds := []string{agent.Replay}
	for i := range set.Probes {
		t.cases[i] = set.Probes[i].Case(q.Live.Name)
		if record.Asks(&t.cases[i]) {
			kinds = []string{agent.Replay, agent.Judge}
		}
	}
	if _, _, err := r.Control.Clear(ctx, q.Store, q.Back, kinds, t.cases); err != nil {
		return nil, err
	}
	if left, err := r.Learned(ctx, q.Store, q.Back, kinds, q.Live.Name, q.Challenger); err != nil {
		return nil, err
	} else if len(left) > 0 {
		return nil, left.Taught("the new text", "try it with another model")
	}
	if err := q.Back.Ping(ctx); err != nil {
		return nil, err
	}
	live, err := campaign.VariantOf(q.Live)
	if err != nil {
		return nil, err
	}
	t.before, t.after, t.seed = live, live.With(q.With), q.Config.Seed
	budget := eval.NewBudget(caps, r.Now)
	q.Config.SetPrices(budget)
	budget.ChargeTime(time.Duration(before.WallMS) * time.Millisecond)
	kept, err := campaign.NewRecord(ctx, q.Store, fmt.Sprintf("probes-%.12s-%.12s", o.Incumbent, o.Challenger), budget, 0, q.Lease)
	if err != nil {
		return nil, err
	}
	defer kept.Close()
	f := *q.Config
	f.MaxRetries = 0 // the first answer shows whether a rule is kept
	t.ev = f.Evaluator(q.Back, t.cases, budget, r.Now)
	t.ev.Recorder = kept.Journal()
	if t.ev.Others, err = q.Back.Others(r.Layout, q.Live.Name, false); err != nil {
		return nil, err
	}
	view := r.Watch(report.Task{Phase: "kernel probes", Unit: "rollouts", Total: int64(2 * probes.ScreenReplays * len(t.cases)), Budget: budget, Caps: caps})
	t.ev.OnRollout = view.Rollout
	err = t.run(ctx)
	view.Done()
	o.Spent = budget.Spent()
	o.Simulated = o.Spent.Simulated
	var limit *eval.BudgetError
	var infra *eval.InfraError
	var missing *eval.TooManyMissingError
	switch {
	case errors.As(err, &limit) && limit.Cap == eval.CapRollouts:
		o.Stopped = fmt.Sprintf("more replays than probe_max_rollouts (%d) allows", caps.Rollouts)
	case errors.As(err, &limit), errors.As(err, &infra), errors.As(err, &missing):
		o.Stopped = err.Error()
	case err != nil:
		return nil, err
	}
	o.Decide()
	return o, nil
}

// A trial answers probes with two texts.
type trial struct {
	set           *probes.Set
	outcome       *probes.Outcome
	cases         []eval.Case // parallel to the probes of the set
	before, after eval.Variant
	ev            *eval.Evaluator
	seed          int64
}

// run answers each probe twice with each text, and those of rules that were broken more often
// with the new one eight more times.
func (t *trial) run(ctx context.Context) error {
	findings := t.findings()
	t.outcome.Findings = findings
	all := make([]bool, len(findings))
	for i := range all {
		all[i] = true
	}
	first, err := t.replay(ctx, all, 0, probes.ScreenReplays)
	if err != nil {
		return err
	}
	again, any := make([]bool, len(findings)), false
	for i := range findings {
		findings[i].Screen = first[i]
		again[i] = first[i].More()
		any = any || again[i]
	}
	if !any {
		return nil
	}
	fresh, err := t.replay(ctx, again, probes.ScreenReplays, probes.FreshReplays)
	if err != nil {
		return err
	}
	for i := range findings {
		if again[i] {
			findings[i].Fresh = &fresh[i]
		}
	}
	return nil
}

// findings are the rules that have probes, in their order.
func (t *trial) findings() (out []probes.Finding) {
	for _, p := range t.set.Probes {
		if n := len(out); n > 0 && out[n-1].Rule.ID == p.Rule.ID {
			out[n-1].Probes++
			continue
		}
		out = append(out, probes.Finding{Rule: p.Rule, Probes: 1})
	}
	return out
}

// replay answers the probes of some rules, both texts adjacent in time, and counts the
// breaches of each rule in the pairs of which both sides are known.
func (t *trial) replay(ctx context.Context, of []bool, from, times int) ([]probes.Breaches, error) {
	name := gate.Arm(arm, t.before.SHA(), t.after.SHA())
	var jobs []eval.Job
	var rules []int // of each pair of jobs
	for n := from; n < from+times; n++ {
		rule := -1
		for i := range t.cases {
			if i == 0 || t.set.Probes[i].Rule.ID != t.set.Probes[i-1].Rule.ID {
				rule++
			}
			if of[rule] {
				jobs = append(jobs, gate.Adjacent(t.before, t.after, &t.cases[i], name, n, t.seed+int64(n))...)
				rules = append(rules, rule)
			}
		}
	}
	rollouts, err := t.ev.Run(ctx, jobs)
	t.outcome.Replays += len(jobs)
	counts := make([]probes.Breaches, len(of))
	for k, rule := range rules {
		a, b := rollouts[2*k], rollouts[2*k+1]
		if a != nil && a.Candidate != t.before.SHA() {
			a, b = b, a
		}
		before, okBefore := probes.Broken(a)
		after, okAfter := probes.Broken(b)
		if !okBefore || !okAfter {
			continue
		}
		c := &counts[rule]
		c.N++
		if before {
			c.Before++
		}
		if after {
			c.After++
		}
	}
	return counts, err
}
