package work

import (
	"context"
	"fmt"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/trying"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// ground is a skill with the text that everything is tried against: the live one, or the
// one that a trial install has replaced.
func (s *Worker) ground(ctx context.Context, name string) (*skill.Live, error) {
	live, err := s.Runner.Layout.Live(name)
	if err != nil {
		return nil, err
	}
	return trying.Ground(ctx, s.Store, live)
}

// settle keeps a trial install that was proved, and takes back one whose time is over.
func (s *Worker) settle(ctx context.Context, t sleep.Task) (placed sleep.Placed, err error) {
	live, err := s.Runner.Layout.Live(t.Skill)
	if err != nil {
		return placed, nil //nolint:nilerr // the look reports it
	}
	in := s.Runner.Installer(s.Store)
	if on, err := trying.In(ctx, s.Store, live); on == nil || err != nil || live.Managed {
		return placed, err
	}
	if err := in.Record(ctx, live); err != nil {
		return placed, err
	}
	if placed.Spent, err = s.probeProved(ctx, live, t); err != nil {
		return placed, err
	}
	done, err := in.SettleTry(ctx, live)
	if err != nil {
		return placed, aboutFolder(t.Skill, err)
	}
	placed.Note = done.Words
	return placed, nil
}

// probeProved has the probes of the kernel answered by a trial install that would be kept but
// for them.
func (s *Worker) probeProved(ctx context.Context, live *skill.Live, t sleep.Task) (spent eval.Spent, err error) {
	on, err := release.TryingOf(ctx, s.Store, live)
	if err != nil || on == nil || !on.Proved() {
		return spent, err
	}
	if why, err := s.mayKeep(ctx, live, on); err != nil || why != unanswered {
		return spent, err
	}
	_, spent, err = s.probe(ctx, on.Ground, on.Trial, t)
	return spent, err
}

// place puts the challenger of a skill in place on trial if its evidence suffices now, and
// nothing else objects that keeps nights from installing. Texts that only delete lines and
// descriptions are left to their owner.
func (s *Worker) place(ctx context.Context, task sleep.Task) (placed sleep.Placed, err error) {
	name := task.Skill
	live, err := s.Runner.Layout.Live(name)
	if err != nil {
		return placed, aboutSkill(err)
	}
	in := s.Runner.Installer(s.Store)
	if err := in.Record(ctx, live); err != nil {
		return placed, err
	}
	if on, err := release.TryingOf(ctx, s.Store, live); err != nil {
		return placed, err
	} else if on != nil {
		return sleep.Placed{Note: fmt.Sprintf("v%d is a trial install", on.Version.N)}, nil
	}
	t, err := candidate.OpenTrial(ctx, s.Store, live, skill.Harness)
	if err != nil {
		return placed, err
	} else if t == nil {
		return sleep.Placed{Note: "no new text is on trial"}, nil
	}
	if placed.Note, err = s.mayPlace(ctx, live, t); err != nil || placed.Note != "" {
		return placed, err
	}
	plan, err := in.PlanTry(ctx, live, release.Request{At: t.Challenger, ByNight: true})
	if err != nil {
		return placed, aboutFolder(name, err)
	}
	if placed.Note, placed.Spent, err = s.probe(ctx, live, t, task); err != nil || placed.Note != "" {
		placed.Note = "not in place: " + placed.Note
		return placed, err
	}
	done, err := in.Apply(ctx, plan)
	if err == nil {
		err = done.HomeRefusal()
	}
	if err != nil {
		return placed, aboutFolder(name, err)
	}
	placed.Done, placed.Note = true, fmt.Sprintf("v%d is a trial install; `evolve rollback %s` takes it back", done.Version.N, name)
	return placed, nil
}

// mayPlace is why a night may not put a challenger in place on trial, "" for nothing.
func (s *Worker) mayPlace(ctx context.Context, live *skill.Live, t *candidate.OnTrial) (why string, err error) {
	round, _ := t.Begun()
	n, err := s.Store.TrialNumber(ctx, live.Name, t.Incumbent, t.Challenger, round)
	if err != nil || n == nil {
		return "its trial has not begun", err
	}
	trial, err := t.Kept()
	if err != nil {
		return "", err
	}
	if e, asks := first(trial.Now()), pareto.NightTries(n.Number); e < asks {
		return fmt.Sprintf("not in place: %s; nights put trial %d of a skill in place from 1 in %.0f on", pareto.Chance(e), n.Number, asks), nil
	}
	if !trial.RestSeen() {
		return fmt.Sprintf("not in place: it is not known whether it harms requests that it does not apply to; %s were compared", plain.Counted(trial.RestCases(), "other request")), nil
	}
	in := pareto.TrialInstall{ByNight: true, Begun: s.Runner.Now()}
	if gone := trial.TakeBack(in, in.Begun); gone != pareto.Stays {
		return "not in place: " + string(gone), nil
	}
	if was, err := release.HadItsChance(ctx, s.Store, live, t); err != nil || was != "" {
		return "not in place: you rolled it back", err
	}
	if out, err := s.takenOut(ctx, live, t); err != nil || out {
		return "not in place: you took it out by hand", err
	}
	if heard, err := s.heardSince(ctx, live, t); err != nil || !heard {
		return "not in place: it was in place, and its trial has no new pair since", err
	}
	r := sleep.Result{Simulated: t.Simulated}
	if err := s.weigh(ctx, live, t, &r); err != nil {
		return "", err
	}
	if err := s.ranOn(ctx, t, &r); err != nil {
		return "", err
	}
	if why := r.Objection(s.Demo); why != "" {
		return "not in place: " + why, nil
	}
	return "", nil
}

func first(a, _ float64) float64 { return a }

// takenOut reports whether a challenger was in place on trial, and its owner has put another
// text there by hand. No install ends that: the last one put the challenger there.
func (s *Worker) takenOut(ctx context.Context, live *skill.Live, t *candidate.OnTrial) (bool, error) {
	installs, err := s.Store.Installs(ctx, live.Name)
	if err != nil {
		return false, err
	}
	home, err := live.Home()
	if err != nil {
		return false, err
	}
	last := trying.Last(installs, home, live.Doc.Hash())
	if last == nil || !trying.Is(last) {
		return false, nil
	}
	v, err := s.Store.VersionBySHA(ctx, live.Name, last.To)
	if err != nil {
		return false, err
	}
	change, err := candidate.ChangeOf(ctx, s.Store, v)
	return change == t.Challenger || v.SHA == t.Challenger, err
}

// heardSince reports whether a trial has got a pair since a trial install was last taken
// back: without that it would be in place again, and taken back again.
func (s *Worker) heardSince(ctx context.Context, live *skill.Live, t *candidate.OnTrial) (bool, error) {
	last, err := t.LastPair()
	if err != nil {
		return false, err
	}
	installs, err := s.Store.Installs(ctx, live.Name)
	if err != nil {
		return false, err
	}
	for _, in := range installs { // the newest first
		if in.Op == store.OpTakeBack && in.Outcome == release.Installed {
			return last.After(in.Begun), nil
		}
	}
	return true, nil
}
