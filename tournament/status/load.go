package status

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/report"
)

// runData reads a run, named by its id or a prefix of it, from the store. Errors:
// store.ErrNotFound, *store.AmbiguousError.
func runData(ctx context.Context, db *store.Store, run string) (*report.Data, error) {
	r, err := db.Run(ctx, run)
	if err != nil {
		return nil, fmt.Errorf("load report: %w", err)
	}
	d := &report.Data{Run: *r}
	if d.Candidates, err = db.Candidates(ctx, r.ID); err != nil {
		return nil, fmt.Errorf("load report: %w", err)
	}
	if d.Events, err = db.Events(ctx, r.ID); err != nil {
		return nil, fmt.Errorf("load report: %w", err)
	}
	if d.Rollouts, err = db.Rollouts(ctx, store.RolloutFilter{Run: r.ID}); err != nil {
		return nil, fmt.Errorf("load report: %w", err)
	}
	for _, sha := range measured(d) { // not all of the skill: years of nights
		rs, err := db.Rollouts(ctx, store.RolloutFilter{Candidate: sha, NotRun: r.ID})
		if err != nil {
			return nil, fmt.Errorf("load report: %w", err)
		}
		d.Reused = append(d.Reused, rs...)
	}
	if d.Cases, err = db.Cases(ctx, r.Skill); err != nil {
		return nil, fmt.Errorf("load report: %w", err)
	}
	for _, t := range []struct {
		sha     string
		text    *[]byte
		version **int
	}{{r.Incumbent, &d.Incumbent, &d.Version}, {r.Challenger, &d.Challenger, &d.Installed}} {
		if *t.text, err = textOf(ctx, db, r.Skill, t.sha); err != nil {
			return nil, fmt.Errorf("load report: %w", err)
		}
		switch v, err := db.VersionBySHA(ctx, r.Skill, t.sha); {
		case err == nil:
			*t.version = &v.N
		case !errors.Is(err, store.ErrNotFound):
			return nil, fmt.Errorf("load report: %w", err)
		}
	}
	d.Replies = map[eval.Spender][]eval.Completion{}
	for _, by := range []eval.Spender{eval.ByJudge, eval.ByMutator, eval.ByMiner} {
		if d.Replies[by], err = db.Completions(ctx, r.ID, by); err != nil {
			return nil, fmt.Errorf("load report: %w", err)
		}
	}
	if r.Challenger != "" {
		rec, err := db.Journal(r.ID).Trial(ctx, r.Skill, r.Tried().Base, r.Tried().Challenger)
		if err != nil {
			return nil, fmt.Errorf("load report: %w", err)
		}
		if rec != nil {
			if d.Trial, err = rec.Kept(); err == nil {
				d.Heard, err = rec.Heard()
			}
			if err != nil {
				return nil, fmt.Errorf("load report: %w", err)
			}
		}
	}
	return d, nil
}

// measured lists the texts on which a run may have a score.
func measured(d *report.Data) (out []string) {
	for _, c := range d.Candidates {
		if c.State == record.Seed || c.State == record.Pooled {
			out = append(out, c.SHA)
		}
	}
	for _, sha := range []string{d.Run.Incumbent, d.Run.Challenger} {
		if sha != "" && !slices.Contains(out, sha) {
			out = append(out, sha)
		}
	}
	return out
}

// textOf finds a text among candidates and versions; nil if neither has it.
func textOf(ctx context.Context, db *store.Store, skill, sha string) ([]byte, error) {
	if sha == "" {
		return nil, nil
	}
	c, err := db.Candidate(ctx, sha)
	if err == nil {
		return c.Text, nil
	} else if !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	v, err := db.VersionBySHA(ctx, skill, sha)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return v.Text, nil
}
