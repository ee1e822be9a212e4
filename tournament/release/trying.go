package release

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/store/trying"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A Trying is a trial install: a text that is in place while its trial goes on.
type Trying struct {
	Version *record.Version
	Ground  *skill.Live // the skill with the text that it replaced
	Since   time.Time
	ByNight bool
	// Trial is that of its change, nil if nothing is left of it.
	Trial *candidate.OnTrial
}

// TryingOf is the trial install of the live text, nil if it is none.
func TryingOf(ctx context.Context, db *store.Store, live *skill.Live) (*Trying, error) {
	by, err := trying.In(ctx, db, live)
	if by == nil || err != nil {
		return nil, err
	}
	t := &Trying{Since: by.Begun, ByNight: by.Op == store.OpNightTry}
	if t.Version, err = db.VersionBySHA(ctx, live.Name, by.To); err != nil {
		return nil, err
	}
	if t.Ground, err = trying.Ground(ctx, db, live); err != nil {
		return nil, err
	}
	change, err := candidate.ChangeOf(ctx, db, t.Version)
	if err != nil {
		return nil, err
	}
	all, err := candidate.Trials(ctx, db, t.Ground)
	if err != nil {
		return nil, err
	}
	for i := range all { // the newest first
		if k := &all[i]; k.Challenger == change || k.With != nil && k.With.SHA == by.To {
			t.Trial = k
			break
		}
	}
	return t, nil
}

// install is what the rule of trial installs needs to know.
func (t *Trying) install() (in pareto.TrialInstall, trial *pareto.Trial, err error) {
	in = pareto.TrialInstall{ByNight: t.ByNight, Begun: t.Since}
	if in.Heard, err = t.Trial.LastPair(); err == nil {
		trial, err = t.Trial.Kept()
	}
	return in, trial, err
}

// Ends is why a trial install is taken back by now, "" if it is not.
func (t *Trying) Ends(now time.Time) (pareto.Removal, error) {
	if t.Trial == nil || t.Trial.With == nil {
		return pareto.Lost, nil
	}
	in, trial, err := t.install()
	if err != nil {
		return "", err
	}
	return trial.TakeBack(in, now), nil
}

// Proved reports whether its trial has ended with a proof.
func (t *Trying) Proved() bool {
	return t.Trial != nil && t.Trial.With != nil && t.Trial.Decision == pareto.Promote
}

// Until is when it is taken back unless its trial decides, or gets a pair, before.
func (t *Trying) Until() (time.Time, error) {
	if t.Trial == nil {
		return t.Since, nil
	}
	in, _, err := t.install()
	return in.Until(), err
}

// A Settled is what became of a trial install.
type Settled struct {
	Kept  bool   // it was proved, and is from now on a version like any other
	Words string // "" if it goes on, or there is none
}

// SettleTry keeps a trial install that its trial has proved unless MayKeep objects, and
// takes it back if the rule says so; then live has the text that is there again. A pinned
// skill stays as it is.
func (in *Installer) SettleTry(ctx context.Context, live *skill.Live) (s Settled, err error) {
	if in.Access != datadir.Writes {
		return s, nil
	}
	t, err := TryingOf(ctx, in.Store, live)
	if t == nil || err != nil {
		return s, err
	}
	if pin, err := Pinned(ctx, in.Store, live.Name); pin != nil || err != nil {
		return s, err
	}
	name := fmt.Sprintf("v%d of %s", t.Version.N, live.Name)
	if t.Proved() {
		if why, err := in.mayKeep(ctx, live, t); err != nil {
			return s, err
		} else if why != "" {
			return Settled{Words: fmt.Sprintf("%s, a trial install, is better (%s): `evolve promote %s` keeps it", name, why, live.Name)}, nil
		}
		p := &Plan{Op: store.OpPromote, Live: live}
		if err := in.keep(ctx, p, t, nil); err != nil {
			return s, err
		}
		to, err := in.everywhere(live.Name)
		if err != nil {
			return s, err
		}
		if p.Places, err = in.planNew(ctx, live, t.Ground.Doc.Hash(), p.Version, to, false); err != nil {
			return s, err
		}
		done, err := in.Apply(ctx, p)
		if err == nil {
			done.Elsewhere(in.Say)
			err = done.HomeRefusal()
		}
		if err != nil {
			return s, err
		}
		return Settled{true, name + ", a trial install, is better (at most 5 % luck): it stays"}, nil
	}
	why, err := t.Ends(in.Now())
	if why == pareto.Stays || err != nil {
		return s, err
	}
	to, err := in.Store.VersionBySHA(ctx, live.Name, t.Ground.Doc.Hash())
	if err != nil {
		return s, err
	}
	if err := in.takeBack(ctx, live, to, false, string(why)); err != nil {
		return s, err
	}
	if to.SHA == t.Version.SHA {
		return Settled{Words: name + ", a trial install, stays: the text before it is gone"}, nil
	}
	live.Doc = t.Ground.Doc
	s.Words = fmt.Sprintf("%s, a trial install, is taken back (%s): v%d is live again", name, why, to.N)
	in.Note(live.Name, hook.Installed, "%s", s.Words)
	return s, nil
}

