package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/skill-evolve/evolve/eval"
)

// ForgetMissing removes the run's missing rollouts, so that a run that the
// infrastructure stopped tries them again when it is resumed. In the same transaction
// it stores what is known of them: records of their agent's calls, by name (see
// eval.LostRecord). It returns how many rollouts it removed.
func (s *Store) ForgetMissing(ctx context.Context, run string, kept map[string]*eval.Completion) (int, error) {
	bodies := make(map[string]string, len(kept))
	for name, c := range kept {
		body, err := json.Marshal(c)
		if err != nil {
			return 0, fmt.Errorf("encode what was lost of run %s: %w", run, err)
		}
		bodies[name] = string(body)
	}
	at, n := s.now().UnixMicro(), int64(0)
	err := s.Do(ctx, func(t *tx) (err error) {
		for name, body := range bodies {
			if _, err := t.Exec(`INSERT INTO completions (run, key, maker, at, body)
				VALUES (?, ?, ?, ?, ?) ON CONFLICT (run, key) DO NOTHING`, run, name, string(eval.ByAgent), at, body); err != nil {
				return err
			}
		}
		n, err = t.Exec(`DELETE FROM rollouts WHERE run = ? AND status = ?`, run, string(eval.Missing))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("forget missing rollouts of run %s: %w", run, err)
	}
	return int(n), nil
}
