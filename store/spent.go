package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/content"
	"github.com/skill-evolve/evolve/store/frozen"
	"github.com/skill-evolve/evolve/store/sqlite"
	"github.com/skill-evolve/evolve/tournament/record"
)

// SpendCase implements record.Journal. Spending a case again on the same challenger
// changes nothing; on another one it is a *record.SpentError.
func (j *journal) SpendCase(ctx context.Context, skill, incumbent, challenger, caseID, print string) error {
	err := j.Do(ctx, func(t *tx) error {
		_, err := t.Exec(`INSERT INTO spent (skill, incumbent, case_id, challenger) VALUES (?, ?, ?, ?)
			ON CONFLICT DO NOTHING`, skill, incumbent, caseID, challenger)
		if err != nil {
			return err
		}
		if print != "" {
			_, err = t.Exec(`INSERT INTO spent_prints (skill, incumbent, print, challenger) VALUES (?, ?, ?, ?)
				ON CONFLICT DO NOTHING`, skill, incumbent, print, challenger)
			if err != nil {
				return err
			}
		}
		var on string
		other, err := t.Row(`SELECT challenger FROM spent WHERE skill = ?1 AND case_id = ?2 AND challenger <> ?4
			UNION ALL SELECT challenger FROM spent_prints WHERE skill = ?1 AND print = ?3 AND challenger <> ?4 LIMIT 1`,
			[]any{skill, caseID, print, challenger}, &on)
		if err == nil && other {
			err = &record.SpentError{Case: caseID, On: on}
		}
		return err
	})
	return sqlite.Named(err, "spend case %s", caseID)
}

// SpentCases implements record.Journal.
func (j *journal) SpentCases(ctx context.Context, skill string) (*record.Spent, error) {
	out, err := j.spentCases(ctx, skill)
	return out, sqlite.Named(err, "list spent cases of %s", skill)
}

func (j *journal) spentCases(ctx context.Context, skill string) (*record.Spent, error) {
	out := &record.Spent{By: map[string]string{}, ByPrint: map[string]string{}, Read: map[string]bool{}}
	keys, err := sqlite.Query(ctx, j.DB, sqlite.ScanOne[[]byte], `SELECT key FROM print_key`)
	if err != nil || len(keys) != 1 {
		return nil, errors.Join(err, keyMissing(len(keys)))
	}
	out.Key = keys[0]
	type row struct{ name, challenger string }
	_, err = sqlite.Query(ctx, j.DB, func(rows *sql.Rows) (r row, err error) {
		err = rows.Scan(&r.name, &r.challenger)
		out.ByPrint[r.name] = r.challenger
		return r, err
	}, `SELECT print, challenger FROM spent_prints WHERE skill = ?`, skill)
	if err != nil {
		return nil, err
	}
	_, err = sqlite.Query(ctx, j.DB, func(rows *sql.Rows) (r row, err error) {
		var body sql.RawBytes
		if err = rows.Scan(&r.name, &r.challenger, &body); err != nil {
			return r, err
		}
		out.By[r.name] = r.challenger
		if body == nil { // the case is gone
			return r, nil
		}
		// An older evolve did not store prints of the cases that it spent.
		c, err := sqlite.Decode[eval.Case](body)
		if p := content.Print(out.Key, &c); err == nil && p != "" && out.ByPrint[p] == "" {
			out.ByPrint[p] = r.challenger
		}
		return r, err
	}, `SELECT case_id, challenger, body FROM spent LEFT JOIN cases ON cases.skill = spent.skill AND id = case_id
		WHERE spent.skill = ?`, skill)
	if err != nil {
		return nil, err
	}
	_, err = sqlite.Query(ctx, j.DB, func(rows *sql.Rows) (p string, err error) {
		err = rows.Scan(&p)
		out.Read[p] = true
		return p, err
	}, `SELECT print FROM read_prints WHERE skill = ?`, skill)
	if err == nil {
		out.Frozen, err = frozen.Of(ctx, j.DB)
	}
	return out, err
}

func keyMissing(n int) error {
	if n == 1 {
		return nil
	}
	return fmt.Errorf("the database has %d keys of prints, want 1", n)
}

// keepPrint stores the print of a case before the case is removed, if it was spent or a
// search may have read it. It does nothing for a case without a print.
func keepPrint(t *tx, skill, id string) error {
	var body, key []byte
	var split string
	had, err := t.Row(`SELECT body, split, key FROM cases, print_key WHERE skill = ? AND cases.id = ?`, []any{skill, id}, &body, &split, &key)
	if err != nil || !had {
		return err
	}
	c, err := sqlite.Decode[eval.Case](body)
	if err != nil {
		return err
	}
	print := content.Print(key, &c)
	if print == "" {
		return nil // dropped: it was stored then
	}
	_, err = t.Exec(`INSERT INTO spent_prints (skill, incumbent, print, challenger)
		SELECT skill, incumbent, ?3, challenger FROM spent WHERE skill = ?1 AND case_id = ?2 ON CONFLICT DO NOTHING`, skill, id, print)
	if s := eval.Split(split); err == nil && (s == eval.Train || s == eval.Val) {
		_, err = t.Exec(`INSERT INTO read_prints (skill, print) VALUES (?, ?) ON CONFLICT DO NOTHING`, skill, print)
	}
	return err
}