// mayKeep is why a trial install that was proved is left to its owner, "" if it is not.
func (in *Installer) mayKeep(ctx context.Context, live *skill.Live, t *Trying) (string, error) {
	switch {
	case in.MayKeep != nil:
		return in.MayKeep(ctx, live, t)
	case t.ByNight:
		return "a night put it in place, and a night keeps it if nothing objects", nil
	}
	run, err := in.Store.Run(ctx, t.Trial.Run)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	return run.Against()
}

// takeBack puts a text in the place of a trial install; fresh: it is no version yet.
func (in *Installer) takeBack(ctx context.Context, live *skill.Live, to *record.Version, fresh bool, why string) error {
	p := &Plan{Op: store.OpTakeBack, Live: live, Version: to, note: why, fresh: fresh}
	var err error
	if p.Places, err = in.atHome(ctx, live, to); err != nil {
		return err
	}
	done, err := in.Apply(ctx, p)
	if err != nil {
		return err
	}
	return done.Refusal()
}

// atHome is the placement of a version in the skill's home.
func (in *Installer) atHome(ctx context.Context, live *skill.Live, v *record.Version) ([]Placement, error) {
	home, err := in.home(ctx, live)
	if err != nil {
		return nil, err
	}
	return []Placement{{Place: home, To: v, stays: home.Held == v.SHA}}, nil
}

// home is the skill's home as it is now.
func (in *Installer) home(ctx context.Context, live *skill.Live) (Place, error) {
	main, err := in.Layout.Main(live.Name)
	if err != nil {
		return Place{}, err
	}
	places, err := in.places(ctx, live, []skill.Target{main})
	if err != nil {
		return Place{}, err
	}
	return places[0], nil
}

// keep sets the version that a trial install becomes: what its trial has proved a proved
// one, any other text an unproven one at its owner's word.
func (in *Installer) keep(ctx context.Context, p *Plan, t *Trying, against Objections) error {
	p.Version, p.Trial = t.Version, t.Trial
	if t.Trial != nil && t.Trial.With != nil && t.Version.Author == "evolve" {
		proven, err := t.Trial.ProvenAlone()
		if err != nil {
			return err
		}
		if proven {
			v, more, err := in.versionToBe(ctx, t.Ground, t.Trial, false)
			if err != nil {
				return err
			}
			p.Version, p.fresh, against = v, true, append(against, more...)
		}
	}
	if p.Version == t.Version && p.Version.Proven { // against another text
		v := *p.Version
		v.Proven, v.Evidence, v.Parent, v.Created = false, nil, t.Ground.Doc.Hash(), in.Now().UTC()
		v.Note = "kept at your word; its evidence is against another text"
		p.Version, p.fresh = &v, true
	}
	if !p.Version.Proven {
		if why, err := t.Ends(in.Now()); err != nil {
			return err
		} else if why != pareto.Stays {
			in.Say("v%d of %s is kept although it was to be taken back: %s", t.Version.N, p.Live.Name, why)
		}
	}
	return against.refuse(fmt.Sprintf("v%d of %s", t.Version.N, p.Live.Name))
}

