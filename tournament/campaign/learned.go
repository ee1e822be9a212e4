package campaign

import (
	"context"
	"fmt"

	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
)

// learned lets requests of these kinds hold a text of a skill; what is left are the cases
// that taught it and may not be sent. A version is its owner's, and so is what it was made
// from.
func (r *Runner) learned(ctx context.Context, db *store.Store, back *agent.Backends, kinds []string, name, sha string) (outgoing.Left, error) {
	texts := &candidate.Texts{Skill: name, Store: db}
	var err error
	if texts.Versions, err = db.Versions(ctx, name); err != nil {
		return nil, err
	}
	ids, err := texts.Shown(ctx, sha, func(sha string) bool { return texts.VersionOf(sha) != nil })
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	teachers, err := db.Teachers(ctx, name, ids)
	if err != nil {
		return nil, err
	}
	return r.Control.Text(ctx, db, back, kinds, teachers)
}

// mayShow returns an error if a text that the run starts with learned from cases that may
// not be sent.
func (c *Campaign) mayShow(ctx context.Context, text, sha string) error {
	left, err := c.runner.learned(ctx, c.db, c.back, agent.Requests, c.Config.Skill, sha)
	if err == nil && len(left) > 0 {
		err = left.Taught(fmt.Sprintf("%s %.12s", text, sha), fmt.Sprintf("`evolve reject %s@%.12s`", c.Config.Skill, sha))
	}
	return err
}
