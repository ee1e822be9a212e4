// Package subjects lists what of one kind the store knows.
package subjects

import (
	"context"

	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/sqlite"
)

// Of are the keys of the subjects of a kind, no skill, of which there is a version or a run, in
// order. Errors: the store's.
func Of(ctx context.Context, db *store.Store, kind subject.Kind) ([]string, error) {
	const query = `SELECT skill FROM versions WHERE skill >= ?1 || ':' AND skill < ?1 || ';' UNION SELECT skill FROM runs WHERE skill >= ?1 || ':' AND skill < ?1 || ';' ORDER BY 1`
	keys, err := sqlite.Query(ctx, db.DB, sqlite.ScanOne[string], query, string(kind)) // ";" comes after ":"
	return keys, sqlite.Named(err, "list subjects")
}
