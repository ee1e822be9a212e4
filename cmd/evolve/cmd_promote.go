package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// promoteFlags are the choices of evolve promote.
type promoteFlags struct {
	to         []string
	force, yes bool
}

func newPromoteCommand(a *app) *cobra.Command {
	var f promoteFlags
	c := &cobra.Command{
		Use:   "promote SKILL[@CANDIDATE|@vN]",
		Short: "Install the version that the gate proved",
		Long: `promote installs the candidate that the gate proved, or the candidate or version
behind the @. --to names where: claude, codex, pi, copilot, agents, or a folder that
holds skills; without it, the targets of config.yaml, else where the skill lives. A
target that has no such skill gets a copy of its folder; one that holds an edit of
yours is left as it is, and the edit is kept as a version. Where nothing waits, the
live version is brought to the other targets.`,
		Example: `  evolve promote dataviz
  evolve promote dataviz --to claude,codex,agents
  evolve promote dataviz@v2 --to ~/team/skills
  evolve promote dataviz@3f2a9c --yes   install one that is not proven, and record it so`,
		Args: exactArgs(1, "a skill"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := namesTarget(c, f.to); err != nil {
				return err
			}
			return a.promoteSkill(c.Context(), args[0], f)
		},
	}
	toFlag(c.Flags(), &f.to, "where to install it")
	c.Flags().BoolVar(&f.force, "force", false, "also over a text that the evidence is not about (the text is kept as a version)")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "install an unproven candidate without asking")
	return c
}

// toFlag is --to.
func toFlag(f *pflag.FlagSet, to *[]string, what string) {
	f.StringSliceVar(to, "to", nil, what+": "+strings.Join(skill.TargetNames(), ", ")+", or a folder")
}

// namesTarget refuses a --to that is there and empty: it was to name something.
func namesTarget(c *cobra.Command, to []string) error {
	if c.Flags().Changed("to") && len(to) == 0 {
		return problem.Inputf("the targets are "+strings.Join(skill.TargetNames(), ", ")+", or a folder", "--to names no target")
	}
	return nil
}

func (a *app) promoteSkill(ctx context.Context, arg string, f promoteFlags) error {
	name, at, _ := strings.Cut(arg, "@")
	live, err := a.skill(name)
	if err != nil {
		return err
	}
	targets, err := a.targets(f.to)
	if err != nil {
		return err
	}
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	pin, err := pinned(ctx, db, name)
	if err != nil {
		return err
	}
	if pin == nil {
		finished, err := a.finish(ctx, db, live, store.OpPromote, at, f.to, false)
		if finished || err != nil {
			return err
		}
	}
	if err := a.recordEdits(ctx, db, live, a.recordText); err != nil {
		return err
	}
	p, err := a.promotion(ctx, db, live, at, targets, f)
	if err != nil {
		return err
	}
	if p.trial == nil {
		return a.promoteVersion(ctx, db, live, p.v, targets, f)
	}
	return a.promoteCandidate(ctx, db, live, p, targets, f)
}

// A promotion is what evolve promote is about to put in place.
type promotion struct {
	v     *tournament.Version     // of a candidate it is the version that it becomes, without a number
	trial *tournament.TrialRecord // of a candidate; nil where v is a version already
	// older: the evidence is about another text than the live one, and --force was
	// said. Then it proves nothing.
	older bool
}

