package work

import (
	"context"
	"time"

	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// edits reports what edits of live texts that were recorded since then mean for trials,
// whichever process of the night found them: the reason why a trial was closed must not be
// lost as a line on stderr at night.
func (s *Worker) edits(ctx context.Context, since time.Time) (out []sleep.Step, err error) {
	reg, err := ingest.Registry(ctx, s.Runner.Layout, s.Store)
	if err != nil {
		return nil, err
	}
	for _, e := range reg.Entries {
		live, err := s.Runner.Layout.Live(e.Name)
		if err != nil {
			continue // it cannot be read, and nothing was tried
		}
		v, err := s.Store.VersionBySHA(ctx, e.Name, live.Doc.Hash())
		if err != nil || v.Author == "evolve" || v.Created.Before(since) {
			continue
		}
		found, err := release.Edits(ctx, s.Store, live, v.Parent)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			k := sleep.Step{Kind: sleep.Edited, Skill: e.Name, Stage: sleep.Done, Note: f.Words, Began: v.Created, Ended: v.Created}
			if !f.Closed {
				k.Result = &sleep.Result{Challenger: f.Challenger}
			}
			out = append(out, k)
		}
	}
	return out, nil
}
