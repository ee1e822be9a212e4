package candidate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/trying"
	"github.com/skill-evolve/evolve/tournament/record"
)

// The operators of texts that have a challenger's change and their owner's edits, by the
// part of the skill that the change is to.
const (
	mergedHarness     = "rebase"
	mergedDescription = "rebase-description"
)

// HasItAlready is why the trial of a change is closed that its owner has made by hand.
const HasItAlready = "your edit has made its change already"

// An OnTrial is the trial of a change to the live text. Its Incumbent is the text that the
// challenger was made from: the live one, or one that only its owner has edited since.
// Then each pair runs the live text with and without the change.
type OnTrial struct {
	record.TrialRecord
	// With is the live text with the change: the challenger itself if its owner has edited
	// nothing since. nil for a trial that the gate has rejected, or that is Closed.
	With *record.Candidate
	// Closed is why the change cannot be made to the live text, "" if it can. It is a
	// function of the texts: if the owner takes the edit back, the trial continues.
	Closed string
	// Settled: what closed it speaks against the change itself, which is tried no more.
	Settled bool
}

// IsOpen reports whether the trial can go on.
func (t *OnTrial) IsOpen() bool { return t.Decision.IsOpen() && t.With != nil }

// Trials lists the trials of changes to the live text, the latest updated first. While a
// text is in place on trial, they are of changes to the text that it replaced.
func Trials(ctx context.Context, db *store.Store, live *skill.Live) ([]OnTrial, error) {
	all, err := db.Trials(ctx, live.Name)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	if live, err = trying.Ground(ctx, db, live); err != nil {
		return nil, err
	}
	versions, err := db.Versions(ctx, live.Name)
	if err != nil {
		return nil, err
	}
	sha := live.Doc.Hash()
	same, err := record.Edits(ctx, db, live.Name, sha, live.Home)
	if err != nil {
		return nil, err
	}
	var out []OnTrial
	for _, t := range all {
		if !same[t.Incumbent] {
			continue
		}
		k := OnTrial{TrialRecord: t}
		if t.Decision.IsOpen() || t.Decision == pareto.Promote {
			if k.With, k.Closed, err = Apply(ctx, db, live, t.Incumbent, t.Challenger); err != nil {
				return nil, err
			}
		}
		if t.Incumbent != sha && (k.With != nil || k.Closed != "") {
			if over, err := superseded(ctx, db, t.Challenger, all); err != nil {
				return nil, err
			} else if over {
				continue
			}
		}
		if k.With != nil && t.Incumbent != sha {
			if k.Closed = known(k.With.SHA, sha, t.Challenger, all, versions); k.Closed != "" {
				k.With, k.Settled = nil, true
			}
		}
		k.Settled = k.Settled || k.Closed == HasItAlready
		out = append(out, k)
	}
	return out, nil
}

// superseded reports whether another trial is about what was made of a challenger and its
// owner's edits.
func superseded(ctx context.Context, db *store.Store, challenger string, all []record.TrialRecord) (bool, error) {
	for _, t := range all {
		c, err := MadeBy(ctx, db, t.Skill, t.Challenger)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return false, err
		}
		if err == nil && t.Challenger != challenger && changeIn(c) == challenger {
			return true, nil
		}
	}
	return false, nil
}

// known is why an edited text with a change is not tried, "" if nothing is known of it.
func known(with, live, challenger string, all []record.TrialRecord, versions []record.Version) string {
	for _, t := range all {
		if t.Incumbent == live && t.Challenger == with && t.Decision == pareto.Reject && with != challenger {
			return "with your edit it is a text that a trial has rejected"
		}
	}
	if v := VersionIn(versions, challenger); v != nil && v.Author != "evolve" {
		return "you had its change in place, and took it out again"
	}
	return ""
}

