package rebase

import (
	"context"
	"errors"
	"fmt"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Approved carries the approved candidates that no run has tried yet over to
// the live text, if they were made from another one: a search that began with
// such a candidate unchanged would lose what was written since. The result
// goes to quarantine: an approval is for one text.
func (k *Rebaser) Approved(ctx context.Context, live *skill.Live) error {
	db := k.Store
	words, err := db.Decisions(ctx, live.Name)
	if err != nil {
		return err
	}
	some := false
	for _, d := range words {
		some = some || d.Word == store.Approved
	}
	if !some {
		return nil
	}
	all, err := candidate.All(ctx, db, live.Name)
	if err != nil {
		return err
	}
	sha := live.Doc.Hash()
	for _, c := range all {
		if c.Standing() != candidate.Approved || c.TriedIn != "" || c.Base == sha || c.SHA == sha || c.Carried(sha) {
			continue
		}
		run, err := db.Run(ctx, c.Run)
		if err != nil {
			return fmt.Errorf("read run %s: %w", c.Run, err)
		}
		r := &candidate.Carrying{Base: c.Base, From: c.SHA, Onto: sha, Approved: true}
		switch v, err := db.VersionBySHA(ctx, live.Name, sha); {
		case err == nil && v.Author == "evolve":
			r.Edit = "the live text"
		case err != nil && !errors.Is(err, store.ErrNotFound):
			return err
		}
		var earlier []string
		for _, was := range c.Carryings {
			earlier = append(earlier, was.Onto)
		}
		t := record.TrialRecord{Skill: live.Name, Incumbent: c.Base, Challenger: c.SHA, Run: c.Run, Decision: candidate.NeverTried, Simulated: run.Simulated}
		if err := k.rebaseOnce(ctx, db, live, t, r, earlier, false); err != nil {
			return fmt.Errorf("re-base candidate %.12s: %w", c.SHA, err)
		}
	}
	return nil
}
