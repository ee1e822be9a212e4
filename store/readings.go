package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/skill-evolve/evolve/harvest"
)

var _ harvest.Memory = (*Store)(nil)

// Recall implements harvest.Memory.
func (s *Store) Recall(ctx context.Context, key string) ([]byte, error) {
	found, err := query(ctx, s, func(rows *sql.Rows) (answer []byte, err error) {
		err = rows.Scan(&answer)
		return answer, err
	}, `SELECT body FROM readings WHERE key = ?`, key)
	if err != nil {
		return nil, fmt.Errorf("recall what a model read: %w", err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	return found[0], nil
}

// Remember implements harvest.Memory. Of a purged session nothing is kept.
func (s *Store) Remember(ctx context.Context, session, key string, answer []byte) error {
	at := s.now().UnixMicro()
	err := s.do(ctx, func(t *tx) error {
		gone, err := isPurged(t, session)
		if err != nil || gone {
			return err
		}
		_, err = t.exec(`INSERT INTO readings (key, session, at, body) VALUES (?, ?, ?, ?)
			ON CONFLICT (key) DO UPDATE SET session = excluded.session, at = excluded.at, body = excluded.body`,
			key, session, at, answer)
		return err
	})
	if err != nil {
		return fmt.Errorf("remember what a model read: %w", err)
	}
	return nil
}
