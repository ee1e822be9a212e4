// Package replies finds what a model has replied to the same prompt in any run.
package replies

import (
	"context"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/sqlite"
)

// To is the oldest reply that is recorded by a key, which names model and prompt (see
// eval.Metered.Key); nil if there is none.
func To(ctx context.Context, db *store.Store, key string) (*eval.Completion, error) {
	found, err := sqlite.First(sqlite.Query(ctx, db.DB, sqlite.ScanBody[eval.Completion],
		`SELECT body FROM completions WHERE key = ? ORDER BY at LIMIT 1`, key))
	return found, sqlite.Named(err, "look up completion %s", key)
}