// PlanTry plans to put a text in place on trial, in the skill's home alone: the one that r
// names, else the challenger that waits, a promising one first.
func (in *Installer) PlanTry(ctx context.Context, live *skill.Live, r Request) (*Plan, error) {
	p := &Plan{Op: store.OpTry, Live: live, note: "trial install at your word"}
	if r.ByNight {
		p.Op, p.note = store.OpNightTry, "trial install by a night"
	}
	return in.planned(p, in.noting(p).try(ctx, p, r))
}

func (in *Installer) try(ctx context.Context, p *Plan, r Request) error {
	live, name := p.Live, p.Live.Name
	if runs(name) {
		return notTried(name)
	}
	if t, err := TryingOf(ctx, in.Store, live); err != nil {
		return err
	} else if t != nil {
		return problem.Refusef(fmt.Sprintf("`evolve rollback %s` takes it back, `evolve promote %[1]s` keeps it", name), "v%d of %s is a trial install already", t.Version.N, name)
	}
	trial, v, err := in.toTry(ctx, live, r.At)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("candidate %.12s of %s", trial.Challenger, name)
	if proven, err := trial.ProvenAlone(); err != nil {
		return err
	} else if proven && !r.ByNight { // a night may ask for more than a single trial does
		return problem.Inputf(fmt.Sprintf("`evolve promote %s@%.12s` installs it", name, trial.Challenger), "%s is shown to be better already", what)
	}
	against, err := in.againstSkill(ctx, live)
	if err != nil {
		return err
	}
	if live.Tracked {
		if err := against.add(isManaged, OfOthersToo(name, live.Path)); err != nil {
			return err
		}
	}
	cand, note, more, err := in.againstCandidate(ctx, live, trial, false)
	if err != nil {
		return err
	}
	if against = append(against, more...); trial.Decision == pareto.Reject || trial.Decision == store.Withdrawn {
		against.object(isForbidden, fmt.Sprintf("`evolve promote %s@%.12s` installs it at your word", name, trial.Challenger), "%s was rejected", what)
	}
	if cand.State == record.Invalid {
		against.object(isMisfit, "", "%s was refused when it was made: %s", what, cand.Reason)
	}
	if err := against.refuse(what); err != nil {
		return err
	}
	if p.Trial, p.Version = trial, v; v == nil {
		run, err := in.Store.Run(ctx, trial.Run)
		if err != nil {
			return fmt.Errorf("read run %s: %w", trial.Run, err)
		}
		if trial.Decision == candidate.NeverTried {
			run.Verdict = nil // it is about another text
		}
		if p.Version, err = in.version(ctx, live, cand, run); err != nil {
			return err
		}
		p.Version.Proven, p.fresh = false, true
	}
	in.sayFlagged(trial.Challenger, note)
	if note != "" {
		p.note += "; " + note
	}
	home, err := in.Layout.Main(live.Name)
	if err != nil {
		return err
	}
	p.Places, err = in.planNew(ctx, live, live.Doc.Hash(), p.Version, []skill.Target{home}, false)
	return err
}

// Odds says in a line what a trial install is, and how often a text that is no better would
// come as far as the one that is planned.
func (p *Plan) Odds() (string, error) {
	said := fmt.Sprintf("trial install of %.12s: it is taken back when it is shown worse or rejected, or after 8 undecided weeks: ", p.Version.SHA)
	const nothing = "nothing is known of it yet, its trial begins with your next sessions"
	if p.Trial.Revision == 0 { // it has no state yet
		return said + nothing, nil
	}
	trial, err := p.Trial.Kept()
	if err != nil {
		return "", err
	}
	switch e, _ := trial.Now(); {
	case trial.Cases() == 0:
		return said + nothing, nil
	case trial.Verdict() != pareto.Promising:
		return said + fmt.Sprintf("no difference seen yet, after %s", plain.Counted(trial.Cases(), "case")), nil
	default:
		return said + fmt.Sprintf("if it is no better, it would come this far at most 1 time in %d", pareto.Odds(e)), nil
	}
}

