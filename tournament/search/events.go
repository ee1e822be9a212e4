package search

import "context"

// emit adds an event of the search.
func (s *State) emit(ctx context.Context, kind string, data map[string]any) error {
	var best *float64
	if len(s.pool.members) > 0 {
		if q, n := s.pool.members[s.best].Validation(); n > 0 {
			best = &q
		}
	}
	spent := s.Evaluator.Budget.Spent().Rollouts
	if s.turns.Several() { // which of those underway have ended depends on timing
		spent = s.ledger.Landed
	}
	return s.Log.Add(ctx, kind, spent, best, data)
}
