package work

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/trying"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/campaign/probing"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// change is the challenger whose change the live text has, its own SHA-256 if it is no
// version of such a change.
func (s *Worker) change(ctx context.Context, live *skill.Live) (string, error) {
	v, err := s.Store.VersionBySHA(ctx, live.Name, live.Doc.Hash())
	if errors.Is(err, store.ErrNotFound) {
		return live.Doc.Hash(), nil
	} else if err != nil {
		return "", err
	}
	return candidate.ChangeOf(ctx, s.Store, v)
}

// install installs what a run of this night proved; if it is in place
// already, nothing happens.
func (s *Worker) install(ctx context.Context, t sleep.Task, r sleep.Result) (placed sleep.Placed, err error) {
	live, err := s.Runner.Layout.Live(t.Skill)
	if err != nil {
		return placed, aboutSkill(err)
	}
	if err := s.Runner.Installer(s.Store).Record(ctx, live); err != nil {
		return placed, err
	}
	in := s.Runner.Installer(s.Store)
	if done, err := in.SettleTry(ctx, live); err != nil { // what was on trial in place is proved now
		return placed, aboutFolder(t.Skill, err)
	} else if on, err := trying.In(ctx, s.Store, live); err != nil {
		return placed, err
	} else if on != nil && done.Words != "" {
		return placed, &sleep.Overtaken{Why: done.Words}
	}
	if change, err := s.change(ctx, live); err != nil {
		return placed, err
	} else if change == r.Challenger {
		return sleep.Placed{Done: true, Note: "installed"}, s.finish(ctx, in, live, store.OpPromote, release.Request{At: live.Doc.Hash()})
	}
	change, err := candidate.On(ctx, s.Store, live, record.Change{Base: r.Incumbent, Challenger: r.Challenger})
	if err != nil {
		return placed, err
	} else if change == nil || change.Closed != "" {
		return placed, &sleep.Overtaken{Why: "you changed the live text meanwhile, and the change cannot be made to it any more"}
	}
	if _, ok, err := s.Store.KernelConfirmed(ctx, t.Skill, live.Doc.KernelHash()); err != nil {
		return placed, err
	} else if !ok {
		if edited, err := s.otherKernel(ctx, live, r.Incumbent); err != nil {
			return placed, err
		} else if edited {
			return placed, &sleep.Overtaken{Why: "you edited the live text meanwhile, and its locked lines are not confirmed as they are now"}
		}
		return placed, &sleep.Hopeless{Err: errors.New("the locked lines are not confirmed")}
	}
	// Any next command continues a killed night.
	if why, err := s.outdated(ctx, t.Skill, r.Challenger); err != nil {
		return placed, err
	} else if why != "" {
		return placed, &sleep.Hopeless{Err: errors.New(why)}
	}
	run, err := s.Store.Run(ctx, t.Run)
	if err != nil {
		return placed, err
	}
	v, err := in.Proved(ctx, live, run)
	if err != nil {
		return placed, aboutFolder(t.Skill, err)
	}
	v.Simulated, v.Note = r.Simulated, strings.TrimSuffix("installed by a night; "+v.Note, "; ")
	plan, err := in.PlanProved(ctx, live, v, nil)
	if err != nil {
		return placed, aboutFolder(t.Skill, err)
	}
	if placed.Note, placed.Spent, err = s.probe(ctx, live, change, t); err != nil || placed.Note != "" {
		placed.Note = "not installed: " + placed.Note
		return placed, err
	}
	done, err := in.Apply(ctx, plan)
	if err == nil {
		done.Elsewhere(s.Runner.Say)
		err = done.HomeRefusal()
	}
	if err != nil {
		return placed, aboutFolder(t.Skill, err)
	}
	placed.Done, placed.Note = true, fmt.Sprintf("v%d is installed; `evolve rollback %s` takes it back", done.Version.N, t.Skill)
	return placed, nil
}

// probe has the probes of the kernel answered by what is about to be put in place, if that was
// not done: it was proved before they were approved, or is not proved yet. why is what they
// object, "" for nothing.
func (s *Worker) probe(ctx context.Context, live *skill.Live, t *candidate.OnTrial, of sleep.Task) (why string, spent eval.Spent, err error) {
	with, err := skill.Parse(t.With.Text, live.Doc.Options())
	if err != nil {
		return "", spent, err
	}
	by, err := s.answers(ctx, &t.TrialRecord)
	if err != nil {
		return "", spent, err
	}
	st := probing.FolderOf(s.Runner.Dir, live.Name).Of(live.Doc, with.Hash(), by)
	if !st.Unanswered() || s.Runner.Probe == nil {
		return st.Against(live.Name), spent, nil
	}
	if s.model(ctx); s.now.back == nil {
		return "no agent answers its kernel probes tonight", spent, nil
	}
	st, spent, err = s.Runner.Probe(ctx, s.Runner, campaign.ProbeRequest{Store: s.Store, Back: s.now.back, Config: &s.now.f, Live: live, With: with, Challenger: t.Challenger, Left: of.Caps, Lease: of.Lease})
	return st.Against(live.Name), spent, err
}

// otherKernel reports whether the live text has another kernel than that version.
func (s *Worker) otherKernel(ctx context.Context, live *skill.Live, version string) (bool, error) {
	was, err := s.Store.VersionBySHA(ctx, live.Name, version)
	if errors.Is(err, store.ErrNotFound) || err == nil && len(was.Text) == 0 {
		return false, nil
	} else if err != nil {
		return false, err
	}
	doc, err := skill.Parse(was.Text, live.Doc.Options())
	return err == nil && doc.KernelHash() != live.Doc.KernelHash(), err
}

// finish finishes an installation or a rollback of this night that was
// interrupted. A place that its target refuses stays as it is, as without the
// interruption.
func (s *Worker) finish(ctx context.Context, in *release.Installer, live *skill.Live, op string, r release.Request) error {
	plan, err := in.PlanRest(ctx, live, op, r)
	if plan == nil || err != nil {
		return err
	}
	done, err := in.Apply(ctx, plan)
	if err != nil {
		return aboutFolder(live.Name, err)
	}
	done.Elsewhere(s.Runner.Say)
	return nil
}
