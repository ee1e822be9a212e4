package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store/sqlite"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A Judgement is what a judge found of two answers to a case, in both orders.
type Judgement struct {
	Key     string  // hash of the judge, the case and the answers
	Run     string  // that paid for it
	Skill   string  // of the case
	CaseID  string  // purging its session removes the judgement
	Quality float64 // 1: the answer with the lower SHA-256 is better, 0: the other, 0.5: neither
}

// Judgement returns what was recorded under key, nil for nothing.
func (s *Store) Judgement(ctx context.Context, key string) (*Judgement, error) {
	found, err := sqlite.First(sqlite.Query(ctx, s.DB, func(rows *sql.Rows) (j Judgement, err error) {
		err = rows.Scan(&j.Key, &j.Run, &j.Skill, &j.CaseID, &j.Quality)
		return j, err
	}, `SELECT key, run, skill, case_id, quality FROM judgements WHERE key = ?`, key))
	return found, sqlite.Named(err, "look up judgement")
}

// SaveJudgement stores a judgement; the first one of a key is kept. It is paid for, so
// it is stored even if ctx has ended.
func (s *Store) SaveJudgement(ctx context.Context, j Judgement) error {
	at := s.now().UnixMicro()
	err := s.Exec(context.WithoutCancel(ctx), `INSERT INTO judgements (key, run, skill, case_id, quality, passed, at)
			VALUES (?, ?, ?, ?, ?, 0, ?) ON CONFLICT (key) DO NOTHING`,
		j.Key, j.Run, j.Skill, j.CaseID, j.Quality, at)
	return sqlite.Named(err, "save judgement")
}

// Calibration returns a run's calibration of its judge, nil if it has none.
func (s *Store) Calibration(ctx context.Context, run string) (*record.Calibration, error) {
	found, err := sqlite.First(sqlite.Query(ctx, s.DB, sqlite.ScanBody[record.Calibration], `SELECT body FROM calibrations WHERE run = ?`, run))
	return found, sqlite.Named(err, "look up calibration of run %s", run)
}

// SaveCalibration stores a run's calibration of its judge; the first one is kept.
func (s *Store) SaveCalibration(ctx context.Context, run string, c record.Calibration) error {
	body, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode calibration of run %s: %w", run, err)
	}
	at := s.now().UnixMicro()
	err = s.Exec(ctx, `INSERT INTO calibrations (run, at, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, run, at, string(body))
	return sqlite.Named(err, "save calibration of run %s", run)
}

// Completions returns the replies that a run recorded of one spender, in no
// particular order.
func (s *Store) Completions(ctx context.Context, run string, by eval.Spender) ([]eval.Completion, error) {
	replies, err := sqlite.Query(ctx, s.DB, sqlite.ScanBody[eval.Completion], `SELECT body FROM completions WHERE run = ? AND maker = ?`, run, string(by))
	return replies, sqlite.Named(err, "list replies of run %s", run)
}

// Choice is which of two answers the owner preferred.
type Choice string

const (
	FirstBetter  Choice = "1"
	SecondBetter Choice = "2"
	Same         Choice = "="
)

// A Label is one blind comparison of two answers by the owner.
type Label struct {
	Skill  string    `json:"skill"`
	CaseID string    `json:"case"`
	First  string    `json:"first"`  // SHA-256 of the answer that was shown first
	Second string    `json:"second"` // SHA-256 of the other
	Choice Choice    `json:"choice"`
	Time   time.Time `json:"time"`
}

// SaveLabel stores a label, and replaces the owner's earlier label on the same two
// answers, in whatever order they were shown. The error for a label on a case that does
// not exist (any more) is ErrNotFound.
func (s *Store) SaveLabel(ctx context.Context, l Label) error {
	l.Time = s.now().UTC()
	body, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("encode label: %w", err)
	}
	err = s.Do(ctx, func(t *tx) error {
		var n int
		had, err := t.Row(`SELECT 1 FROM cases WHERE skill = ? AND id = ? AND dropped IS NULL`, []any{l.Skill, l.CaseID}, &n)
		if err == nil && !had {
			err = ErrNotFound
		}
		if err != nil {
			return err
		}
		if _, err := t.Exec(`DELETE FROM labels WHERE skill = ? AND case_id = ? AND first = ? AND second = ?`,
			l.Skill, l.CaseID, l.Second, l.First); err != nil {
			return err
		}
		_, err = t.Exec(`INSERT INTO labels (skill, case_id, first, second, at, body) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET at = excluded.at, body = excluded.body`,
			l.Skill, l.CaseID, l.First, l.Second, l.Time.UnixMicro(), string(body))
		return err
	})
	return sqlite.Named(err, "save label on case %s", l.CaseID)
}

// Labels returns the owner's labels on answers of a skill, the oldest first.
func (s *Store) Labels(ctx context.Context, skill string) ([]Label, error) {
	labels, err := sqlite.Query(ctx, s.DB, sqlite.ScanBody[Label], `SELECT body FROM labels WHERE skill = ? ORDER BY at, case_id, first, second`, skill)
	return labels, sqlite.Named(err, "list labels of %s", skill)
}

// Answers returns the rollouts of a case that have an answer, of any run and any
// text, the newest first.
func (s *Store) Answers(ctx context.Context, caseID string) ([]eval.Rollout, error) {
	rs, err := sqlite.Query(ctx, s.DB, sqlite.ScanBody[eval.Rollout], `SELECT body FROM rollouts
		WHERE case_id = ? AND status = ? ORDER BY id DESC`, caseID, string(eval.Done))
	return rs, sqlite.Named(err, "list answers of case %s", caseID)
}
