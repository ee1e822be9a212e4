package rebase

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
)

// restart begins the trial of a re-based challenger without evidence. If that
// very text had a trial against the live one before (the owner has reverted
// an edit), that one continues.
func restart(ctx context.Context, db *store.Store, t *record.TrialRecord, c *record.Candidate, r *candidate.Carrying, now time.Time) (goesOn bool, err error) {
	barred, err := spentOn(ctx, db, t)
	if err != nil {
		return false, err
	}
	j := db.Journal(c.Run)
	old, err := j.Trial(ctx, t.Skill, r.Onto, c.SHA)
	if err != nil {
		return false, err
	}
	if old != nil && old.Decision == pareto.Reject {
		r.Outcome, r.Reason = candidate.Dropped, "with your edit it is a text that the gate has rejected"
		return false, nil
	}
	if old != nil {
		if changed, err := old.Exclude(barred); err != nil || !changed {
			return true, err
		}
		return true, j.SaveTrial(ctx, old)
	}
	next, err := record.Restart(t.Skill, r.Onto, c.SHA, c.Run, barred, now)
	if err != nil {
		return false, err
	}
	next.Simulated = t.Simulated
	return false, j.SaveTrial(ctx, next)
}

// spentOn lists the clusters that a trial has used up, interrupted ones
// included, and the fingerprints of their cases.
func spentOn(ctx context.Context, db *store.Store, t *record.TrialRecord) ([]string, error) {
	out, err := t.Used()
	if err != nil {
		return nil, err
	}
	spent, err := db.Journal("").SpentCases(ctx, t.Skill)
	if err != nil {
		return nil, err
	}
	cases, err := db.Cases(ctx, t.Skill)
	if err != nil {
		return nil, err
	}
	for i := range cases {
		if spent.On(&cases[i]) == t.Challenger {
			out = append(out, eval.ClusterOf(&cases[i]))
		}
	}
	return append(out, spent.PrintsOn(t.Challenger)...), nil
}

// excludeRelatives excludes from the open trials against the live text the
// clusters that were spent on an ancestor after it was re-based, because its
// run was resumed.
func (k *Rebaser) excludeRelatives(ctx context.Context, db *store.Store, name, live string, trials []record.TrialRecord) error {
	if busy, err := k.Locks.Working(name, skill.Harness, skill.Description); err != nil || busy {
		return err // what it has read of its trial must not change under it
	}
	for i := range trials {
		t := &trials[i]
		if t.Incumbent != live || !t.Decision.IsOpen() {
			continue
		}
		changed := false
		seen := map[string]bool{} // an edit that is taken back leads to the same text again
		for at := t.Challenger; !seen[at]; {
			seen[at] = true
			c, err := candidate.MadeBy(ctx, db, name, at)
			if errors.Is(err, store.ErrNotFound) || err == nil && !strings.HasPrefix(c.Run, candidate.CarryingPrefix) {
				break
			} else if err != nil {
				return err
			}
			run, err := db.Run(ctx, c.Run)
			if errors.Is(err, store.ErrNotFound) {
				break // another process is carrying it over: the run is saved last
			} else if err != nil {
				return err
			}
			var r candidate.Carrying
			if err := json.Unmarshal(run.Config, &r); err != nil {
				return fmt.Errorf("read run %s: %w", run.ID, err)
			}
			from := slices.IndexFunc(trials, func(u record.TrialRecord) bool { return u.Incumbent == r.Base && u.Challenger == r.From })
			if from < 0 || r.From == at {
				break
			}
			heard, err := spentOn(ctx, db, &trials[from])
			if err != nil {
				return err
			}
			more, err := t.Exclude(heard)
			if err != nil {
				return err
			}
			changed, at = changed || more, r.From
		}
		if !changed {
			continue
		}
		if err := db.Journal(t.Run).SaveTrial(ctx, t); err != nil {
			return err
		}
	}
	return nil
}