// Apply makes the change from base to challenger in the live text, and checks the result
// as the search checks a proposal. It is nil with the reason if that cannot be done. A
// result that no run has made yet has no Run. allowed are rules of the firewall that the
// result may break besides those that the owner has approved in the challenger.
func Apply(ctx context.Context, db *store.Store, live *skill.Live, base, challenger string, allowed ...string) (with *record.Candidate, why string, err error) {
	made, err := MadeBy(ctx, db, live.Name, challenger)
	if errors.Is(err, store.ErrNotFound) {
		made, err = &record.Candidate{SHA: challenger}, nil
	}
	sha := live.Doc.Hash()
	if err != nil || base == sha {
		return made, "", err
	}
	if live.Doc.Options().Script != "" {
		return nil, "the script was edited after it was made, and two changes of a program are not joined", nil
	}
	docs, why, err := sides(ctx, db, live, base, made)
	if err != nil || why != "" {
		return nil, why, err
	}
	next, err := mutate.Rebase(docs[0], docs[1], docs[2])
	switch {
	case err != nil:
		return nil, plain.Line(err.Error()), nil
	case next.Hash() == sha:
		return nil, HasItAlready, nil
	}
	said, err := db.Decisions(ctx, live.Name)
	if err != nil {
		return nil, "", err
	}
	if said[next.Hash()].Word == store.Rejected {
		return nil, "with your edit it is a text that you rejected", nil
	}
	if d := said[challenger]; d.Word == store.Approved {
		allowed = append(slices.Clone(allowed), d.Rules...)
	}
	for _, f := range check.Check(docs[1], next, check.ClaudeCode) {
		if f.Severity == check.Reject || f.Severity == check.Quarantine && !slices.Contains(allowed, f.Rule) {
			return nil, "with your edit it breaks the rule " + f.Rule, nil
		}
	}
	if next.Hash() == challenger { // but for blanks, both changed the same
		return made, "", nil
	}
	return merged(next, made, sha), "", nil
}

// sides are the texts of a three-way merge: base, the live one and the challenger's.
func sides(ctx context.Context, db *store.Store, live *skill.Live, base string, made *record.Candidate) (docs [3]*skill.Document, why string, err error) {
	v, err := db.VersionBySHA(ctx, live.Name, base)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return docs, "", err
	}
	if err != nil || len(v.Text) == 0 || len(made.Text) == 0 {
		return docs, "its text, or the one that it was made from, is gone", nil
	}
	for i, text := range [][]byte{v.Text, live.Doc.Render(), made.Text} {
		if docs[i], err = skill.Parse(text, live.Doc.Options().Evolving(PartOf(made.Operator))); err != nil {
			return docs, plain.Line(err.Error()), nil
		}
	}
	return docs, "", nil
}

func merged(next *skill.Document, made *record.Candidate, live string) *record.Candidate {
	c := &record.Candidate{SHA: next.Hash(), Parents: []string{live, made.SHA}, Operator: mergedHarness, State: record.Pooled,
		Reason: "it has your edits and the new text's change", Taught: made.Taught, Shown: made.Shown, Text: next.Render()}
	if PartOf(made.Operator) == skill.Description {
		c.Operator = mergedDescription
	}
	return c
}

// Seed is the text with which a search of the live text begins for a challenger that was
// made from another one: its change in the live text. What both have changed stays the
// owner's. It is nil with the reason if nothing is left. allowed is that of Apply.
func Seed(ctx context.Context, db *store.Store, live *skill.Live, challenger string, allowed ...string) (*record.Candidate, string, error) {
	made, err := MadeBy(ctx, db, live.Name, challenger)
	if err != nil {
		return nil, "", err
	}
	run, err := db.Run(ctx, made.Run)
	if err != nil {
		return nil, "", fmt.Errorf("read run %s: %w", made.Run, err)
	}
	with, why, err := Apply(ctx, db, live, run.Incumbent, challenger, allowed...)
	if err == nil && with != nil && run.Incumbent == live.Doc.Hash() { // an older evolve may have let it pass
		doc, err := skill.Stored(live.Name, with.Text)
		if err != nil {
			return nil, "", err
		}
		if err := check.Kernel(live.Doc, doc, PartOf(made.Operator)); err != nil {
			return nil, plain.Line(err.Error()), nil
		}
	}
	if with != nil || err != nil || why == HasItAlready || PartOf(made.Operator) == skill.Description {
		return with, why, err
	}
	docs, gone, err := sides(ctx, db, live, run.Incumbent, made)
	if err != nil || gone != "" || docs[0].KernelHash() != docs[1].KernelHash() {
		return nil, why, err
	}
	view, _ := mutate.Join(docs[0].View(), docs[1].View(), docs[2].View())
	next, err := docs[1].WithView(view)
	if err != nil || next.Hash() == docs[1].Hash() {
		return nil, why, nil
	}
	if check.Worst(check.Check(docs[1], next, check.ClaudeCode)) != check.Warn {
		return nil, why, nil
	}
	return merged(next, made, docs[1].Hash()), "", nil
}

