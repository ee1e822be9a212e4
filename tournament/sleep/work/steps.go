package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/mutate/skill/install"
	"github.com/skill-evolve/evolve/mutate/standing"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/lock"
	"github.com/skill-evolve/evolve/store/trying"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/gate"
	"github.com/skill-evolve/evolve/tournament/judge"
	"github.com/skill-evolve/evolve/tournament/neighbours"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/search"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// Parts are the steps for a sleep.Cycle. Their errors distinguish those about
// one task from all others.
func (s *Worker) Parts() sleep.Parts {
	runner, installer := *s.Runner, s.Runner.Installer
	runner.Installer = func(db *store.Store) *release.Installer {
		in := installer(db)
		in.MayKeep = s.mayKeep
		return in
	}
	s.Runner = &runner
	try := func(ctx context.Context, t sleep.Task) (sleep.Result, error) {
		r, err := s.try(ctx, t)
		err = aboutTask(ctx, s.overtaken(ctx, t.Skill, r.Challenger, err))
		if met := new(sleep.Trouble); errors.As(err, &met) && s.now != nil && s.now.back == nil { // no agent works here
			met.Common = true
		}
		return r, err
	}
	install := func(ctx context.Context, t sleep.Task, r sleep.Result) (sleep.Placed, error) {
		placed, err := s.install(ctx, t, r)
		return placed, aboutTask(ctx, s.overtaken(ctx, t.Skill, r.Challenger, err))
	}
	look := func(ctx context.Context, name string) (sleep.Outlook, error) {
		o, err := s.look(ctx, name)
		return o, aboutTask(ctx, err)
	}
	watch := func(ctx context.Context, name string) (*sleep.Alarm, error) {
		al, err := s.watch(ctx, name)
		return al, aboutTask(ctx, err)
	}
	compare := func(ctx context.Context, t sleep.Task, d sleep.Drift) ([]sleep.Compared, sleep.Result, error) {
		found, r, err := s.compare(ctx, t, d)
		return found, r, aboutTask(ctx, err)
	}
	settle := func(ctx context.Context, t sleep.Task) (sleep.Placed, error) {
		placed, err := s.settle(ctx, t)
		return placed, aboutTask(ctx, err)
	}
	place := func(ctx context.Context, t sleep.Task) (sleep.Placed, error) {
		placed, err := s.place(ctx, t)
		return placed, aboutTask(ctx, err)
	}
	return sleep.Parts{Skills: s.skills, Harvest: s.harvest, Look: look, Try: try, Install: install, Watch: watch, Rollback: s.rollback,
		Settle: settle, Place: place, Compare: compare, Edits: s.edits, Spent: s.Spent}
}

func (s *Worker) skills(ctx context.Context) ([]string, error) {
	reg, err := ingest.Registry(ctx, s.Runner.Layout, s.Store)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range reg.Entries {
		names = append(names, e.Name)
	}
	for _, b := range reg.Broken {
		names = append(names, b.Name)
	}
	return slices.DeleteFunc(names, isHook), nil
}

// isHook reports whether a subject is a hook. Nights leave them alone: their scripts run, and
// only their owner's word for exact bytes puts one in place.
func isHook(key string) bool { return subject.Parse(key).Kind == subject.Hook }

func (s *Worker) harvest(ctx context.Context) (sessions int, note string, err error) {
	h, err := s.Runner.Harvest(ctx, s.Store)
	if consent.IsUndecided(err) { // which a night cannot ask; it continues with what is stored
		return 0, err.Error() + ": `evolve projects allow --all`, or `evolve projects list`", nil
	}
	if err != nil {
		return 0, "", err
	}
	note = fmt.Sprintf("%s new or changed", plain.Counted(h.Sessions, "session"))
	if h.NotRead > 0 {
		note += fmt.Sprintf("; %s: `evolve projects list`", h.Waits())
	}
	if n := len(h.Problems); n > 0 {
		note += fmt.Sprintf("; %s could not be read, `evolve harvest` lists them", plain.Counted(n, "place"))
	}
	return h.Sessions, note, nil
}