// promotion finds what at names, "" for what waits, and refuses what may not be
// installed, with all reasons. Nothing is changed.
func (a *app) promotion(ctx context.Context, db *store.Store, live *skill.Live, at string, targets []skill.Target, f promoteFlags) (*promotion, error) {
	name := live.Name
	elsewhere, err := a.elsewhere(live, targets)
	if err != nil {
		return nil, err
	}
	against, err := a.againstSkill(ctx, db, live)
	if err != nil {
		return nil, err
	}
	if elsewhere > 0 { // each target says so for itself
		against = against.without(isManaged)
	}
	if candidate.IsVersion(at) {
		v, err := candidate.FindVersion(ctx, db, name, at)
		if err != nil {
			return nil, err
		}
		more, err := a.againstVersion(ctx, db, live, v)
		if err != nil {
			return nil, err
		}
		return &promotion{v: v}, append(against, more...).refuse(fmt.Sprintf("v%d of %s", v.N, name))
	}
	if at != "" {
		if at, err = (&candidate.Texts{Skill: name, Live: live, Store: db}).SHA(ctx, at); err != nil {
			return nil, err
		}
	}
	var trial, back *tournament.TrialRecord
	if at == "" {
		trial, back, err = a.waitingTrial(ctx, db, live, live.Doc.Hash())
	} else {
		trial, err = a.findTrial(ctx, db, name, live.Doc.Hash(), at)
	}
	if err != nil {
		return nil, err
	}
	if at == "" && (trial == nil || trial.Decision != string(pareto.Promote) && elsewhere == len(targets)) {
		if err := against.without(isManaged).refuse(name); err != nil {
			return nil, err
		}
		if elsewhere == 0 && back != nil {
			return nil, a.refuseBack(ctx, db, live, back)
		}
		if elsewhere == 0 {
			return nil, problem.Inputf(fmt.Sprintf("`evolve --skill %s` looks for one", name), "nothing of %s waits for promotion", name)
		}
		v, err := db.VersionBySHA(ctx, name, live.Doc.Hash())
		return &promotion{v: v}, err
	}
	v, more, err := a.versionToBe(ctx, db, live, trial, f)
	if err != nil {
		return nil, err
	}
	if against = append(against, more...); len(against) > 0 && !f.yes {
		if err := against.add(isUnproven, unproven(trial)); err != nil {
			return nil, err
		}
	}
	older := trial.Incumbent != live.Doc.Hash()
	return &promotion{v, trial, older}, against.refuse(fmt.Sprintf("candidate %.12s of %s", trial.Challenger, name))
}

// elsewhere counts the targets that are not the one where the skill lives.
func (a *app) elsewhere(live *skill.Live, targets []skill.Target) (n int, err error) {
	home, err := skill.RealPath(live.Path)
	if err != nil {
		return 0, fmt.Errorf("find skill %s: %w", live.Name, err)
	}
	for _, t := range targets {
		if at, err := skill.RealPath(filepath.Join(t.Dir, live.Name, skill.FileName)); err != nil || at != home {
			n++
		}
	}
	return n, nil
}

// versionToBe is the version that a candidate becomes: one that was on trial, or
// that the firewall has flagged and its owner wants all the same; and what objects
// to it.
func (a *app) versionToBe(ctx context.Context, db *store.Store, live *skill.Live, trial *tournament.TrialRecord, f promoteFlags) (*tournament.Version, objections, error) {
	cand, note, against, err := a.againstCandidate(ctx, db, live, trial, f.force)
	if err != nil || len(against) > 0 {
		return nil, against, err
	}
	run, err := db.Run(ctx, trial.Run)
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
	v := &tournament.Version{Skill: live.Name, SHA: cand.SHA, Parent: live.Doc.Hash(), Author: "evolve",
		Operator: cand.Operator, Run: trial.Run, Evidence: run.Verdict, Proven: proven,
		Simulated: trial.Simulated, Note: note, Text: cand.Text, Created: a.Now().UTC()}
	if trial.Incumbent == live.Doc.Hash() {
		return v, nil, nil
	}
	return v, nil, forced(ctx, db, v, trial.Incumbent)
}