// Keep saves a text that holds a change and its owner's edits as a candidate of a run,
// unless one has it.
func Keep(ctx context.Context, db *store.Store, with *record.Candidate, run string) error {
	if with.Run != "" {
		return nil
	}
	all, err := db.Candidates(ctx, run)
	if err != nil {
		return err
	}
	c := *with
	c.Run, c.Seq = run, 1
	for i := range all {
		if all[i].SHA == c.SHA {
			return nil
		}
		c.Seq = max(c.Seq, all[i].Seq+1)
	}
	return db.Journal(run).SaveCandidate(ctx, &c)
}

// On is the trial of a change to the live text, nil if it is none.
func On(ctx context.Context, db *store.Store, live *skill.Live, of record.Change) (*OnTrial, error) {
	all, err := Trials(ctx, db, live)
	for i := range all {
		if all[i].Change() == of {
			return &all[i], err
		}
	}
	return nil, err
}

// changeIn is the challenger whose change a text has: itself, unless it has its owner's
// edits too.
func changeIn(c *record.Candidate) string {
	if (c.Operator == mergedHarness || c.Operator == mergedDescription) && len(c.Parents) > 1 {
		return c.Parents[1]
	}
	return c.SHA
}

// ChangeOf is the challenger whose change a version has.
func ChangeOf(ctx context.Context, db *store.Store, v *record.Version) (string, error) {
	if v.Operator != mergedHarness && v.Operator != mergedDescription {
		return v.SHA, nil
	}
	c, err := MadeBy(ctx, db, v.Skill, v.SHA)
	if errors.Is(err, store.ErrNotFound) {
		return v.SHA, nil
	} else if err != nil {
		return "", err
	}
	return changeIn(c), nil
}

// OpenTrial returns the newest undecided trial of a change to the live text, nil for
// none. evolves selects the part, "" for any: a harness is tried on other cases than a
// description. A text that only lacks lines is on trial if its owner asked for it.
func OpenTrial(ctx context.Context, db *store.Store, live *skill.Live, evolves string) (*OnTrial, error) {
	all, err := Trials(ctx, db, live)
	if err != nil {
		return nil, err
	}
	for i := range all {
		t := &all[i]
		if !t.IsOpen() {
			continue
		}
		of := PartOf(t.With.Operator)
		if of == skill.Harness && OnlyDeletes(live.Doc, t.With.Text) {
			made, err := MadeBy(ctx, db, live.Name, t.Challenger)
			if err != nil {
				return nil, err
			}
			if made.Operator != record.Checked {
				of = skill.Shorten
			}
		}
		if evolves == "" || of == evolves {
			return t, nil
		}
	}
	return nil, nil
}

// TrialOf is the newest trial of a change that makes this text of the live one, nil for none.
func TrialOf(ctx context.Context, db *store.Store, live *skill.Live, sha string) (*OnTrial, error) {
	all, err := Trials(ctx, db, live)
	for i := range all {
		if t := &all[i]; t.Challenger == sha || t.With != nil && t.With.SHA == sha {
			return t, err
		}
	}
	return nil, err
}

// onTrial is the newest trial of a change to the live text that is the given one, nil for
// any.
func (s *Texts) onTrial(ctx context.Context, challenger *string) (*OnTrial, error) {
	if s.Live == nil {
		return nil, nil
	}
	trials, err := Trials(ctx, s.Store, s.Live)
	for i := range trials { // the newest first
		if t := &trials[i]; t.With != nil && (challenger == nil || *challenger == t.Challenger) {
			return t, err
		}
	}
	return nil, err
}

// with is the live text with the change of a trial.
func (s *Texts) with(ctx context.Context, t *OnTrial) (*Text, error) {
	label := fmt.Sprintf("%s candidate %s", s.Skill, plain.Short(t.Challenger))
	if t.With.SHA == t.Challenger {
		return s.text(ctx, label, t.With.SHA, t.With.Text)
	}
	out, err := s.text(ctx, label+" with your edits", t.With.SHA, t.With.Text)
	if err == nil {
		out.Change = t.Challenger
	}
	return out, err
}

// applied is the live text with the change of a challenger that is on trial, else new.
func (s *Texts) applied(ctx context.Context, new *Text) (*Text, error) {
	sha := new.SHA()
	t, err := s.onTrial(ctx, &sha)
	if t == nil || err != nil {
		return new, err
	}
	return s.with(ctx, t)
}