// look asks no model: new uses become cases whose checks quote the
// corrections, and the run that tries them lets a model write better ones.
func (s *Worker) look(ctx context.Context, name string) (o sleep.Outlook, err error) {
	o.Skill = name
	if isHook(name) {
		o.Unable = "it is a hook: its owner searches and puts it in place"
		return o, nil
	}
	if p, err := release.Pinned(ctx, s.Store, name); err != nil {
		return o, err
	} else if p != nil {
		o.Unable = p.String()
		return o, nil
	}
	live, err := s.Runner.Layout.Live(name)
	if err != nil {
		if o.Unable = cannotBeRead(err); o.Unable != "" {
			err = nil
		}
		return o, err
	}
	if live.Managed {
		o.Unable = fmt.Sprintf("it %s: an installation would not last", skill.Keeper(live.Entry))
		return o, nil
	}
	if err := (&standing.Loader{Layout: s.Runner.Layout}).Check(name, agent.KindOf(s.Config.Agent).Sessions); err != nil {
		o.Unable = err.Error()
		return o, nil
	}
	for _, w := range check.Validate(live.Doc, s.Config.Profile, name) {
		if w.Severity == check.Reject {
			o.Unable = fmt.Sprintf("line %d: %s", w.Line, w.Reason)
			return o, nil
		}
	}
	if err := s.Runner.Installer(s.Store).Record(ctx, live); err != nil {
		return o, err
	}
	there := live.Doc.Hash()
	if live, err = trying.Ground(ctx, s.Store, live); err != nil {
		return o, err
	}
	o.Incumbent, o.Tried = live.Doc.Hash(), live.Doc.Hash() != there
	if o.Change, err = s.change(ctx, live); err != nil {
		return o, err
	}
	trial, err := candidate.OpenTrial(ctx, s.Store, live, skill.Harness)
	if err != nil {
		return o, err
	}
	if mark, err := s.unmined(ctx, name); err != nil {
		return o, err
	} else if o.Mined = mark; mark != "" {
		if _, _, err := s.Ingester.Mine(ctx, name, ingest.Mining{Headless: s.Runner.Headless, OnTrial: trial != nil}); err != nil {
			return o, fmt.Errorf("mine cases of %s: %w", name, err)
		}
	}
	if err := s.Ingester.Split(ctx, name, trial != nil); err != nil {
		return o, err
	}
	if o.Uses, err = s.uses(ctx, name, nil, nil); err != nil {
		return o, err
	}
	if o.Since, err = s.since(ctx, live); err != nil {
		return o, err
	}
	cases, err := s.Store.Cases(ctx, name)
	if err != nil {
		return o, err
	}
	if o.Drift, err = s.drift(ctx, live, cases); err != nil {
		return o, err
	}
	if o.Proved, err = s.proved(ctx, live, cases); err != nil || o.Proved != nil {
		return o, err
	}
	if o.Triggers, err = s.triggers(ctx, live, cases); err != nil {
		return o, err
	}
	return o, s.lookAtCases(ctx, &o, live, cases, trial)
}

// cannotBeRead is why a skill is left alone, "" for an error of another kind.
func cannotBeRead(err error) string {
	var broken *skill.BrokenSkillError
	var syntax *skill.SyntaxError
	var unknown *skill.UnknownSkillError
	if errors.As(err, &broken) || errors.As(err, &syntax) || errors.As(err, &unknown) {
		return plain.Line(err.Error())
	}
	return ""
}

// lookAtCases counts the cases to learn from and to try on.
func (s *Worker) lookAtCases(ctx context.Context, o *sleep.Outlook, live *skill.Live, cases []eval.Case, trial *candidate.OnTrial) (err error) {
	var test []eval.Case
	ordinary, _ := eval.SeparateTriggers(cases)
	for _, c := range ordinary {
		switch c.Split {
		case eval.Train:
			o.Train++
		case eval.Test:
			test = append(test, c)
		}
	}
	if trial == nil {
		if o.Lack, err = s.lack(ctx, live.Name, ordinary); err == nil {
			o.Needs, err = s.needs(ctx, live, ordinary, skill.Harness)
		}
		return err
	}
	o.Base, o.Challenger = trial.Incumbent, trial.Challenger
	if o.Round, err = trial.Rounds(); err != nil {
		return err
	}
	if o.Fresh, o.Unproven, o.Rollouts, err = s.fresh(ctx, &trial.TrialRecord, cases, test); err != nil || o.Fresh == 0 || s.now.back == nil || !s.now.back.UsesTools() {
		return err
	}
	beside, err := neighbours.Estimate(ctx, s.Store, s.Runner.Layout, live.Name)
	o.Rollouts += beside
	return err
}

// fresh counts the held-out cases that a trial can continue with, and the
// rollouts that they take at most. unproven are as in judge.ProvableCases.
func (s *Worker) fresh(ctx context.Context, trial *record.TrialRecord, cases, test []eval.Case) (fresh, unproven int, rollouts int64, err error) {
	var grader *string // nil: the judge is unknown
	if s.model(ctx); s.now.back != nil {
		name := judge.Identity(s.now.back.Judge)
		grader = &name
	}
	if fresh, unproven, err = judge.ProvableCases(ctx, s.Store, trial, cases, test, grader); err != nil {
		return 0, 0, 0, err
	}
	replays, err := trial.Replays()
	return fresh, unproven, gate.Takes(fresh, cmp.Or(replays, gate.Replays), s.Config.MaxRetries), err
}

