package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store/sqlite"
	"github.com/skill-evolve/evolve/tournament/record"
)

// journal is the Journal of one run.
type journal struct {
	*Store
	run string
}

var _ record.Journal = (*journal)(nil)

// Journal returns the journal of the run named runID. Journals of several runs may be
// used at once.
func (s *Store) Journal(runID string) record.Journal { return &journal{s, runID} }

// Rollout implements eval.Recorder. The run's own row comes first. A rollout of another
// run is returned only if it is Done and has its text: a missing or void one measured nothing, and does
// not show whether a new one would be missing or void too.
func (j *journal) Rollout(ctx context.Context, key string) (*eval.Rollout, bool, error) {
	type found struct {
		eval.Rollout
		run string
	}
	rows, err := sqlite.Query(ctx, j.DB, func(rows *sql.Rows) (f found, err error) {
		var body sql.RawBytes
		if err = rows.Scan(&f.run, &body); err != nil {
			return f, err
		}
		f.Rollout, err = sqlite.Decode[eval.Rollout](body)
		return f, err
	}, `SELECT run, body FROM rollouts WHERE key = ?1 AND (run = ?2 OR status = ?3 AND body ->> '$.expired' IS NULL)
		ORDER BY run = ?2 DESC, id LIMIT 1`, key, j.run, string(eval.Done))
	if err != nil {
		return nil, false, fmt.Errorf("look up rollout %s: %w", key, err)
	}
	if len(rows) == 0 {
		return nil, false, nil
	}
	return &rows[0].Rollout, rows[0].run == j.run, nil
}

// SaveRollout implements eval.Recorder. The first rollout that this run saved under a
// key is kept. It is paid for, so it is stored even if ctx has ended.
func (j *journal) SaveRollout(ctx context.Context, r *eval.Rollout) error {
	body, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode rollout %s: %w", r.Key, err)
	}
	err = j.Do(context.WithoutCancel(ctx), func(t *tx) error {
		_, err := t.Exec(`INSERT INTO rollouts (key, run, candidate, case_id, arm, status, body)
			VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key, run) DO NOTHING`,
			r.Key, j.run, r.Candidate, r.CaseID, r.Arm, string(r.Status), string(body))
		return err
	})
	return sqlite.Named(err, "save rollout %s", r.Key)
}

// Completion implements eval.Recorder.
func (j *journal) Completion(ctx context.Context, key string) (*eval.Completion, error) {
	found, err := sqlite.First(sqlite.Query(ctx, j.DB, sqlite.ScanBody[eval.Completion],
		`SELECT body FROM completions WHERE run = ? AND key = ?`, j.run, key))
	return found, sqlite.Named(err, "look up completion %s", key)
}

// SaveCompletion implements eval.Recorder; the first one of a key is kept. It is paid
// for, so it is stored even if ctx has ended.
func (j *journal) SaveCompletion(ctx context.Context, key string, by eval.Spender, c *eval.Completion) error {
	body, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode completion %s: %w", key, err)
	}
	at := j.now().UnixMicro()
	err = j.Do(context.WithoutCancel(ctx), func(t *tx) error {
		_, err := t.Exec(`INSERT INTO completions (run, key, maker, at, body)
			VALUES (?, ?, ?, ?, ?) ON CONFLICT (run, key) DO NOTHING`,
			j.run, key, string(by), at, string(body))
		return err
	})
	return sqlite.Named(err, "save completion %s", key)
}

// SaveRun overwrites the run's state.
func (j *journal) SaveRun(ctx context.Context, r *record.Run) error {
	body, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode run %s: %w", r.ID, err)
	}
	err = j.Do(ctx, func(t *tx) error {
		_, err := t.Exec(`INSERT INTO runs (id, skill, status, started, body) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET skill = excluded.skill, status = excluded.status,
				started = excluded.started, body = excluded.body`,
			r.ID, r.Skill, string(r.Status), sqlite.Micros(r.Started), string(body))
		return err
	})
	return sqlite.Named(err, "save run %s", r.ID)
}

// SaveCandidate overwrites the candidate's state; a candidate is identified by its
// place (Run, Seq) in the order of proposals.
func (j *journal) SaveCandidate(ctx context.Context, c *record.Candidate) error {
	bare := *c
	bare.Text = nil
	body, err := json.Marshal(bare)
	if err != nil {
		return fmt.Errorf("encode candidate %s: %w", c.SHA, err)
	}
	err = j.Do(ctx, func(t *tx) error {
		_, err := t.Exec(`INSERT INTO candidates (run, seq, sha, text, body) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (run, seq) DO UPDATE SET sha = excluded.sha, text = excluded.text, body = excluded.body`,
			c.Run, c.Seq, c.SHA, c.Text, string(body))
		return err
	})
	return sqlite.Named(err, "save candidate %s", c.SHA)
}

// AppendEvent implements record.Journal; the first event of a (Run, Seq) is kept.
func (j *journal) AppendEvent(ctx context.Context, e record.Event) error {
	body, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode event %d of run %s: %w", e.Seq, e.Run, err)
	}
	err = j.Do(ctx, func(t *tx) error {
		_, err := t.Exec(`INSERT INTO events (run, seq, body) VALUES (?, ?, ?)
			ON CONFLICT (run, seq) DO NOTHING`, e.Run, e.Seq, string(body))
		return err
	})
	return sqlite.Named(err, "save event %d of run %s", e.Seq, e.Run)
}
