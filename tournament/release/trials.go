package release

import (
	"context"
	"fmt"
	"slices"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/install"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/store/trying"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
)

// An Edit is what an edit of the live text means for a trial.
type Edit struct {
	Challenger string
	Closed     bool
	Words      string
}

// Edits lists what the owner's edit of the text before means for the trials that wait: the
// newest of each part of the skill, and the newest proved one. What was reported of an
// earlier edit is left out.
func Edits(ctx context.Context, db *store.Store, live *skill.Live, before string) (out []Edit, err error) {
	if before == "" || before == live.Doc.Hash() || live.HalfSaved() {
		return nil, nil
	}
	if live, err = trying.Ground(ctx, db, live); err != nil || before == live.Doc.Hash() {
		return nil, err // put back by hand, it is on trial in place again
	}
	trials, err := candidate.Trials(ctx, db, live)
	if err != nil || len(trials) == 0 {
		return nil, err
	}
	told := map[record.Change]string{}
	if v, err := db.VersionBySHA(ctx, live.Name, before); err == nil && len(v.Text) > 0 {
		was := *live
		was.Doc, _ = skill.Parse(v.Text, live.Doc.Options())
		earlier, err := candidate.Trials(ctx, db, &was)
		if err != nil {
			return nil, err
		}
		for i := range earlier {
			told[earlier[i].Change()] = earlier[i].Closed
		}
	}
	seen := map[string]bool{}
	for i := range trials { // the newest first
		t := &trials[i]
		if t.With == nil && t.Closed == "" {
			continue
		}
		made, err := candidate.MadeBy(ctx, db, live.Name, t.Challenger)
		if err != nil {
			return nil, err
		}
		kind := candidate.PartOf(made.Operator)
		if t.Decision == pareto.Promote {
			if sha, err := HadItsChance(ctx, db, live, t); err != nil {
				return nil, err
			} else if sha != "" {
				continue
			}
			kind = string(pareto.Promote)
		}
		if seen[kind] {
			continue
		}
		seen[kind] = true
		if t.Closed != "" && told[t.Change()] == t.Closed || t.Incumbent == live.Doc.Hash() {
			continue
		}
		words, err := editWords(ctx, db, live, t)
		if err != nil {
			return nil, err
		}
		out = append(out, Edit{t.Challenger, t.Closed != "", words})
	}
	return out, nil
}

func editWords(ctx context.Context, db *store.Store, live *skill.Live, t *candidate.OnTrial) (string, error) {
	who := fmt.Sprintf("new text %.12s of %s", t.Challenger, live.Name)
	switch {
	case t.Closed == candidate.HasItAlready:
		return fmt.Sprintf("the trial of %s is closed: %s", who, t.Closed), nil
	case t.Closed != "":
		seed, _, err := candidate.Seed(ctx, db, live, t.Challenger)
		words := fmt.Sprintf("the trial of %s is closed: %s; `evolve diff %s@%.12s live` shows both", who, t.Closed, live.Name, t.Challenger)
		if seed != nil && !t.Settled {
			words += "; the next search begins with what is left of it"
		}
		return words, err
	case t.Decision == pareto.Promote:
		return fmt.Sprintf("%s stays the better text: your edit is kept, and `evolve promote %s` adds its change", who, live.Name), nil
	}
	d, err := t.Evidence()
	return fmt.Sprintf("the trial of %s goes on: your edit is in both texts from now on, and the %s so far count", who, plain.Counted(d.Cases, "case")), err
}

// tellEdit reports what the owner's edit of the text before means for the trials.
func (in *Installer) tellEdit(ctx context.Context, live *skill.Live, before string) error {
	edits, err := Edits(ctx, in.Store, live, before)
	for i := range edits {
		in.Say("%s", edits[i].Words)
	}
	if in.Access == datadir.Writes && slices.ContainsFunc(edits, func(e Edit) bool { return e.Closed }) {
		return hook.Withdraw(string(in.Dir), live.Name, hook.Waiting) // it waits no more
	}
	return err
}

// Proved is the version that the change which a run's gate proved becomes in the live
// text. Errors: *install.DriftError if the live text is another one than the owner's edit
// of the text that the change was made to; a refusal if the change cannot be made to it.
func (in *Installer) Proved(ctx context.Context, live *skill.Live, run *record.Run) (*record.Version, error) {
	of := run.Tried()
	live, err := trying.Ground(ctx, in.Store, live)
	if err != nil {
		return nil, err
	}
	t, err := candidate.On(ctx, in.Store, live, of)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, &install.DriftError{Path: live.Path, Want: of.Base, Live: live.Doc.Hash()}
	}
	if t.With == nil && t.Closed == "" {
		return nil, problem.Refusef(fmt.Sprintf("`evolve log %s` lists the candidates", live.Name), "candidate %.12s is not shown to be better any more", t.Challenger)
	}
	if t.With == nil {
		return nil, problem.Refusef(fmt.Sprintf("`evolve diff %s@%.12s live` shows both", live.Name, t.Challenger),
			"your edit stays, and the change of %.12s is not installed: %s", t.Challenger, t.Closed)
	}
	if words, err := candidate.Creep(ctx, in.Store, live, t); err != nil {
		return nil, err
	} else if words != "" {
		return nil, problem.Refusef(fmt.Sprintf("`evolve promote %s@%.12s` installs it", live.Name, t.Challenger), "%.12s is yours to install: %s", t.Challenger, words)
	}
	return in.version(ctx, live, t.With, run)
}

// version is the version that a text becomes in the place of the live one, with the
// evidence of run.
func (in *Installer) version(ctx context.Context, live *skill.Live, with *record.Candidate, run *record.Run) (*record.Version, error) {
	if err := candidate.Keep(ctx, in.Store, with, run.ID); err != nil {
		return nil, err
	}
	v := candidate.NewVersion(with, run, live.Doc.Hash())
	v.Created = in.Now().UTC()
	change, err := candidate.ChangeOf(ctx, in.Store, v)
	if err != nil || change == with.SHA {
		return v, err
	}
	in.Say("your edits stay: %.12s is your text with the change of %.12s; `evolve diff %s@%.12s live` shows both", v.SHA, change, live.Name, change)
	v.Note = fmt.Sprintf("the change of %.12s, and your edits since", change)
	return v, nil
}
