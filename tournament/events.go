package tournament

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
)

// emit appends an event to the journal.
func (s *search) emit(ctx context.Context, kind string, data map[string]any) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode event %s: %w", kind, err)
	}
	e := Event{Run: s.Run, Seq: s.events, Time: s.Now(), Kind: kind, Data: raw, Rollouts: s.Evaluator.Budget.Spent().Rollouts}
	if len(s.pool.members) > 0 {
		if q, n := s.pool.members[s.best].meanVal(); n > 0 && !math.IsNaN(q) {
			e.Best = &q
		}
	}
	s.events++
	if err := s.Journal.AppendEvent(ctx, e); err != nil {
		return fmt.Errorf("record event %s: %w", kind, err)
	}
	if s.OnEvent != nil {
		s.OnEvent(e)
	}
	return nil
}
