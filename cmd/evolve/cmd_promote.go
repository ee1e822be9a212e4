package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/spf13/cobra"
)

func newPromoteCommand(a *app) *cobra.Command {
	var force, yes bool
	c := &cobra.Command{
		Use:     "promote SKILL[@CANDIDATE]",
		Short:   "Install the version that the gate proved",
		Example: "  evolve promote dataviz\n  evolve promote dataviz@3f2a9c --yes   install one that is not proven, and record it so",
		Args:    exactArgs(1, "a skill"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.promoteSkill(c.Context(), args[0], force, yes)
		},
	}
	c.Flags().BoolVar(&force, "force", false, "also over a text that the evidence is not about (the text is kept as a version)")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "install an unproven candidate without asking")
	return c
}

func (a *app) promoteSkill(ctx context.Context, arg string, force, yes bool) error {
	name, at, _ := strings.Cut(arg, "@")
	live, err := a.skill(name)
	if err != nil {
		return err
	}
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	if err := a.recordLive(ctx, db, live); err != nil {
		return err
	}
	trial, err := a.findTrial(ctx, db, name, live.doc.Hash(), at)
	if err != nil {
		return err
	}
	if trial.Simulated && !a.sandboxed {
		return refused("run it again with a real --agent", "the evidence for %.12s is simulated: it says nothing about a real model", trial.Challenger)
	}
	if trial.Incumbent != live.doc.Hash() && !force {
		return refused("run `evolve --skill "+name+"` to try it against the live text, or use --force",
			"the evidence for %.12s is against another text than the live one", trial.Challenger)
	}
	cand, err := madeBy(ctx, db, name, trial.Challenger)
	if err != nil {
		return err
	}
	doc, err := readDoc(cand.Text)
	if err != nil {
		return err
	}
	note, err := a.mayInstall(ctx, db, live, doc, evolvesOf(cand.Operator), true)
	if err != nil {
		return err
	}
	proven := trial.Decision == string(pareto.Promote)
	if !proven && !yes {
		ok, err := a.confirm(fmt.Sprintf("Candidate %.12s is %s, not proven. Install it all the same?", cand.SHA, trial.Decision))
		if err != nil {
			return err
		}
		if !ok {
			return refused("say --yes to install it all the same; it is then recorded as unproven",
				"candidate %.12s is not proven (%s)", cand.SHA, trial.Decision)
		}
	}
	if err := checkKernel(live.doc, doc, evolvesOf(cand.Operator)); err != nil {
		return err
	}
	run, err := db.Run(ctx, trial.Run)
	if err != nil {
		return fmt.Errorf("read run %s: %w", trial.Run, err)
	}
	if trial.Decision == neverTried {
		run.Verdict = nil // it is about another text
	}
	v, err := a.installNew(ctx, db, live, live.doc.Hash(), tournament.Version{Skill: name, SHA: cand.SHA, Parent: live.doc.Hash(), Author: "evolve",
		Operator: cand.Operator, Run: trial.Run, Evidence: run.Verdict, Proven: proven, Simulated: trial.Simulated, Note: note,
		Text: cand.Text, Created: a.now().UTC()})
	if err != nil {
		return err
	}
	return a.installedResult(live, v, live.doc.Hash())
}

// installedResult says what is in place now.
func (a *app) installedResult(live *liveSkill, v tournament.Version, from string) error {
	if a.json {
		return a.printJSON(map[string]any{"schema": 1, "skill": live.Name, "version": v.N, "sha256": v.SHA, "from": from,
			"path": live.Path, "proven": v.Proven})
	}
	_, err := fmt.Fprintf(a.stdout, "%s: v%d (%.12s, %s) is installed in %s\nnext: `evolve rollback %s` takes it back\n", live.Name, v.N, v.SHA, backing(v), live.Path, live.Name)
	return err
}

// backing says what stands behind a version.
func backing(v tournament.Version) string {
	switch {
	case v.Author != "evolve":
		return "yours"
	case !v.Proven:
		return "not proven"
	}
	return "proven"
}

// findTrial picks the trial that promote is about: the named challenger's, else
// the newest that was decided for promotion against the live text.
func (a *app) findTrial(ctx context.Context, db *store.Store, name, live, at string) (*tournament.TrialRecord, error) {
	trials, err := db.Trials(ctx, name)
	if err != nil {
		return nil, err
	}
	var undecided *tournament.TrialRecord
	for i := range trials { // the newest first
		t := &trials[i]
		switch {
		case at != "" && strings.HasPrefix(t.Challenger, at):
			return t, nil
		case at != "":
		case t.Incumbent == live && t.Decision == string(pareto.Promote):
			return t, nil
		case t.Incumbent == live && t.Decision == string(pareto.Undecided) && undecided == nil:
			undecided = t
		}
	}
	if undecided != nil {
		return undecided, nil
	}
	if at != "" {
		if t, err := a.untried(ctx, db, name, at); t != nil || err != nil {
			return t, err
		}
		return nil, usage(fmt.Sprintf("`evolve log %s` lists the candidates", name), "no candidate of %s that was on trial begins with %q", name, at)
	}
	return nil, usage(fmt.Sprintf("`evolve --skill %s` looks for one", name), "nothing of %s waits for promotion", name)
}

// neverTried is the decision of a candidate that was never before the gate.
const neverTried = "never tried"

// untried stands for the trial of a candidate that the firewall has flagged, and
// that never came before the gate; nil where at is the beginning of no such one.
func (a *app) untried(ctx context.Context, db *store.Store, name, at string) (*tournament.TrialRecord, error) {
	all, err := candidacies(ctx, db, name)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		if c.trial != nil || !strings.HasPrefix(c.SHA, at) {
			continue
		}
		run, err := db.Run(ctx, c.Run)
		if err != nil {
			return nil, fmt.Errorf("read run %s: %w", c.Run, err)
		}
		return &tournament.TrialRecord{Skill: name, Incumbent: run.Incumbent, Challenger: c.SHA, Run: c.Run,
			Decision: neverTried, Simulated: run.Simulated}, nil
	}
	return nil, nil
}

// madeBy is a candidate as the run that made it has it.
func madeBy(ctx context.Context, db *store.Store, name, sha string) (*tournament.Candidate, error) {
	c, _, err := (&skillTexts{name: name, db: db}).made(ctx, sha)
	if err == nil && c == nil {
		c, err = db.Candidate(ctx, sha)
	}
	if err != nil {
		return nil, fmt.Errorf("read candidate: %w", err)
	}
	return c, nil
}
