// Package rebase carries waiting challengers over to a text that its owner
// has edited.
package rebase

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/harvest/hook/settings"
	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/store/lock"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release"
)

// A Rebaser carries challengers over to an edited text. It uses the store
// alone and may be called at any time: nothing is done twice.
type Rebaser struct {
	Store  *store.Store
	Locks  lock.Locks
	Outbox *settings.Outbox
	Now    func() time.Time
	Say    func(format string, args ...any)
}

// lock takes the lock of a run. A command that works on a copy of the database needs no
// lock: no other process writes to the copy.
func (k *Rebaser) lock(ctx context.Context, id string) (unlock func(), err error) {
	if k.Outbox.Access != datadir.Writes {
		return func() {}, nil
	}
	return k.Locks.Run(ctx, id, nil)
}

// Edited carries the waiting challengers over to the live text after its
// owner has edited it, one trial of each kind: see mutate.Rebase. before is
// the last known text, "" for none. Challengers that are no longer on trial
// stay in the store with the reason.
//
// It uses the store alone and may be called at any time: nothing is done
// twice, and a challenger that a process is trying right now is left for
// later.
func (k *Rebaser) Edited(ctx context.Context, live *skill.Live, before string) error {
	db := k.Store
	if live.HalfSaved() {
		return nil
	}
	sha := live.Doc.Hash()
	bases, err := editedFrom(ctx, db, live.Name, sha, before)
	if err != nil {
		return err
	}
	if err := k.Approved(ctx, live); err != nil {
		return err
	}
	trials, err := db.Trials(ctx, live.Name)
	if err != nil || len(trials) == 0 {
		return err
	}
	met := map[string]bool{} // kinds of challengers that nearer texts have
	for _, base := range bases {
		stale, err := inPlace(ctx, db, live, base, trials)
		if err != nil {
			return err
		}
		for _, t := range stale {
			r := &candidate.Carrying{Base: base, From: t.Challenger, Onto: sha}
			if err := k.rebaseOnce(ctx, db, live, t.TrialRecord, r, bases, met[t.kind]); err != nil {
				return fmt.Errorf("re-base challenger %.12s: %w", t.Challenger, err)
			}
		}
		for _, t := range stale {
			met[t.kind] = true
		}
	}
	return k.excludeRelatives(ctx, db, live.Name, sha, trials)
}

// rebaseOnce carries one challenger over, unless that was done, or another
// process does it or is trying the challenger. One that was dropped is tried
// again on the next text: an editor may have been half-way through a save. If
// superseded, it is not, because a later challenger has replaced it.
func (k *Rebaser) rebaseOnce(ctx context.Context, db *store.Store, live *skill.Live, t record.TrialRecord, r *candidate.Carrying, bases []string, superseded bool) error {
	if done, err := rebased(ctx, db, live.Name, r, bases); err != nil || done || superseded && r.Reason != "" {
		return err
	}
	if busy, err := k.Locks.Working(live.Name, skill.Harness, skill.Description); err != nil || busy {
		return err
	}
	id := r.Run(live.Name)
	for _, run := range []string{t.Run, id} {
		if busy, err := k.Locks.Running(run); err != nil || busy {
			return err
		}
	}
	// If another process restarts the trial, and perhaps begins it, it must
	// not be restarted again.
	unlock, err := k.lock(ctx, id)
	if err != nil {
		if busy, e := k.Locks.Running(id); e == nil && busy {
			return nil
		}
		return err
	}
	defer unlock()
	r.Reason = ""
	if done, err := rebased(ctx, db, live.Name, r, bases); err != nil || done {
		return err
	}
	return k.rebaseOne(ctx, db, live, t, r)
}

// editedFrom lists the texts, the newest first, from which the live one was
// made by its owner's edits alone.
func editedFrom(ctx context.Context, db *store.Store, name, sha, before string) (bases []string, err error) {
	add := func(base string) bool {
		if base == "" || base == sha || slices.Contains(bases, base) {
			return false
		}
		bases = append(bases, base)
		return true
	}
	add(before) // also if an older text was put back by hand
	for at := sha; ; {
		v, err := db.VersionBySHA(ctx, name, at)
		if errors.Is(err, store.ErrNotFound) || err == nil && (v.Author == "evolve" || v.Parent == "" || v.Parent == sha) {
			return bases, nil
		} else if err != nil {
			return nil, err
		}
		if !add(v.Parent) && v.Parent != before {
			return bases, nil
		}
		if at = v.Parent; at == sha {
			return bases, nil
		}
	}
}

// A standIn is the waiting challenger of its kind.
type standIn struct {
	record.TrialRecord
	kind string // "proved", or the part of a skill that it changes
}