// toTry is the trial of the text that is to be put in place on trial; one that was never on
// trial has no revision. version is set if the text is a version of its own.
func (in *Installer) toTry(ctx context.Context, live *skill.Live, at string) (t *candidate.OnTrial, version *record.Version, err error) {
	name := live.Name
	if at == "" {
		t, back, err := in.WaitingTrial(ctx, live)
		if err != nil || t != nil {
			return t, nil, err
		}
		proven := false
		if back != nil {
			proven, err = back.ProvenAlone()
		}
		switch {
		case err != nil:
		case proven:
			err = in.refuseBack(ctx, live, back)
		case back != nil:
			err = problem.Refusef(fmt.Sprintf("`evolve try %s@%.12s` puts it in place all the same", name, back.Challenger), "no new text of %s waits: %.12s was in place, and was rolled back", name, back.Challenger)
		default:
			err = problem.Inputf(fmt.Sprintf("`evolve --skill %s` looks for one; `evolve log %[1]s` lists its texts", name), "no new text of %s waits", name)
		}
		return nil, nil, err
	}
	var sha string
	if candidate.IsVersion(at) {
		if version, err = candidate.FindVersion(ctx, in.Store, name, at); err != nil {
			return nil, nil, err
		}
		sha = version.SHA
	} else if sha, err = (&candidate.Texts{Skill: name, Live: live, Store: in.Store}).SHA(ctx, at); err != nil {
		return nil, nil, err
	}
	if sha == live.Doc.Hash() {
		return nil, nil, problem.Inputf(fmt.Sprintf("`evolve log %s` lists its texts", name), "that is the live text of %s", name)
	}
	all, err := candidate.Trials(ctx, in.Store, live)
	if err != nil {
		return nil, nil, err
	}
	for i := range all { // the newest first
		if k := &all[i]; k.Challenger == sha || k.With != nil && k.With.SHA == sha {
			return k, version, nil
		}
	}
	made, err := candidate.MadeBy(ctx, in.Store, name, sha)
	if err != nil {
		return nil, nil, err
	}
	t = &candidate.OnTrial{TrialRecord: record.TrialRecord{Skill: name, Incumbent: live.Doc.Hash(), Challenger: sha, Run: made.Run, Decision: candidate.NeverTried}}
	if made.Run != "" && version == nil { // its change, in the text that is live now
		run, err := in.Store.Run(ctx, made.Run)
		if err != nil {
			return nil, nil, fmt.Errorf("read run %s: %w", made.Run, err)
		}
		t.Incumbent, t.Simulated = run.Incumbent, run.Simulated
	} else if version != nil {
		t.Simulated = version.Simulated
	}
	if t.With, t.Closed, err = candidate.Apply(ctx, in.Store, live, t.Incumbent, sha); err != nil || t.With == nil {
		return t, version, err
	}
	same, err := record.Edits(ctx, in.Store, name, live.Doc.Hash(), live.Home)
	if !same[t.Incumbent] { // its trial is of what the change makes of this text
		t.Incumbent, t.Challenger = live.Doc.Hash(), t.With.SHA
	}
	return t, version, err
}

// saveTrial gives a text that was never on trial an empty trial: runs and nights continue
// it before they search.
func (in *Installer) saveTrial(ctx context.Context, t *candidate.OnTrial) error {
	if t.Revision > 0 {
		return nil
	}
	r := t.TrialRecord
	r.Decision, r.Updated, r.Simulated = pareto.Undecided, in.Now().UTC().Truncate(time.Millisecond), in.Demo
	j := in.Store.Journal(r.Run)
	spent, err := j.SpentCases(ctx, r.Skill)
	if err != nil {
		return err
	}
	// What was heard of it against another text is no evidence again.
	if err := r.Save(&record.State{Version: 1, Excluded: spent.PrintsOn(r.Challenger)}); err != nil {
		return err
	}
	return j.SaveTrial(ctx, &r)
}
