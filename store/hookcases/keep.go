package hookcases

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval/guard"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/sqlite"
)

// A known case is one that is stored.
type known struct {
	session string
	label   guard.Label
}

// Keep stores what is new among the cases of sessions, and returns how many that is. Inputs and words are
// redacted here. Nothing is stored of a session that was not harvested, whose text has expired
// or that was purged, nor of one whose folder has a secret in its name, because nobody could
// allow that. A call that another session has, of which this one is a fork, is left out. A call
// that was to go on can become one to stop, and not the other way round.
func Keep(ctx context.Context, db *store.Store, red redact.Redactor, sessions []Session) (n int, err error) {
	have, err := stored(ctx, db)
	if err != nil {
		return 0, err
	}
	for i := range sessions {
		s := &sessions[i]
		secrets := redact.NewSession(red)
		if !plain(secrets, s) {
			continue
		}
		var rows []row
		for _, c := range s.Cases {
			key := keyOf(s.Agent, &c)
			old, is := have[key]
			if c.Call == "" || is && (old.session != s.ID || old.label == c.Label || old.label == guard.Stop) {
				continue
			}
			r, err := rowOf(s, &c, secrets)
			if err != nil {
				return n, fmt.Errorf("keep cases of session %s: %w", s.ID, err)
			}
			rows = append(rows, r)
			have[key] = known{s.ID, c.Label}
		}
		more, err := save(ctx, db, s, rows)
		if err != nil {
			return n, sqlite.Named(err, "keep cases of session %s", s.ID)
		}
		n += more
	}
	return n, nil
}

func keyOf(agent string, c *Case) [3]string { return [3]string{agent, c.Call, c.Event} }

func stored(ctx context.Context, db *store.Store) (map[[3]string]known, error) {
	have := map[[3]string]known{}
	_, err := sqlite.Query(ctx, db.DB, func(rows *sql.Rows) (none struct{}, err error) {
		var key [3]string
		var k known
		err = rows.Scan(&key[0], &key[1], &key[2], &k.session, &k.label)
		have[key] = k
		return none, err
	}, `SELECT agent, call, event, session, label FROM hook_cases`)
	return have, sqlite.Named(err, "list cases of hooks")
}

// plain reports whether the names of a session's folders hold no secret, and none was taken out.
func plain(red redact.Redactor, s *Session) bool {
	for _, dir := range append([]string{s.Project}, s.Folders...) {
		if _, n := red.Redact(dir); n > 0 || strings.Contains(dir, "[redacted:") {
			return false
		}
	}
	return true
}

// A row is a case as it is stored.
type row struct {
	*Case
	fault string
	body  []byte
}

func rowOf(s *Session, c *Case, red redact.Redactor) (r row, err error) {
	kept := *c
	r.Case = &kept
	kept.Input, r.fault = fit(c.Input, red)
	b := body{Source: c.Source, From: c.From, Project: s.Project, Folders: s.Folders}
	b.Rule, _ = harvest.Clean(red, c.Rule)
	b.Words, _ = harvest.Clean(red, c.Words)
	kept.Tool, _ = harvest.Clean(red, c.Tool)
	r.body, err = json.Marshal(b)
	return r, err
}

// save stores rows in one transaction, if the session has text, and what is known by now of
// when it began and ended.
func save(ctx context.Context, db *store.Store, s *Session, rows []row) (n int, err error) {
	err = db.Do(ctx, func(t *sqlite.Tx) error {
		n = 0
		var is int
		if has, err := t.Row(`SELECT 1 FROM sessions WHERE agent = ? AND id = ? AND expired IS NULL LIMIT 1`, []any{s.Agent, s.ID}, &is); err != nil || !has {
			return err
		}
		for _, r := range rows {
			_, err := t.Exec(`INSERT INTO hook_cases (agent, session, call, event, tool, at, label, fault, input, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
				ON CONFLICT (agent, session, call, event) DO UPDATE SET label = excluded.label, body = excluded.body`,
				s.Agent, s.ID, r.Call, r.Event, r.Tool, sqlite.Micros(r.Time), string(r.Label), r.fault, string(r.Input), string(r.body))
			if err != nil {
				return err
			}
			n++
		}
		first, last := sqlite.Micros(s.First), sqlite.Micros(s.Last)
		_, err := t.Exec(`UPDATE hook_cases SET first = ?3, last = ?4 WHERE agent = ?1 AND session = ?2 AND (first IS NOT ?3 OR last IS NOT ?4)`, s.Agent, s.ID, first, last)
		return err
	})
	return n, err
}
