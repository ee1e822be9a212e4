package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store/sqlite"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Run returns a run by its id, or by a prefix of it that only one run has.
// Errors: ErrNotFound, *AmbiguousError.
func (s *Store) Run(ctx context.Context, id string) (*record.Run, error) {
	full, err := s.complete(ctx, "SELECT id FROM runs", "id", id)
	if err != nil {
		return nil, fmt.Errorf("run %q: %w", id, err)
	}
	r, err := s.oneRun(ctx, `SELECT body FROM runs WHERE id = ?`, full)
	if err == nil && r == nil {
		err = fmt.Errorf("run %q: %w", id, ErrNotFound)
	}
	return r, err
}

// An older evolve kept a row for each challenger that it carried over to an edit of the
// owner's. Nothing was run.
const ran = " AND substr(id, 1, 7) <> 'rebase-' "

// Runs returns a skill's runs, or all if skill is "", the newest first.
func (s *Store) Runs(ctx context.Context, skill string) ([]record.Run, error) {
	runs, err := sqlite.Query(ctx, s.DB, sqlite.ScanBody[record.Run],
		`SELECT body FROM runs WHERE (?1 = '' OR skill = ?1)`+ran+`ORDER BY started DESC, rowid DESC`, skill)
	return runs, sqlite.Named(err, "list runs")
}

// LatestRun returns a skill's newest run, nil if there is none.
func (s *Store) LatestRun(ctx context.Context, skill string) (*record.Run, error) {
	return s.oneRun(ctx, `SELECT body FROM runs WHERE skill = ?`+ran+`ORDER BY started DESC, rowid DESC LIMIT 1`, skill)
}

// UnfinishedRun returns a skill's newest run that can be resumed, nil if there is none.
// One that is still marked as running was killed, or another process is working on it.
func (s *Store) UnfinishedRun(ctx context.Context, skill string) (*record.Run, error) {
	return s.oneRun(ctx, `SELECT body FROM runs WHERE skill = ? AND status IN (?, ?, ?)
		ORDER BY started DESC, rowid DESC LIMIT 1`,
		skill, string(record.Running), string(record.Interrupted), string(record.Stopped))
}

func (s *Store) oneRun(ctx context.Context, q string, args ...any) (*record.Run, error) {
	found, err := sqlite.First(sqlite.Query(ctx, s.DB, sqlite.ScanBody[record.Run], q, args...))
	return found, sqlite.Named(err, "look up run")
}

// Candidates returns the candidates of a run in the order of their proposal,
// with their texts.
func (s *Store) Candidates(ctx context.Context, run string) ([]record.Candidate, error) {
	cs, err := sqlite.Query(ctx, s.DB, scanCandidate,
		`SELECT body, text FROM candidates WHERE run = ? ORDER BY seq`, run)
	return cs, sqlite.Named(err, "list candidates of run %s", run)
}

// Candidate returns the candidate whose SHA-256 is sha, or begins with it. If several
// runs recorded the text, the latest record is returned. Errors: ErrNotFound,
// *AmbiguousError.
func (s *Store) Candidate(ctx context.Context, sha string) (*record.Candidate, error) {
	full, err := s.complete(ctx, "SELECT DISTINCT sha FROM candidates", "sha", sha)
	if err != nil {
		return nil, fmt.Errorf("candidate %q: %w", sha, err)
	}
	cs, err := sqlite.Query(ctx, s.DB, scanCandidate,
		`SELECT body, text FROM candidates WHERE sha = ?
			ORDER BY (SELECT started FROM runs WHERE id = run) DESC, rowid DESC LIMIT 1`, full)
	if err != nil {
		return nil, fmt.Errorf("look up candidate %q: %w", sha, err)
	}
	if len(cs) == 0 {
		return nil, fmt.Errorf("candidate %q: %w", sha, ErrNotFound)
	}
	return &cs[0], nil
}

