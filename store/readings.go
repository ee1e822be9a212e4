package store

import (
	"context"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/store/sqlite"
)

var _ harvest.Memory = (*Store)(nil)

// Recall implements harvest.Memory.
func (s *Store) Recall(ctx context.Context, key string) ([]byte, error) {
	found, err := sqlite.FirstOrZero(sqlite.Query(ctx, s.DB, sqlite.ScanOne[[]byte], `SELECT body FROM readings WHERE key = ?`, key))
	return found, sqlite.Named(err, "recall what a model read")
}

// Remember implements harvest.Memory. Nothing is stored for a purged session.
func (s *Store) Remember(ctx context.Context, session, key string, answer []byte) error {
	at := s.now().UnixMicro()
	err := s.Do(ctx, func(t *tx) error {
		gone, err := isPurged(t, session)
		if err != nil || gone {
			return err
		}
		_, err = t.Exec(`INSERT INTO readings (key, session, at, body) VALUES (?, ?, ?, ?)
			ON CONFLICT (key) DO UPDATE SET session = excluded.session, at = excluded.at, body = excluded.body`,
			key, session, at, answer)
		return err
	})
	return sqlite.Named(err, "remember what a model read")
}
