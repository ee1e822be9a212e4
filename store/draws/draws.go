// Package draws stores how turns are drawn that become cases of a subject.
package draws

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/skill-evolve/evolve/harvest/moments"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/sqlite"
)

// Of is the draw of a subject, nil if none was made.
func Of(ctx context.Context, db *store.Store, subject string) (*moments.Draw, error) {
	found, err := sqlite.Query(ctx, db.DB, sqlite.ScanBody[moments.Draw], `SELECT body FROM draws WHERE subject = ?`, subject)
	if err != nil || len(found) == 0 {
		return nil, sqlite.Named(err, "load the draw of %s", subject)
	}
	return &found[0], nil
}

// All are the draws of all subjects.
func All(ctx context.Context, db *store.Store) ([]moments.Draw, error) {
	all, err := sqlite.Query(ctx, db.DB, sqlite.ScanBody[moments.Draw], `SELECT body FROM draws ORDER BY subject`)
	return all, sqlite.Named(err, "list draws")
}

// Keep stores d. The coin of a subject is made once: if another process has made one
// meanwhile, d gets its seed.
func Keep(ctx context.Context, db *store.Store, d *moments.Draw) error {
	err := db.Do(ctx, func(t *sqlite.Tx) error {
		var body []byte
		had, err := t.Row(`SELECT body FROM draws WHERE subject = ?`, []any{d.Subject}, &body)
		if err != nil {
			return err
		}
		if had {
			old, err := sqlite.Decode[moments.Draw](body)
			if err != nil {
				return err
			}
			d.Seed, d.Made = old.Seed, old.Made
		}
		if body, err = json.Marshal(d); err != nil {
			return err
		}
		_, err = t.Exec(`INSERT OR REPLACE INTO draws (subject, body) VALUES (?, ?)`, d.Subject, string(body))
		return err
	})
	if err != nil {
		return fmt.Errorf("keep the draw of %s: %w", d.Subject, err)
	}
	return nil
}