// Sightings returns every run's record of a text, the oldest run first: a candidate of
// one run may be the incumbent of the next.
func (s *Store) Sightings(ctx context.Context, sha string) ([]record.Candidate, error) {
	cs, err := sqlite.Query(ctx, s.DB, scanCandidate,
		`SELECT body, text FROM candidates WHERE sha = ? ORDER BY (SELECT started FROM runs WHERE id = run), rowid`, sha)
	return cs, sqlite.Named(err, "look up candidate %.12s", sha)
}

func scanCandidate(rows *sql.Rows) (c record.Candidate, err error) {
	var body sql.RawBytes
	var text []byte
	if err = rows.Scan(&body, &text); err != nil {
		return c, err
	}
	c, err = sqlite.Decode[record.Candidate](body)
	c.Text = text
	return c, err
}

// Events returns the events of a run in their order.
func (s *Store) Events(ctx context.Context, run string) ([]record.Event, error) {
	es, err := sqlite.Query(ctx, s.DB, sqlite.ScanBody[record.Event],
		`SELECT body FROM events WHERE run = ? ORDER BY seq`, run)
	return es, sqlite.Named(err, "list events of run %s", run)
}

// A RolloutFilter selects rollouts; a field that is empty selects all.
type RolloutFilter struct {
	Run       string  // the run that paid for them
	NotRun    string  // a run that did not
	Skill     string  // of that run
	Candidate string  // SHA-256
	Arm       *string // nil: any; a pointer to "" is the search
	Case      string
}

// Rollouts returns the rollouts that f selects, in the order in which they were saved.
// Two concurrent runs may both have measured one key; then both rows are returned.
func (s *Store) Rollouts(ctx context.Context, f RolloutFilter) ([]eval.Rollout, error) {
	var where []string
	var args []any
	and := func(cond string, arg any) {
		where = append(where, cond)
		args = append(args, arg)
	}
	if f.Run != "" {
		and("run = ?", f.Run)
	}
	if f.NotRun != "" {
		and("run <> ?", f.NotRun)
	}
	if f.Skill != "" {
		and("run IN (SELECT id FROM runs WHERE skill = ?)", f.Skill)
	}
	if f.Candidate != "" {
		and("candidate = ?", f.Candidate)
	}
	if f.Arm != nil {
		and("arm = ?", *f.Arm)
	}
	if f.Case != "" {
		and("case_id = ?", f.Case)
	}
	q := "SELECT body FROM rollouts"
	if len(where) > 0 {
		q += " WHERE " + strings.Join(where, " AND ")
	}
	rs, err := sqlite.Query(ctx, s.DB, sqlite.ScanBody[eval.Rollout], q+" ORDER BY id", args...)
	return rs, sqlite.Named(err, "list rollouts")
}

// complete returns the one name that begins with prefix; a name that equals prefix
// wins. from is a SELECT of the names in column col. Errors: ErrNotFound,
// *AmbiguousError.
func (s *Store) complete(ctx context.Context, from, col, prefix string, args ...any) (string, error) {
	if prefix == "" {
		return "", ErrNotFound
	}
	const enough = 4
	and := " WHERE "
	if strings.Contains(from, and) {
		and = " AND "
	}
	// A range, not LIKE or GLOB: prefix comes from outside and may hold wildcards.
	// char(0x10ffff) sorts after every character.
	q := fmt.Sprintf("%s%s%s >= ? AND %s < ? || char(0x10ffff) ORDER BY %s LIMIT %d", from, and, col, col, col, enough)
	names, err := sqlite.Query(ctx, s.DB, sqlite.ScanOne[string], q, append(slices.Clone(args), prefix, prefix)...)
	switch {
	case err != nil:
		return "", err
	case len(names) == 0:
		return "", ErrNotFound
	case len(names) == 1 || names[0] == prefix: // an exact match sorts first
		return names[0], nil
	}
	return "", &AmbiguousError{Prefix: prefix, Matches: names}
}
