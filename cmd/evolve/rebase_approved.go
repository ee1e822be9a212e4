package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament"
)

// rebaseApproved carries the approved candidates that no run has tried yet over to
// the live text, where that is another one than they were made from: a search that
// began with one as it is would lose what was written since. What comes of it goes
// to quarantine: an approval is for one text.
func (a *app) rebaseApproved(ctx context.Context, db *store.Store, live *skill.Live) error {
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
	all, err := candidacies(ctx, db, live.Name)
	if err != nil {
		return err
	}
	sha := live.Doc.Hash()
	for _, c := range all {
		if c.standing() != approvedWord || c.triedIn != "" || c.base == sha || c.SHA == sha || c.done(sha) {
			continue
		}
		run, err := db.Run(ctx, c.Run)
		if err != nil {
			return fmt.Errorf("read run %s: %w", c.Run, err)
		}
		r := &rebasing{Base: c.base, From: c.SHA, Onto: sha, Approved: true}
		switch v, err := db.VersionBySHA(ctx, live.Name, sha); {
		case err == nil && v.Author == "evolve":
			r.edit = "the live text"
		case err != nil && !errors.Is(err, store.ErrNotFound):
			return err
		}
		var earlier []string
		for _, k := range c.carried {
			earlier = append(earlier, k.Onto)
		}
		t := tournament.TrialRecord{Skill: live.Name, Incumbent: c.base, Challenger: c.SHA, Run: c.Run, Decision: neverTried, Simulated: run.Simulated}
		if err := a.rebaseOnce(ctx, db, live, t, r, earlier, false); err != nil {
			return fmt.Errorf("re-base candidate %.12s: %w", c.SHA, err)
		}
	}
	return nil
}

// done reports whether an approved candidate needs no re-basing on the live text: it
// was tried there, or what came of it on an earlier one waits for its owner's word.
func (c *candidacy) done(live string) bool {
	for _, k := range c.carried {
		if k.Onto == live || k.Outcome != dropped {
			return true
		}
	}
	return false
}

// nextElsewhere says what follows from the approval of a candidate that was made from
// another text than the live one.
func (c *candidacy) nextElsewhere(name string) string {
	const why = "it was made from another text than the live one"
	if len(c.carried) == 0 {
		return fmt.Sprintf("nothing yet: %s, and a run is at work; the next one re-bases it", why)
	}
	if k := c.carried[0]; k.Outcome == heldBack {
		return fmt.Sprintf("`evolve approve %s@%.12s` shows it with what the live text says: %s", name, k.To, why)
	}
	return fmt.Sprintf("nothing: %s, and %s", why, c.carried[0].Reason)
}

// wasInPlace reports whether a text has had its chance where the skill lives: it was
// live there, or was rolled back in another target. One that was only brought to
// another target waits here as before.
func wasInPlace(ctx context.Context, db *store.Store, live *skill.Live, sha string) (bool, error) {
	if _, err := db.VersionBySHA(ctx, live.Name, sha); errors.Is(err, store.ErrNotFound) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	home, err := live.Home()
	if err != nil {
		return false, err
	}
	installs, err := db.Installs(ctx, live.Name)
	if err != nil {
		return false, err
	}
	if _, back := rolledBackTexts(installs)[sha]; back {
		return true, nil
	}
	elsewhere := false
	for _, in := range installs {
		if in.Outcome != wasInstalled || in.To != sha {
			continue
		}
		if in.Path == home {
			return true, nil
		}
		elsewhere = true
	}
	return !elsewhere, nil // else its owner wrote it
}
