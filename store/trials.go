package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/skill-evolve/evolve/store/sqlite"
	"github.com/skill-evolve/evolve/tournament/record"
)

// SaveTrial overwrites the state that r was read as, and numbers the trial if this
// begins it, in the same transaction. If the stored state is another one, nothing is
// changed and the error is a *record.TrialChangedError. Simulated evidence never
// replaces real evidence: that is an error.
func (j *journal) SaveTrial(ctx context.Context, r *record.TrialRecord) error {
	next := *r
	next.Revision++
	body, err := json.Marshal(&next)
	if err != nil {
		return fmt.Errorf("encode trial of %.12s: %w", r.Challenger, err)
	}
	err = j.Do(ctx, func(t *tx) error {
		var kept int64
		_, err := t.Row(`SELECT coalesce(body ->> '$.revision', 0) FROM trials WHERE skill = ? AND incumbent = ? AND challenger = ?`,
			[]any{r.Skill, r.Incumbent, r.Challenger}, &kept)
		if err == nil && kept != r.Revision {
			err = &record.TrialChangedError{Challenger: r.Challenger}
		}
		if err != nil {
			return err
		}
		n, err := t.Exec(`INSERT INTO trials (skill, incumbent, challenger, simulated, updated, body)
			VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (skill, incumbent, challenger) DO UPDATE
			SET simulated = excluded.simulated, updated = excluded.updated, body = excluded.body
			WHERE trials.simulated OR NOT excluded.simulated`,
			r.Skill, r.Incumbent, r.Challenger, r.Simulated, sqlite.Micros(r.Updated), string(body))
		if err == nil && n == 0 {
			err = errors.New("simulated evidence would replace real evidence")
		}
		if err != nil {
			return err
		}
		return number(t, r)
	})
	if err != nil {
		return fmt.Errorf("save trial of %.12s: %w", r.Challenger, err)
	}
	r.Revision = next.Revision
	return nil
}

// Trial implements record.Journal.
func (j *journal) Trial(ctx context.Context, skill, incumbent, challenger string) (*record.TrialRecord, error) {
	found, err := sqlite.First(sqlite.Query(ctx, j.DB, sqlite.ScanBody[record.TrialRecord],
		`SELECT body FROM trials WHERE skill = ? AND incumbent = ? AND challenger = ?`, skill, incumbent, challenger))
	return found, sqlite.Named(err, "look up trial of %.12s", challenger)
}

// Trials returns every trial of a skill, the latest updated first. One whose challenger
// the owner has rejected since is Withdrawn.
func (s *Store) Trials(ctx context.Context, skill string) ([]record.TrialRecord, error) {
	rows, err := sqlite.Query(ctx, s.DB, sqlite.ScanBody[record.TrialRecord],
		`SELECT body FROM trials WHERE skill = ? ORDER BY updated DESC, challenger`, skill)
	if err != nil {
		return nil, fmt.Errorf("list trials of %s: %w", skill, err)
	}
	said, err := s.Decisions(ctx, skill)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if said[rows[i].Challenger].Word == Rejected {
			rows[i].Decision = Withdrawn
		}
	}
	return rows, nil
}
