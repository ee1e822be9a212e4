package ingest

import (
	"context"
	"fmt"
	"slices"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/work"
	"github.com/skill-evolve/evolve/store"
)

// EarlierActs gives the turns of a session that is read again the acts that are stored of them, if
// level keeps less than was kept then: a lower level is for what the agent does from now on.
func EarlierActs(ctx context.Context, db *store.Store, level work.Level) func(s *harvest.Session) error {
	now := work.New(level, nil, nil)
	lower := func(a work.Act) bool { return !now.Keeps(a.Kind) }
	return func(s *harvest.Session) error {
		stored, err := db.Sessions(ctx, store.SessionFilter{ID: s.ID, Text: true, Work: true})
		if err != nil {
			return fmt.Errorf("read the stored acts: %w", err)
		}
		for _, was := range stored {
			for i := range min(len(was.Turns), len(s.Turns)) {
				is, was := &s.Turns[i], &was.Turns[i]
				if slices.ContainsFunc(was.Work, lower) && is.ID == was.ID && is.Time.Equal(was.Time) && is.Prompt == was.Prompt {
					is.Work = was.Work
				}
			}
		}
		return nil
	}
}
