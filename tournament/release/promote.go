package release

import (
	"context"
	"fmt"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/trying"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
)

// PlanPromotion plans to install the text that r names, else the waiting one,
// and refuses with all reasons if that is not allowed. A text of the owner's
// that is found in a target becomes a version.
func (in *Installer) PlanPromotion(ctx context.Context, live *skill.Live, r Request) (*Plan, error) {
	p := &Plan{Op: store.OpPromote, Live: live}
	return in.planned(p, in.noting(p).promotion(ctx, p, r))
}

func (in *Installer) promotion(ctx context.Context, p *Plan, r Request) (err error) {
	targets := r.To
	if targets == nil {
		if targets, err = in.Layout.Targets(p.Live.Name, nil); err != nil {
			return err
		}
		if by, err := trying.In(ctx, in.Store, p.Live); err != nil {
			return err
		} else if n, err := in.elsewhere(p.Live, targets); err != nil {
			return err
		} else if by != nil && n == len(targets) { // what is there on trial is kept, or replaced
			if targets, err = in.everywhere(p.Live.Name); err != nil {
				return err
			}
		}
	}
	if err := in.choose(ctx, p, r, targets); err != nil {
		return err
	}
	live := p.Live
	p.note = p.Version.Note
	if p.Places, err = in.planNew(ctx, live, live.Doc.Hash(), p.Version, targets, r.Force); err != nil || p.fresh {
		return err
	}
	for i := range p.Places {
		if at := &p.Places[i].Place; at.Home {
			if err := in.mayReplace(ctx, live.Name, at, p.Version, r.Force); err != nil {
				return err
			}
		}
	}
	return nil
}

// choose sets p.Version, and for a candidate p.Trial. A text on trial in place stays.
func (in *Installer) choose(ctx context.Context, p *Plan, r Request, targets []skill.Target) error {
	at, name := r.At, p.Live.Name
	live, tried := p.Live, ""
	on, err := TryingOf(ctx, in.Store, live)
	if err != nil {
		return err
	}
	if on != nil {
		live, tried = on.Ground, on.Version.SHA
	}
	elsewhere, err := in.elsewhere(live, targets)
	if err != nil {
		return err
	}
	against, err := in.againstSkill(ctx, live)
	if err != nil {
		return err
	}
	keep := func() error {
		if elsewhere == len(targets) {
			return problem.Refusef(fmt.Sprintf("`evolve promote %s` keeps it first", name), "v%d of %s is a trial install: it is not copied elsewhere", on.Version.N, name)
		}
		return in.keep(ctx, p, on, against)
	}
	if elsewhere > 0 { // each target reports it
		against = against.Without(isManaged)
	}
	if at, err = in.ownScript(ctx, live, at); err != nil {
		return err
	}
	if candidate.IsVersion(at) {
		v, err := candidate.FindVersion(ctx, in.Store, name, at)
		if err != nil {
			return err
		}
		if v.SHA == tried {
			return keep()
		}
		more, err := in.againstVersion(ctx, live, v)
		if err != nil {
			return err
		}
		p.Version = v
		return append(against, more...).refuse(fmt.Sprintf("v%d of %s", v.N, name))
	}
	if at != "" {
		if at, err = (&candidate.Texts{Skill: name, Live: live, Store: in.Store}).SHA(ctx, at); err != nil {
			return err
		}
	}
	var trial, back *candidate.OnTrial
	if at == "" {
		trial, back, err = in.WaitingTrial(ctx, live)
	} else {
		trial, err = in.findTrial(ctx, live, at)
	}
	if err != nil {
		return err
	}
	if on != nil && (at == "" && (trial == nil || trial.Decision != pareto.Promote) || trial != nil && trial.With != nil && trial.With.SHA == tried) {
		return keep()
	}
	if at == "" && (trial == nil || trial.Decision != pareto.Promote && elsewhere == len(targets)) {
		if err := against.Without(isManaged).refuse(name); err != nil {
			return err
		}
		if elsewhere == 0 && back != nil {
			return in.refuseBack(ctx, live, back)
		}
		if elsewhere == 0 {
			return problem.Inputf(fmt.Sprintf("`evolve --skill %s` looks for one", name), "nothing of %s waits for promotion", name)
		}
		p.Version, err = in.Store.VersionBySHA(ctx, name, live.Doc.Hash())
		return err
	}
	v, more, err := in.versionToBe(ctx, live, trial, r.Force)
	if err != nil {
		return err
	}
	if against = append(against, more...); len(against) > 0 && !r.Unproven {
		if err := against.add(isUnproven, unproven(&trial.TrialRecord)); err != nil {
			return err
		}
	}
	p.Version, p.Trial, p.Older, p.fresh = v, trial, trial.With == nil, true
	return against.refuse(fmt.Sprintf("candidate %.12s of %s", trial.Challenger, name))
}

// elsewhere counts the targets that are not the skill's home.
func (in *Installer) elsewhere(live *skill.Live, targets []skill.Target) (n int, err error) {
	home, err := skill.RealPath(live.Path)
	if err != nil {
		return 0, fmt.Errorf("find skill %s: %w", live.Name, err)
	}
	for _, t := range targets {
		if at, err := skill.RealPath(t.PathIn(live.Name)); err != nil || at != home {
			n++
		}
	}
	return n, nil
}

