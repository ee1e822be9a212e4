package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store/sqlite"
)

// SaveCases stores cases by (Skill, ID), all or none. added counts new cases, changed
// those whose content differs. A case that has a split keeps it, whatever the new one
// has: a case must never move from a split that the search has seen into the one that
// is held out from it.
//
// Cases of purged sessions are left out and not counted. So are cases that the owner
// has dropped, unless the new one was imported (or has no source), because then it is
// the owner's own decision.
func (s *Store) SaveCases(ctx context.Context, cases []eval.Case) (added, changed int, err error) {
	rows := make([]caseRow, len(cases))
	for i := range cases {
		if rows[i], err = newCaseRow(cases[i]); err != nil {
			return 0, 0, fmt.Errorf("save case %s: %w", cases[i].ID, err)
		}
	}
	now := s.now().UnixMicro()
	err = s.Do(ctx, func(t *tx) error {
		added, changed = 0, 0
		for _, r := range rows {
			a, c, err := r.save(t, now)
			if err != nil {
				return fmt.Errorf("case %s: %w", r.id, err)
			}
			added += a
			changed += c
		}
		return nil
	})
	if err != nil {
		return 0, 0, fmt.Errorf("save cases: %w", err)
	}
	return added, changed, nil
}

type caseRow struct {
	skill, id, session string
	split              eval.Split
	owners             bool // the owner, and not a harvest, brought it
	body               []byte
}

func newCaseRow(c eval.Case) (r caseRow, err error) {
	if c.ID == "" || c.Skill == "" {
		return r, errors.New("it has no id or no skill")
	}
	r = caseRow{skill: c.Skill, id: c.ID, split: c.Split}
	r.owners = c.Source == nil || c.Source.Origin == "imported"
	if c.Source != nil {
		r.session = c.Source.Session
	}
	c.Split = eval.Unassigned
	r.body, err = json.Marshal(c)
	return r, err
}

// save returns 1 for what it did, and 0 for the other.
func (r caseRow) save(t *tx, now int64) (added, changed int, err error) {
	gone, err := isPurged(t, r.session)
	if err != nil || gone {
		return 0, 0, err
	}
	var body []byte
	var dropped sql.NullInt64
	var split string
	had, err := t.Row(`SELECT body, dropped, split FROM cases WHERE skill = ? AND id = ?`,
		[]any{r.skill, r.id}, &body, &dropped, &split)
	switch {
	case err != nil:
		return 0, 0, err
	case !had:
		_, err = t.Exec(`INSERT INTO cases (skill, id, split, session, added, changed, body) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			r.skill, r.id, string(r.split), r.session, now, now, string(r.body))
		return 1, 0, err
	case dropped.Valid && !r.owners:
		return 0, 0, nil
	}
	if split == "" {
		split = string(r.split)
	}
	same := bytes.Equal(body, r.body)
	if same {
		_, err = t.Exec(`UPDATE cases SET split = ? WHERE skill = ? AND id = ?`, split, r.skill, r.id)
		return 0, 0, err
	}
	if err = keepPrint(t, r.skill, r.id); err != nil {
		return 0, 0, err
	}
	_, err = t.Exec(`UPDATE cases SET split = ?, session = ?, changed = ?, dropped = NULL, body = ?
		WHERE skill = ? AND id = ?`, split, r.session, now, string(r.body), r.skill, r.id)
	if dropped.Valid {
		return 1, 0, err
	}
	return 0, 1, err
}

func scanCase(rows *sql.Rows) (c eval.Case, err error) {
	var body sql.RawBytes
	var split string
	if err = rows.Scan(&body, &split); err != nil {
		return c, err
	}
	c, err = sqlite.Decode[eval.Case](body)
	c.Split = eval.Split(split)
	return c, err
}

// Cases returns a skill's cases by id; those of all skills if skill is "".
func (s *Store) Cases(ctx context.Context, skill string) ([]eval.Case, error) {
	cs, err := sqlite.Query(ctx, s.DB, scanCase, `SELECT body, split FROM cases
		WHERE (?1 = '' OR skill = ?1) AND dropped IS NULL ORDER BY skill, id`, skill)
	return cs, sqlite.Named(err, "list cases of %s", skill)
}

// Case returns one case; the error wraps ErrNotFound if there is none.
func (s *Store) Case(ctx context.Context, skill, id string) (*eval.Case, error) {
	cs, err := sqlite.Query(ctx, s.DB, scanCase, `SELECT body, split FROM cases
		WHERE skill = ? AND id = ? AND dropped IS NULL`, skill, id)
	if err == nil && len(cs) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("case %s of %s: %w", id, skill, err)
	}
	return &cs[0], nil
}

// DropCase removes a case. Its name and its print stay, without content, so that the
// next harvest does not bring it back, and so that a copy under another name does not
// count as evidence. The error wraps ErrNotFound if there is none.
func (s *Store) DropCase(ctx context.Context, skill, id string) error {
	now := s.now().UnixMicro()
	err := s.Do(ctx, func(t *tx) error {
		if err := keepPrint(t, skill, id); err != nil {
			return err
		}
		n, err := t.Exec(`UPDATE cases SET dropped = ?, recorded = NULL, body = '{}'
			WHERE skill = ? AND id = ? AND dropped IS NULL`, now, skill, id)
		if err == nil && n == 0 {
			err = ErrNotFound
		}
		return err
	})
	return sqlite.Named(err, "drop case %s of %s", id, skill)
}

// Teachers returns those of the cases that are known, dropped ones too: of these only the
// session is left. Their recordings are not returned.
func (s *Store) Teachers(ctx context.Context, skill string, ids []string) ([]eval.Case, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	cases, err := sqlite.Query(ctx, s.DB, func(rows *sql.Rows) (eval.Case, error) {
		var id, session string
		var body sql.RawBytes
		if err := rows.Scan(&id, &session, &body); err != nil {
			return eval.Case{}, err
		}
		c, err := sqlite.Decode[eval.Case](body)
		if c.ID == "" && session != "" {
			c.Source = &eval.Source{Session: session, Origin: "mined"}
		}
		c.ID, c.Skill = id, skill
		return c, err
	}, `SELECT id, coalesce(session, ''), body FROM cases WHERE skill = ? AND id IN (SELECT value FROM json_each(?)) ORDER BY id`, skill, string(list))
	return cases, sqlite.Named(err, "list cases of %s that taught", skill)
}

// SetSplits changes the splits of cases, by id, all or none. The error wraps
// ErrNotFound if a case does not exist.
func (s *Store) SetSplits(ctx context.Context, skill string, splits map[string]eval.Split) error {
	err := s.Do(ctx, func(t *tx) error {
		for id, split := range splits {
			n, err := t.Exec(`UPDATE cases SET split = ? WHERE skill = ? AND id = ? AND dropped IS NULL`,
				string(split), skill, id)
			if err == nil && n == 0 {
				err = ErrNotFound
			}
			if err != nil {
				return fmt.Errorf("case %s: %w", id, err)
			}
		}
		return nil
	})
	return sqlite.Named(err, "set splits of %s", skill)
}