// inPlace lists the waiting challengers of base: the newest that is proved
// and was never in place, and for each part of a skill the newest that is
// undecided. The proved one comes last: its trial will be the newest.
func inPlace(ctx context.Context, db *store.Store, live *skill.Live, base string, trials []record.TrialRecord) (out []standIn, err error) {
	const proved = "proved"
	kinds := map[string]bool{}
	for _, t := range trials { // the newest first
		if t.Incumbent != base || !t.Decision.IsOpen() && t.Decision != pareto.Promote {
			continue
		}
		if t.Decision == pareto.Promote {
			over, err := release.HadItsChance(ctx, db, live, t.Challenger)
			if err != nil {
				return nil, err
			}
			if !over && !kinds[proved] {
				kinds[proved], out = true, append(out, standIn{t, proved})
			}
			continue
		}
		c, err := candidate.MadeBy(ctx, db, live.Name, t.Challenger)
		if errors.Is(err, store.ErrNotFound) {
			continue
		} else if err != nil {
			return nil, err
		}
		if kind := candidate.PartOf(c.Operator); !kinds[kind] {
			kinds[kind], out = true, append(out, standIn{t, kind})
		}
	}
	rank := map[pareto.Verdict]int{pareto.Promising: 1, pareto.Promote: 2}
	slices.SortStableFunc(out, func(t, u standIn) int {
		return cmp.Or(rank[t.Decision]-rank[u.Decision], t.Updated.Compare(u.Updated))
	})
	return out, nil
}

// rebased reports whether the challenger of r was already carried over to the
// live text or to an earlier edit. If it was dropped on an earlier one, the
// result is false, and the reason is in r.
func rebased(ctx context.Context, db *store.Store, name string, r *candidate.Carrying, bases []string) (bool, error) {
	for _, onto := range append([]string{r.Onto}, bases...) {
		earlier := candidate.Carrying{Base: r.Base, From: r.From, Onto: onto}
		run, err := db.Run(ctx, earlier.Run(name))
		if errors.Is(err, store.ErrNotFound) {
			continue
		} else if err != nil {
			return false, err
		}
		var was candidate.Carrying
		if err := json.Unmarshal(run.Config, &was); err != nil {
			return false, fmt.Errorf("read run %s: %w", run.ID, err)
		}
		if onto == r.Onto || was.Outcome != candidate.Dropped || was.Reason == candidate.TakenByHand {
			return true, nil
		}
		r.Reason = cmp.Or(r.Reason, was.Reason)
	}
	return false, nil
}

// rebaseOne carries one challenger over, and returns a line about the result.
func (k *Rebaser) rebaseOne(ctx context.Context, db *store.Store, live *skill.Live, t record.TrialRecord, r *candidate.Carrying) error {
	name, now := live.Name, k.Now().UTC()
	id := r.Run(name)
	was, err := candidate.MadeBy(ctx, db, name, t.Challenger)
	if err != nil {
		return err
	}
	told := r.Reason // when it was dropped before
	r.Reason, r.Edit = "", cmp.Or(r.Edit, "your edit")
	c := &record.Candidate{Run: id, Seq: 1, Parents: []string{r.Onto, r.From}, Operator: candidate.CarriedHarness, Taught: was.Taught, Shown: was.Shown}
	if candidate.PartOf(was.Operator) == skill.Description {
		c.Operator = candidate.CarriedDescription
	}
	next, err := mergeEdit(ctx, db, live, was, r)
	if err != nil {
		return err
	}
	run := &record.Run{ID: id, Skill: name, Status: record.Finished, Incumbent: r.Onto, Simulated: t.Simulated, Started: now, Ended: now}
	j := db.Journal(id)
	if next != nil {
		c.SHA, c.Text = next.Hash(), next.Render()
		if err := k.admit(ctx, db, live, next, c, r); err != nil {
			return err
		}
		if c.SHA == r.From { // but for blanks, both changed the same: it is known, and no parent of its own
			c.Parents = c.Parents[:1]
		}
		if c.State != "" && (c.SHA != r.From || c.State != record.Pooled) {
			if err := j.SaveCandidate(ctx, c); err != nil {
				return err
			}
		}
	}
	trial := "starts again"
	if r.Outcome != candidate.Dropped {
		r.To = c.SHA
	}
	if r.Outcome == candidate.CarriedOver {
		goesOn, err := restart(ctx, db, &t, c, r, now)
		if err != nil {
			return err
		}
		if goesOn {
			trial = "goes on"
		}
	}
	who := fmt.Sprintf("challenger %.12s of %s", r.From, name)
	if r.Approved {
		who = "approved candidate" + strings.TrimPrefix(who, "challenger")
	}
	words := fmt.Sprintf("%s was re-based on %s as %.12s: its trial %s", who, r.Edit, c.SHA, trial)
	switch r.Outcome {
	case candidate.CarriedOver:
		run.Challenger = c.SHA
	case candidate.Dropped:
		r.To, r.Again = "", r.Reason == told
		words = fmt.Sprintf("%s was dropped: %s; `evolve diff %s@%.12s` shows it", who, r.Reason, name, r.From)
	case candidate.HeldBack:
		words = fmt.Sprintf("%s was re-based on %s as %.12s, and is in quarantine: %s; `evolve approve %s@%.12s` shows it",
			who, r.Edit, c.SHA, r.Reason, name, c.SHA)
	}
	run.Note = words
	if run.Config, err = json.Marshal(r); err != nil {
		return fmt.Errorf("encode it: %w", err)
	}
	if err := j.SaveRun(ctx, run); err != nil {
		return err
	}
	if !r.Again {
		k.Say("%s", k.Outbox.Access.Recorded(plain.Line(words)))
	}
	if k.Outbox.Access != datadir.Writes {
		return nil
	}
	if err := hook.Withdraw(string(k.Outbox.Dir), name, hook.Waiting); err != nil { // what was proved is proved no more
		return err
	}
	return k.Outbox.Guard(ctx, db, name)
}