// try runs or resumes one run. An error that concerns this skill alone is a
// *sleep.Hopeless.
func (s *Worker) try(ctx context.Context, t sleep.Task) (sleep.Result, error) {
	f, resume := s.Config, false
	f.Skill, f.Evolve = t.Skill, skill.Harness
	o := campaign.Options{Run: t.Run, Night: true, Lease: t.Lease}
	if t.Part == sleep.Description {
		f.Evolve = skill.Description
	}
	f.MaxRollouts, f.MaxCostUSD, f.MaxTokens, f.MaxDuration, f.Level = t.Caps.Rollouts, t.Caps.CostUSD, t.Caps.Tokens, t.Caps.Duration, t.Level
	var r sleep.Result
	if run, err := s.Store.Run(ctx, t.Run); err == nil {
		resume, o.AtMost, r.Spent = true, t.Caps, run.Spent
	} else if !errors.Is(err, store.ErrNotFound) {
		return r, err
	} else if live, err := s.ground(ctx, t.Skill); err != nil {
		return r, aboutSkill(err)
	} else if t.Incumbent != "" && live.Doc.Hash() != t.Incumbent {
		return r, &sleep.Overtaken{Why: "you edited the live text since this night looked at it: the next one begins with your text"}
	}
	if t.Kind == sleep.Continue {
		o.Owned = func(ctx context.Context) error {
			open, err := s.hold(ctx, t)
			if err == nil && !open && !resume { // what is resumed may have closed it itself
				err = &sleep.Overtaken{Why: "its trial was closed since this night looked at it"}
			}
			return err
		}
	}
	var c *campaign.Campaign
	var err error
	if resume {
		c, err = s.Runner.Resume(ctx, t.Run, t.Skill, o)
	} else {
		c, err = s.Runner.Prepare(ctx, f, o)
	}
	defer c.Close()
	count(&r, c)
	var waits *campaign.WaitingError
	var few *campaign.TooFewCasesError
	var limit *eval.BudgetError
	switch {
	case errors.As(err, &waits):
		r.Reason = waits.Error()
		return r, nil
	case errors.As(err, &few):
		for _, line := range c.TooFew() {
			s.Runner.Say("%s", line)
		}
		r.Reason = "too few cases to learn from"
		return r, nil
	case errors.As(err, &limit):
		r.Stopped, r.Early = true, true
		r.Reason = fmt.Sprintf("its share ended while corrections were read (%v); the next night reads on", limit)
		return r, nil
	case err != nil:
		return r, aboutSkill(err)
	}
	if _, err := c.Forecast(ctx); err != nil {
		return r, err
	}
	res, err := c.Run(ctx)
	count(&r, c)
	if err != nil {
		return r, aboutSkill(err)
	}
	return r, s.conclude(ctx, c, res, &r)
}

// count records what a run has spent, however far it has come.
func count(r *sleep.Result, c *campaign.Campaign) {
	if c == nil {
		return
	}
	if b := c.Budget(); b != nil {
		r.Spent, r.Assumed, r.Warnings = b.Spent(), b.Assumed(), append(b.Warnings(), c.Notes...)
	}
}

// aboutSkill marks an error that a retry would repeat and that does not
// concern the other skills; if the owner's edit caused it, it is no failure.
func aboutSkill(err error) error {
	var f *problem.Error
	var drift *install.DriftError
	var kernel *search.KernelError
	var speechless *search.AgentFailsError
	var busy *lock.SkillBusyError
	var changed *record.TrialChangedError
	switch {
	case cannotBeRead(err) != "" || errors.As(err, &drift) || errors.As(err, &changed):
		return &sleep.Overtaken{Why: plain.Line(err.Error())}
	case errors.As(err, &busy):
		return &sleep.Overtaken{Why: "its owner's run is on it: " + plain.Line(err.Error())}
	}
	var atWork *lock.RunBusyError
	if errors.As(err, &atWork) {
		return &sleep.Overtaken{Why: err.Error() + ": the next night goes on from there"}
	}
	if errors.As(err, &kernel) || errors.As(err, &speechless) ||
		errors.As(err, &f) && (f.Kind == problem.Input || f.Kind == problem.Refused) {
		return &sleep.Hopeless{Err: errors.New(plain.Line(err.Error()))}
	}
	return err
}
