package release

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/trying"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
)

// An Objection is one reason why a text may not be installed.
type Objection struct {
	kind Ground
	why  *problem.Error
}

// A Ground is the kind of an objection.
type Ground int

const (
	isPinned Ground = iota
	isManaged
	Simulated   // the evidence
	isOlder     // the evidence is about another incumbent
	isForbidden // by the firewall, or by its owner's decision
	isMisfit    // another kernel, or a text that agents would not read
	isPurged    // the text
	isUnproven
)

// Objections are all reasons at once, so that nobody fixes one only to meet
// the next.
type Objections []Objection

// add records an error that forbids the installation; it returns any other
// error.
func (o *Objections) add(kind Ground, err error) error {
	var f *problem.Error
	if err != nil && (!errors.As(err, &f) || f.Kind != problem.Refused) {
		return err
	}
	if err != nil {
		*o = append(*o, Objection{kind, f})
	}
	return nil
}

// object adds a reason and its remedy.
func (o *Objections) object(kind Ground, hint, format string, args ...any) {
	*o = append(*o, Objection{kind, &problem.Error{Kind: problem.Refused, Err: fmt.Errorf(format, args...), Hint: hint}})
}

// refuse is all reasons in one error, nil for none.
func (o Objections) refuse(what string) error {
	if len(o) == 0 {
		return nil
	}
	if len(o) == 1 {
		return o[0].why
	}
	var hints []string
	for _, k := range o {
		if k.why.Hint != "" && !slices.Contains(hints, k.why.Hint) {
			hints = append(hints, k.why.Hint)
		}
	}
	return problem.Refusef(strings.Join(hints, "; "), "%s cannot be installed: %s", what, o)
}

// String lists the reasons in a line.
func (o Objections) String() string {
	var said []string
	for _, k := range o {
		said = append(said, strings.TrimSuffix(k.why.Error(), ": nothing was changed")) // of a refusal by itself
	}
	return strings.Join(said, "; ")
}

// Without leaves out reasons of some kinds.
func (o Objections) Without(kinds ...Ground) (out Objections) {
	for _, k := range o {
		if !slices.Contains(kinds, k.kind) {
			out = append(out, k)
		}
	}
	return out
}

// againstSkill are the objections to replacing the live text by anything.
func (in *Installer) againstSkill(ctx context.Context, live *skill.Live) (out Objections, err error) {
	p, err := Pinned(ctx, in.Store, live.Name)
	if err != nil {
		return nil, err
	}
	if p != nil {
		err = p.Refuse(store.OpPromote)
	}
	if err := out.add(isPinned, err); err != nil {
		return nil, err
	}
	home, err := in.home(ctx, live)
	if err != nil {
		return nil, err
	}
	if home.tracked { // the owner may install it
		return out, nil
	}
	return out, out.add(isManaged, home.Refusal)
}

// againstCandidate are the objections to replacing the live text by a
// candidate, without those of againstSkill. note is to be stored with one
// that may be installed; cand is the candidate as its run has it.
func (in *Installer) againstCandidate(ctx context.Context, live *skill.Live, trial *candidate.OnTrial, force bool) (cand *record.Candidate, note string, out Objections, err error) {
	if trial.Simulated && !in.Demo {
		out.object(Simulated, "run it again with a real --agent", "the evidence for %.12s is simulated: it says nothing about a real model", trial.Challenger)
	}
	cand = trial.With
	if cand == nil {
		if cand, err = candidate.MadeBy(ctx, in.Store, live.Name, trial.Challenger); err != nil {
			return nil, "", nil, err
		}
	}
	switch {
	case trial.With != nil || force:
	case trial.Closed != "":
		out.object(isOlder, "run `evolve --skill "+live.Name+"` to search again, or use --force to put its text in the place of yours",
			"the change of %.12s cannot be made to the live text: %s", trial.Challenger, trial.Closed)
	default:
		out.object(isOlder, "run `evolve --skill "+live.Name+"` to search again, or use --force",
			"the evidence for %.12s is against another text than the live one", trial.Challenger)
	}
	if len(cand.Text) == 0 {
		out.object(isPurged, "`evolve --skill "+live.Name+"` looks for another one", "the text of %.12s is gone: it was removed with a session that it had learned from", cand.SHA)
		return cand, "", out, nil
	}
	doc, err := skill.Stored(live.Name, cand.Text)
	if err != nil {
		return nil, "", nil, err
	}
	note, err = in.mayInstall(ctx, live, doc, trial.Challenger, candidate.PartOf(cand.Operator), true)
	if err = out.add(isForbidden, err); err == nil {
		err = out.add(isMisfit, check.Kernel(live.Doc, doc, candidate.PartOf(cand.Operator)))
	}
	return cand, note, out, err
}

