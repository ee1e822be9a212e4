package store

import (
	"context"
	"fmt"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store/sqlite"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Judged returns the skills with a held-out case that may call a judge. It does not
// decode the cases, so it includes a case that only quotes such a check.
func (s *Store) Judged(ctx context.Context) (map[string]bool, error) {
	names, err := sqlite.Query(ctx, s.DB, sqlite.ScanOne[string], `SELECT DISTINCT skill FROM cases WHERE dropped IS NULL AND split = ? AND instr(body, ?) > 0`, string(eval.Test), `"type":"`+string(eval.Judge)+`"`)
	if err != nil {
		return nil, fmt.Errorf("list skills with a judge: %w", err)
	}
	out := map[string]bool{}
	for _, name := range names {
		out[name] = true
	}
	return out, nil
}

// LastJudge is the judge that a run of the skill last tested against its owner's
// labels, by judge.Identity, "" if none was.
func (s *Store) LastJudge(ctx context.Context, skill string) (string, error) {
	last, err := s.LastCalibrations(ctx, skill, 1)
	if err != nil || len(last) == 0 {
		return "", err
	}
	return last[0].Judge, nil
}

// LastCalibrations are the results of the skill's last n runs that calibrated a judge,
// the newest first.
func (s *Store) LastCalibrations(ctx context.Context, skill string, n int) ([]record.Calibration, error) {
	last, err := sqlite.Query(ctx, s.DB, sqlite.ScanBody[record.Calibration],
		`SELECT c.body FROM calibrations c JOIN runs r ON r.id = c.run WHERE r.skill = ? ORDER BY c.at DESC, c.run DESC LIMIT ?`, skill, n)
	return last, sqlite.Named(err, "look up the judges of %s", skill)
}
