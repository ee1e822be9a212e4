package store

import (
	"context"
	"time"

	"github.com/skill-evolve/evolve/store/sqlite"
)

// A clock that is far ahead of the last one is believed after a day by its own count.
const (
	farAhead = 30 * 24 * time.Hour
	doubtFor = 24 * time.Hour
)

// Believes reports whether what depends on the age of things may be done at now: a laptop
// that wakes with a wrong clock must not make everything old at once. The first look at a
// clock that is far ahead of the one before is remembered, and a look at least a day after
// it is believed.
func (s *Store) Believes(ctx context.Context, now time.Time) (ok bool, err error) {
	err = s.Do(ctx, func(t *tx) error {
		var last, doubt int64
		had, err := t.Row(`SELECT seen, coalesce(doubted, 0) FROM clock`, nil, &last, &doubt)
		if err != nil {
			return err
		}
		seen, doubted := time.UnixMicro(last), time.UnixMicro(doubt)
		ok = !had || now.Sub(seen) <= farAhead || doubt != 0 && now.Sub(doubted) >= doubtFor && now.Sub(doubted) <= farAhead
		if ok {
			_, err = t.Exec(`INSERT INTO clock (id, seen) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET seen = ?1, doubted = NULL`, now.UnixMicro())
		} else if doubt == 0 || now.Before(doubted) || now.Sub(doubted) > farAhead {
			_, err = t.Exec(`UPDATE clock SET doubted = ?`, now.UnixMicro())
		}
		return err
	})
	return ok, sqlite.Named(err, "look at the clock")
}