// forced takes the proof from a version that comes over another text than the one that
// its evidence is against, base, which it was made from.
func forced(ctx context.Context, db *store.Store, v *tournament.Version, base string) error {
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

// promoteCandidate installs a candidate; one that is not proven only with a word
// more.
func (a *app) promoteCandidate(ctx context.Context, db *store.Store, live *skill.Live, p *promotion, targets []skill.Target, f promoteFlags) error {
	if p.older {
		a.Say("%.12s is recorded as unproven, %s", p.v.SHA, p.v.Note)
	}
	if !p.v.Proven && !f.yes && !(p.older && p.trial.Decision == string(pareto.Promote)) { // --force is word enough
		ok, err := a.Confirm(fmt.Sprintf("Candidate %.12s is %s, not proven. Install it all the same?", p.v.SHA, p.trial.Decision))
		if err != nil {
			return err
		}
		if !ok {
			return unproven(p.trial)
		}
	}
	if p.trial.Incumbent == live.Doc.Hash() {
		if s, err := candidate.Shorter(ctx, db, live, p.trial); err != nil {
			return err
		} else if s != nil {
			a.Say("%.12s is %s", p.v.SHA, s)
		}
	}
	if !p.older {
		if err := a.sayLifetime(ctx, db, p.trial); err != nil {
			return err
		}
	}
	v, done, err := a.placeNew(ctx, db, live, live.Doc.Hash(), *p.v, targets, f.force)
	if err != nil {
		return err
	}
	return a.told(ctx, db, live, store.OpPromote, &v, done)
}

// planVersion says where a version would be put; promotion has said that it may be.
func (a *app) planVersion(ctx context.Context, db *store.Store, live *skill.Live, v *tournament.Version, targets []skill.Target, f promoteFlags) ([]placing, error) {
	name := live.Name
	plan, err := a.planNew(ctx, db, live, live.Doc.Hash(), v, targets, f.force)
	if err != nil {
		return nil, err
	}
	for i := range plan {
		if !plan[i].live {
			continue
		}
		if err := a.mayReplace(ctx, db, name, &plan[i].place, v, f.force); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

// promoteVersion brings a version to targets.
func (a *app) promoteVersion(ctx context.Context, db *store.Store, live *skill.Live, v *tournament.Version, targets []skill.Target, f promoteFlags) error {
	plan, err := a.planVersion(ctx, db, live, v, targets, f)
	if err != nil {
		return err
	}
	done, err := a.put(ctx, db, live, store.OpPromote, v.Note, false, plan)
	if err != nil {
		return err
	}
	return a.told(ctx, db, live, store.OpPromote, v, done)
}

// told prints what came of a promotion or a rollback.
func (a *app) told(ctx context.Context, db *store.Store, live *skill.Live, op string, v *tournament.Version, done []placed) error {
	versions, err := db.Versions(ctx, live.Name)
	if err != nil {
		return err
	}
	again := candidate.VersionIn(versions, tookThePlaceOf(done))
	if op == store.OpRollback && again != nil && !a.promotable(ctx, db, live.Name, again) {
		again = nil
	}
	return a.placedResult(live, op, v, live.Doc.Hash(), done, versions, again)
}

// promotable reports whether promote would install a version in the place of what is
// live by now.
func (a *app) promotable(ctx context.Context, db *store.Store, name string, v *tournament.Version) bool {
	live, err := a.skill(name)
	if err != nil {
		return false
	}
	against, err := a.againstSkill(ctx, db, live)
	if err != nil {
		return false
	}
	more, err := a.againstVersion(ctx, db, live, v)
	return err == nil && len(against.without(isManaged)) == 0 && len(more) == 0
}

// findTrial picks the trial that promote is about: that of the challenger whose
// SHA-256 is at, against the live text or else the newest; without at the newest that
// was decided for promotion against the live text, else the newest that is undecided;
// nil where nothing waits.
func (a *app) findTrial(ctx context.Context, db *store.Store, name, live, at string) (*tournament.TrialRecord, error) {
	trials, err := db.Trials(ctx, name)
	if err != nil {
		return nil, err
	}
	var undecided, named *tournament.TrialRecord
	for i := range trials { // the newest first
		t := &trials[i]
		switch {
		case at != "":
			if t.Challenger == at && (named == nil || t.Incumbent == live && named.Incumbent != live) {
				named = t
			}
		case t.Incumbent == live && t.Decision == string(pareto.Promote):
			return t, nil
		case t.Incumbent == live && t.Decision == string(pareto.Undecided) && undecided == nil:
			undecided = t
		}
	}
	if undecided != nil || named != nil {
		return cmp.Or(named, undecided), nil
	}
	if at != "" {
		if t, err := a.untried(ctx, db, name, at); t != nil || err != nil {
			return t, err
		}
		return nil, problem.Inputf(fmt.Sprintf("`evolve log %s` lists the candidates", name), "candidate %.12s of %s was never on trial", at, name)
	}
	return nil, nil
}

// untried stands for the trial of a candidate that the firewall has flagged, and
// that never came before the gate; nil where sha is none of those.
func (a *app) untried(ctx context.Context, db *store.Store, name, sha string) (*tournament.TrialRecord, error) {
	all, err := candidate.All(ctx, db, name)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		if c.Trial != nil || c.SHA != sha {
			continue
		}
		run, err := db.Run(ctx, c.Run)
		if err != nil {
			return nil, fmt.Errorf("read run %s: %w", c.Run, err)
		}
		return &tournament.TrialRecord{Skill: name, Incumbent: run.Incumbent, Challenger: c.SHA, Run: c.Run,
			Decision: candidate.NeverTried, Simulated: run.Simulated}, nil
	}
	return nil, nil
}
