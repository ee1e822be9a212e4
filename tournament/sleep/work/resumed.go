package work

import (
	"context"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament/status"
)

// Spent adds up the records of a run whose process was killed before it could
// report; zero for a run without records.
func (s *Worker) Spent(ctx context.Context, id string) (eval.Spent, error) {
	return status.SpentSoFar(ctx, s.Store, id)
}