// versionToBe is the version that a candidate becomes, and the objections to
// it. The candidate was on trial, or the firewall flagged it and its owner
// wants it all the same.
func (in *Installer) versionToBe(ctx context.Context, live *skill.Live, trial *candidate.OnTrial, force bool) (*record.Version, Objections, error) {
	cand, note, against, err := in.againstCandidate(ctx, live, trial, force)
	if err != nil || len(against) > 0 {
		return nil, against, err
	}
	run, err := in.Store.Run(ctx, trial.Run)
	if err != nil {
		return nil, nil, fmt.Errorf("read run %s: %w", trial.Run, err)
	}
	if trial.Decision == candidate.NeverTried {
		run.Verdict = nil // it is about another text
	}
	proven, err := trial.ProvenAlone()
	if err != nil {
		return nil, nil, err
	}
	v, err := in.version(ctx, live, cand, run)
	if err != nil {
		return nil, nil, err
	}
	v.Proven, v.Simulated = proven, trial.Simulated
	if proven {
		if words, err := candidate.Creep(ctx, in.Store, live, trial); err != nil {
			return nil, nil, err
		} else if words != "" {
			in.Say("%.12s: %s", trial.Challenger, words)
		}
	}
	in.sayFlagged(trial.Challenger, note)
	if note != "" && v.Note != "" {
		note += "; "
	}
	v.Note = note + v.Note
	if trial.With != nil {
		return v, nil, nil
	}
	return v, nil, forced(ctx, in.Store, v, trial.Incumbent)
}

// forced removes the proof from a version that replaces another text than
// base, which its evidence is against and which it was made from.
func forced(ctx context.Context, db *store.Store, v *record.Version, base string) error {
	versions, err := db.Versions(ctx, v.Skill)
	if err != nil {
		return err
	}
	name, yours := func(sha string) string {
		if k := candidate.VersionIn(versions, sha); k != nil {
			return fmt.Sprintf("v%d", k.N)
		}
		return fmt.Sprintf("%.12s", sha)
	}, ""
	if k := candidate.VersionIn(versions, v.Parent); k != nil && k.Author != "evolve" {
		yours = ", your text,"
	}
	why := fmt.Sprintf("by --force: its evidence is against %s, and %s%s was live", name(base), name(v.Parent), yours)
	if v.Note != "" {
		why = v.Note + "; " + why
	}
	v.Proven, v.Evidence, v.Note = false, nil, why
	if candidate.VersionIn(versions, base) != nil {
		v.Parent = base
	}
	return nil
}

// promotable reports whether promote would install a version over the present
// live text.
func (in *Installer) promotable(ctx context.Context, name string, v *record.Version) bool {
	live, err := in.Layout.Live(name)
	if err == nil {
		live, err = trying.Ground(ctx, in.Store, live)
	}
	if err != nil {
		return false
	}
	against, err := in.againstSkill(ctx, live)
	if err != nil {
		return false
	}
	more, err := in.againstVersion(ctx, live, v)
	return err == nil && len(against.Without(isManaged)) == 0 && len(more) == 0
}

// findTrial is the trial of the challenger whose SHA-256 is sha, or of the one whose change
// and the owner's edits that text has: of a change to the live text, else the newest.
func (in *Installer) findTrial(ctx context.Context, live *skill.Live, sha string) (*candidate.OnTrial, error) {
	ofLive, err := candidate.Trials(ctx, in.Store, live)
	if err != nil {
		return nil, err
	}
	for i := range ofLive { // the newest first
		t := &ofLive[i]
		if t.Challenger != sha && (t.With == nil || t.With.SHA != sha) {
			continue
		}
		if t.With == nil && t.Closed == "" { // it was rejected
			t.With, t.Closed, err = candidate.Apply(ctx, in.Store, live, t.Incumbent, t.Challenger)
		}
		return t, err
	}
	trials, err := in.Store.Trials(ctx, live.Name)
	if err != nil {
		return nil, err
	}
	for i := range trials { // the newest first
		if trials[i].Challenger == sha {
			return &candidate.OnTrial{TrialRecord: trials[i]}, nil
		}
	}
	if t, err := in.untried(ctx, live, sha); t != nil || err != nil {
		return t, err
	}
	return nil, problem.Inputf(fmt.Sprintf("`evolve log %s` lists the candidates", live.Name), "candidate %.12s of %s was never on trial", sha, live.Name)
}

// untried makes a trial for a candidate that the firewall has flagged, or that was suggested,
// and that never came before the gate; nil if sha is none of those.
func (in *Installer) untried(ctx context.Context, live *skill.Live, sha string) (*candidate.OnTrial, error) {
	all, err := candidate.All(ctx, in.Store, live.Name)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		if c.Trial != nil || c.SHA != sha {
			continue
		}
		run, err := in.Store.Run(ctx, c.Run)
		if err != nil {
			return nil, fmt.Errorf("read run %s: %w", c.Run, err)
		}
		t := &candidate.OnTrial{TrialRecord: record.TrialRecord{Skill: live.Name, Incumbent: run.Incumbent, Challenger: c.SHA, Run: c.Run,
			Decision: candidate.NeverTried, Simulated: run.Simulated}}
		t.With, t.Closed, err = candidate.Apply(ctx, in.Store, live, run.Incumbent, c.SHA)
		return t, err
	}
	return nil, nil
}
