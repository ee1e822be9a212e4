// Package workers counts what the machines of a fleet did for the runs of this one.
package workers

import (
	"context"
	"database/sql"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/sqlite"
)

// A Share is what one worker did.
type Share struct {
	Rollouts int      `json:"rollouts"` // whose first attempt was its own
	Missing  int      `json:"missing"`  // of them without a result
	Unmade   int      `json:"unmade"`   // of others that it was given, or had a later attempt of
	CostUSD  *float64 `json:"cost_usd"` // of its rollouts; nil if no cost is known
}

// Shares are those of all workers that rollouts name, by their ids. A rollout that several
// runs use counts once.
func Shares(ctx context.Context, db *store.Store) (map[string]Share, error) {
	out := map[string]Share{}
	_, err := sqlite.Query(ctx, db.DB, func(rows *sql.Rows) (id string, err error) {
		var s Share
		if err = rows.Scan(&id, &s.Rollouts, &s.Missing, &s.CostUSD); err == nil {
			out[id] = s
		}
		return id, err
	}, `WITH all_of AS MATERIALIZED ( -- or whole bodies are sorted
			SELECT status, body ->> '$.worker' AS worker, coalesce(body ->> '$.cost_usd' + coalesce(body ->> '$.retry_usd', 0), body ->> '$.retry_usd') AS usd
			FROM rollouts AS r WHERE body ->> '$.worker' <> ''
				AND NOT EXISTS (SELECT 1 FROM rollouts AS o WHERE o.key = r.key AND o.status = r.status AND o.id < r.id))
		SELECT worker, count(*), sum(status = ?), sum(usd) FROM all_of GROUP BY worker`, string(eval.Missing))
	if err != nil {
		return nil, sqlite.Named(err, "count the rollouts of workers")
	}
	_, err = sqlite.Query(ctx, db.DB, func(rows *sql.Rows) (id string, err error) {
		var n int
		if err = rows.Scan(&id, &n); err == nil {
			s := out[id]
			s.Unmade = n
			out[id] = s
		}
		return id, err
	}, `SELECT value, count(DISTINCT rollouts.key) FROM rollouts, json_each(body, '$.tried') GROUP BY value`)
	return out, sqlite.Named(err, "count the rollouts of workers")
}
