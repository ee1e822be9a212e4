package campaign

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
)

// Learned lets requests of these kinds hold a text of a skill; what is left are the cases
// that taught it and may not be sent.
func (r *Runner) Learned(ctx context.Context, db *store.Store, back *agent.Backends, kinds []string, name, sha string) (outgoing.Left, error) {
	by, err := candidate.ShownFor(ctx, db, name, sha)
	if err != nil {
		return nil, err
	}
	var all []eval.Case
	for _, of := range slices.Sorted(maps.Keys(by)) {
		teachers, err := db.Teachers(ctx, of, by[of])
		if err != nil {
			return nil, err
		}
		all = append(all, teachers...)
	}
	if len(all) == 0 {
		return nil, nil
	}
	return r.Control.Text(ctx, db, back, kinds, all)
}

// mayShow returns an error if a text that the run starts with learned from cases that may
// not be sent; or says what to do instead, "" for rejecting the text.
func (c *Campaign) mayShow(ctx context.Context, text, sha, or string) error {
	left, err := c.runner.Learned(ctx, c.db, c.back, agent.Requests, c.Config.Skill, sha)
	if err == nil && len(left) > 0 {
		err = left.Taught(fmt.Sprintf("%s %.12s", text, sha), cmp.Or(or, fmt.Sprintf("`evolve reject %s@%.12s`", c.Config.Skill, sha)))
	}
	return err
}
