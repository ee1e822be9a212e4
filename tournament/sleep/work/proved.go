package work

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/campaign/probing"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// proved is a challenger of the live text that the gate has proved and that
// was never in place, with the facts that the policy decides on; nil for
// none. One that was installed has been rolled back since, and one that its
// owner rejected is withdrawn.
func (s *Worker) proved(ctx context.Context, live *skill.Live, cases []eval.Case) (*sleep.Proof, error) {
	trials, err := candidate.Trials(ctx, s.Store, live)
	if err != nil {
		return nil, err
	}
	var waits *sleep.Proof  // the first that only its owner can install
	for i := range trials { // the newest first
		t := &trials[i]
		if t.With == nil || t.Decision != pareto.Promote || t.Simulated && !s.Demo || candidate.OnlyDeletes(live.Doc, t.With.Text) {
			continue // what only deletes nights neither install nor try further
		}
		if was, err := release.HadItsChance(ctx, s.Store, live, t); err != nil {
			return nil, err
		} else if was != "" {
			continue
		}
		p, err := s.proof(ctx, live, t, cases)
		if err != nil || p.Result.Against == "" {
			return p, err
		}
		if waits == nil {
			waits = p
		}
	}
	return waits, nil
}

// result is the evidence of a promotion, and the objections to installing it.
func (s *Worker) result(ctx context.Context, live *skill.Live, t *candidate.OnTrial) (r sleep.Result, err error) {
	d, err := t.Evidence()
	if err != nil {
		return r, err
	}
	r = sleep.Result{Decision: d.Verdict, Route: d.Route, Reason: d.Reason, Incumbent: t.Incumbent, Challenger: t.Challenger,
		EValue: pareto.Finite(d.Proof()), Alpha: d.Alpha, Simulated: t.Simulated}
	if r.Round, err = t.Rounds(); err != nil {
		return r, err
	}
	r.Total, r.NotLower = d.Total(), d.NotLower()
	if err := s.weigh(ctx, live, t, &r); err != nil {
		return r, err
	}
	return r, s.ranOn(ctx, t, &r)
}

// mayKeep is why a night does not keep what is on trial in place and proved, "" for
// nothing.
func (s *Worker) mayKeep(ctx context.Context, live *skill.Live, t *release.Trying) (string, error) {
	r, err := s.result(ctx, t.Ground, t.Trial)
	if err != nil {
		return "", err
	}
	st, err := sleep.Stored(s.Store).State(ctx, live.Name)
	if err != nil {
		return "", err
	}
	if why := r.MayKeep(st.Level(r.Incumbent, r.Challenger, r.Round), s.Demo); why != "" {
		return why, nil
	}
	by, err := s.answers(ctx, &t.Trial.TrialRecord)
	if err != nil {
		return "", err
	}
	p := probing.FolderOf(s.Runner.Dir, live.Name).Of(t.Ground.Doc, skill.HashText(t.Trial.With.Text), by)
	if p.Unanswered() {
		return unanswered, nil
	}
	return "", nil
}

// answers is who answers kernel probes tonight; if no agent works, who answered in the trial.
func (s *Worker) answers(ctx context.Context, t *record.TrialRecord) (string, error) {
	if s.model(ctx); s.now.back == nil {
		return probing.TriedBy(ctx, s.Store, t)
	}
	return probing.By(s.now.back.Agent.Identity(), s.now.f.Sandbox), nil
}

// unanswered is why mayKeep objects to a text of which nothing else is left to be known.
const unanswered = "its kernel probes are not answered yet"

// proof is a promotion, and what its trial can go on with.
func (s *Worker) proof(ctx context.Context, live *skill.Live, t *candidate.OnTrial, cases []eval.Case) (*sleep.Proof, error) {
	p := &sleep.Proof{Run: t.Run}
	r := &p.Result
	var err error
	if *r, err = s.result(ctx, live, t); err != nil || r.Against != "" {
		return p, err
	}
	st, err := sleep.Stored(s.Store).State(ctx, live.Name)
	if err != nil {
		return nil, err
	}
	held := t.TrialRecord // what its pairs close cannot go on
	if goes, err := held.Hold(st.Level(r.Incumbent, r.Challenger, r.Round)); err != nil || !goes {
		return p, err
	}
	ordinary, _ := eval.SeparateTriggers(cases)
	p.Fresh, _, p.Rollouts, err = s.fresh(ctx, &t.TrialRecord, cases, slices.DeleteFunc(ordinary, func(c eval.Case) bool { return c.Split != eval.Test }))
	return p, err
}

// ranOn adds to the result of a trial the facts of its last run that the policy decides on.
func (s *Worker) ranOn(ctx context.Context, t *candidate.OnTrial, r *sleep.Result) error {
	run, err := s.Store.Run(ctx, t.Run)
	switch {
	case errors.Is(err, store.ErrNotFound):
		r.Against = "nothing is left of the run that tried it"
		return nil
	case err != nil:
		return err
	}
	var f campaign.Config
	if err := json.Unmarshal(run.Config, &f); err != nil {
		return fmt.Errorf("read run %s: %w", run.ID, err)
	}
	r.Unboxed = s.UsesTools(f.Agent) && f.Sandbox == agent.SandboxNone // with a sandbox that does not work nothing is run
	if why, err := run.Against(); err != nil || why != "" {
		r.Against = cmp.Or(r.Against, why)
		return err
	}
	why, err := s.outdated(ctx, t.Skill, t.Challenger)
	if why != "" {
		r.Against = why
	}
	return err
}

// hold applies the level that the lifetime leaves to the trial that a night
// continues, if its owner's run has begun or proved it as a single one.
// Repeating it changes nothing. It reports whether there is a trial to
// continue: a run without one would search.
func (s *Worker) hold(ctx context.Context, t sleep.Task) (open bool, err error) {
	live, err := s.ground(ctx, t.Skill)
	if err != nil {
		return false, aboutSkill(err)
	}
	evolves := skill.Harness
	if t.Part == sleep.Description {
		evolves = skill.Description
	}
	on, err := candidate.OpenTrial(ctx, s.Store, live, evolves)
	if err != nil {
		return false, err
	}
	var trial *record.TrialRecord
	if on != nil {
		trial = &on.TrialRecord
	} else {
		cases, err := s.Store.Cases(ctx, t.Skill)
		if err != nil {
			return false, err
		}
		p, err := s.proved(ctx, live, cases)
		if err != nil || p == nil || p.Fresh == 0 || t.Part == sleep.Description {
			return false, err
		}
		if trial, err = s.Store.Journal(t.Run).Trial(ctx, t.Skill, p.Result.Incumbent, p.Result.Challenger); err != nil || trial == nil {
			return false, err
		}
	}
	st, err := sleep.Stored(s.Store).State(ctx, t.Skill)
	if err != nil {
		return false, err
	}
	round, _ := trial.Begun()
	changed, err := trial.Hold(st.Level(trial.Incumbent, trial.Challenger, round))
	if err == nil && changed {
		err = s.Store.Journal(trial.Run).SaveTrial(ctx, trial)
	}
	return trial.Decision.IsOpen(), err
}

// oneWorkspace is an objection to a gain that only one of several workspaces has, "" without
// one.
func oneWorkspace(t *record.TrialRecord) (string, error) {
	heard, err := t.Heard()
	if one := heard.RestsOn(); one != "" {
		return "its gain rests on one workspace, " + one, err
	}
	return "", err
}
