package store

import (
	"context"
	"database/sql"

	"github.com/skill-evolve/evolve/store/sqlite"
	"github.com/skill-evolve/evolve/tournament/record"
)

// number gives a trial that has begun its number, and each further round another one. A
// trial that has one keeps it: numbers are never reused.
func number(t *tx, r *record.TrialRecord) error {
	round, begun := r.Begun()
	if !begun {
		return nil
	}
	_, err := t.Exec(`INSERT INTO trial_numbers (skill, number, incumbent, challenger, round, simulated, proved, before)
		SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3, ?4, ?5, 0, count(*) FILTER (WHERE proved AND simulated = ?5)
		FROM trial_numbers WHERE skill = ?1
		ON CONFLICT DO NOTHING`, r.Skill, r.Incumbent, r.Challenger, round, r.Simulated)
	return err
}

const trialNumber = `SELECT number, incumbent, challenger, round, simulated, proved, before FROM trial_numbers WHERE skill = ?`

func scanNumber(rows *sql.Rows) (n record.TrialNumber, err error) {
	err = rows.Scan(&n.Number, &n.Incumbent, &n.Challenger, &n.Round, &n.Simulated, &n.Proved, &n.Before)
	return n, err
}

// TrialNumber implements record.Journal.
func (s *Store) TrialNumber(ctx context.Context, skill, incumbent, challenger string, round int) (*record.TrialNumber, error) {
	found, err := sqlite.First(sqlite.Query(ctx, s.DB, scanNumber, trialNumber+` AND incumbent = ? AND challenger = ? AND round = ?`, skill, incumbent, challenger, round))
	return found, sqlite.Named(err, "look up the number of trial %.12s", challenger)
}

// TrialNumbers returns every trial of a skill that was ever begun, in order, including
// those with no other record left.
func (s *Store) TrialNumbers(ctx context.Context, skill string) ([]record.TrialNumber, error) {
	all, err := sqlite.Query(ctx, s.DB, scanNumber, trialNumber+` ORDER BY number`, skill)
	return all, sqlite.Named(err, "list the numbers of the trials of %s", skill)
}

// prove permanently marks trials as promotions at the level of their number.
func prove(t *tx, skill string, numbers []int) error {
	for _, n := range numbers {
		if _, err := t.Exec(`UPDATE trial_numbers SET proved = 1 WHERE skill = ? AND number = ? AND NOT proved`, skill, n); err != nil {
			return err
		}
	}
	return nil
}