// unproven objects to a candidate that the gate has not proved, unless the
// owner asked to install it anyway.
func unproven(trial *record.TrialRecord) error {
	if trial.Decision == pareto.Promote {
		return nil
	}
	return problem.Refusef("add --unproven to install it anyway; it is then recorded as unproven", "candidate %.12s is not shown to be better (%s)", trial.Challenger, Standing(trial))
}

// Standing is the verdict of an open trial in words, and what holds it back if all pairs prove
// its challenger and those without one worker's do not.
func Standing(trial *record.TrialRecord) string {
	answer := pareto.Answer(trial.Decision, "")
	if kept, err := trial.Kept(); err == nil && kept.Held() != "" {
		answer += ": " + kept.Held()
	}
	return answer
}

// againstVersion are the objections to installing a version.
func (in *Installer) againstVersion(ctx context.Context, live *skill.Live, v *record.Version) (out Objections, err error) {
	if v.Simulated && !in.Demo {
		out.object(Simulated, "run it again with a real --agent", "the evidence for v%d is simulated: it says nothing about a real model", v.N)
	}
	if v.Author != "evolve" || v.SHA == live.Doc.Hash() {
		return out, nil
	}
	doc, err := skill.Stored(live.Name, v.Text)
	if err != nil {
		return nil, err
	}
	part, err := candidate.PartOfVersion(ctx, in.Store, v)
	if err != nil {
		return nil, err
	}
	change, err := candidate.ChangeOf(ctx, in.Store, v)
	if err != nil {
		return nil, err
	}
	if _, err := in.mayInstall(ctx, live, doc, change, part, true); out.add(isForbidden, err) != nil {
		return nil, err
	}
	if err := check.Kernel(live.Doc, doc, part); err != nil {
		var f *problem.Error
		if !errors.As(err, &f) {
			return nil, err
		}
		return out, out.add(isMisfit, &problem.Error{Kind: f.Kind, Err: f.Err, Hint: fmt.Sprintf("`evolve rollback %s@v%d` puts it back all the same", live.Name, v.N)})
	}
	return out, nil
}

// Offer is the command that installs what a trial has proved, "" if promote
// refuses; then out is the reason.
func (in *Installer) Offer(ctx context.Context, live *skill.Live, trial *candidate.OnTrial) (command string, out Objections, err error) {
	if live, err = trying.Ground(ctx, in.Store, live); err != nil {
		return "", nil, err
	}
	if out, err = in.againstSkill(ctx, live); err != nil {
		return "", nil, err
	}
	_, _, more, err := in.againstCandidate(ctx, live, trial, false)
	if errors.Is(err, store.ErrNotFound) {
		more.object(isPurged, "", "the text of %.12s is gone", trial.Challenger)
		err = nil
	}
	if err != nil {
		return "", nil, err
	}
	if out = append(out, more...); len(out) > 0 {
		return "", out, nil
	}
	at, _, err := in.WaitingTrial(ctx, live)
	if err != nil {
		return "", nil, err
	}
	if at != nil && at.Challenger == trial.Challenger && !runs(live.Name) {
		return "evolve promote " + live.Name, nil, nil
	}
	return fmt.Sprintf("evolve promote %s@%.12s", live.Name, trial.Challenger), nil, nil
}