// mergeEdit makes the re-based text; nil with the reason in r if there is
// none.
func mergeEdit(ctx context.Context, db *store.Store, live *skill.Live, was *record.Candidate, r *candidate.Carrying) (*skill.Document, error) {
	v, err := db.VersionBySHA(ctx, live.Name, r.Base)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	if err != nil || len(v.Text) == 0 || len(was.Text) == 0 {
		r.Outcome, r.Reason = candidate.Dropped, "its text, or the one that it was made from, is gone"
		return nil, nil
	}
	var docs [3]*skill.Document
	for i, text := range [][]byte{v.Text, live.Doc.Render(), was.Text} {
		if docs[i], err = skill.Parse(text, skill.OptionsFor(candidate.PartOf(was.Operator))); err != nil {
			r.Outcome, r.Reason = candidate.Dropped, plain.Line(err.Error())
			return nil, nil
		}
	}
	next, err := mutate.Rebase(docs[0], docs[1], docs[2])
	switch {
	case err != nil:
		r.Outcome, r.Reason = candidate.Dropped, strings.Replace(plain.Line(err.Error()), "your edit", r.Edit, 1)
		return nil, nil
	case next.Hash() == r.Onto:
		r.Outcome, r.Reason = candidate.Dropped, strings.Replace(candidate.TakenByHand, "your edit", r.Edit, 1)
		return nil, nil
	}
	return next, nil
}

// admit checks the re-based text as the search checks a proposal. r names
// rules only: a finding's quotation is stored with the candidate, so that a
// purge finds it.
func (k *Rebaser) admit(ctx context.Context, db *store.Store, live *skill.Live, next *skill.Document, c *record.Candidate, r *candidate.Carrying) error {
	ours, err := skill.Parse(live.Doc.Render(), next.Options())
	if err != nil {
		return err
	}
	said, err := db.Decisions(ctx, live.Name)
	if err != nil {
		return err
	}
	r.Outcome, c.State = candidate.CarriedOver, record.Pooled
	for _, f := range check.Check(ours, next, check.ClaudeCode) {
		switch {
		case f.Severity == check.Reject && c.State != record.Invalid:
			c.State, c.Rule, c.Reason = record.Invalid, f.Rule, f.String()
			r.Outcome, r.Reason = candidate.Dropped, f.Rule
		case f.Severity == check.Quarantine && c.State == record.Pooled:
			c.State, c.Rule, c.Reason = record.Quarantined, f.Rule, f.String()
			r.Outcome, r.Reason = candidate.HeldBack, f.Rule
		}
	}
	from, err := candidate.Of(ctx, db, live.Name, r.From)
	if err != nil {
		return err
	}
	if from != nil && from.Flagged && c.State == record.Pooled { // the owner's edit means the same: approval of the one is no approval of the other
		c.State, c.Rule, c.Reason = record.Quarantined, from.Rule, from.Reason
		r.Outcome, r.Reason = candidate.HeldBack, cmp.Or(from.Rule, from.Reason)
	}
	if said[c.SHA].Word == store.Rejected {
		c.State, r.Outcome, r.Reason = "", candidate.Dropped, "with your edit it is a text that you rejected"
	}
	return nil
}
