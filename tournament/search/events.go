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
	if s.lanes.all != nil { // what is underway has ended for some lane, or not yet
		spent = s.lanes.landed
	}
	return s.Log.Add(ctx, kind, spent, best, data)
}
