package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/work"
	"github.com/skill-evolve/evolve/store/sqlite"
)

// SaveSession stores a session with its invocations and what its agent did, and replaces
// an earlier one of the same ID and Path. A purged session is left out without an error; see Purged.
func (s *Store) SaveSession(ctx context.Context, ses *harvest.Session) error {
	err := s.saveSession(ctx, ses)
	return sqlite.Named(err, "save session %s", ses.ID)
}

func (s *Store) saveSession(ctx context.Context, ses *harvest.Session) error {
	if ses.ID == "" {
		return errors.New("it has no id")
	}
	if err := s.carryReadings(ctx, ses); err != nil {
		return err
	}
	turns, err := json.Marshal(ses.Turns)
	if err != nil {
		return err
	}
	headOf := *ses
	headOf.Turns = nil
	head, err := json.Marshal(headOf)
	if err != nil {
		return err
	}
	uses := make([]string, len(ses.Invocations))
	for i, inv := range ses.Invocations {
		b, err := json.Marshal(inv)
		if err != nil {
			return err
		}
		uses[i] = string(b)
	}
	acts := map[int]string{} // by turn
	for i, turn := range ses.Turns {
		b, err := json.Marshal(turn.Work)
		if err != nil {
			return err
		}
		if len(turn.Work) > 0 {
			acts[i] = string(b)
		}
	}
	return s.Do(ctx, func(t *tx) error {
		gone, err := isPurged(t, ses.ID)
		if gone {
			s.purgedPaths.Store(ses.Path, true)
		}
		if err != nil || gone {
			return err
		}
		// This deletes its invocations and acts too.
		if _, err := t.Exec(`DELETE FROM sessions WHERE id = ? AND path IN (?, ?)`, ses.ID, ses.Path, hashedPath(ses.Path)); err != nil {
			return err
		}
		_, err = t.Exec(`INSERT INTO sessions (id, path, agent, headless, started, head, turns) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			ses.ID, ses.Path, ses.Agent, ses.Headless, sqlite.Micros(ses.Started), string(head), string(turns))
		if err != nil {
			return err
		}
		for i, inv := range ses.Invocations {
			_, err := t.Exec(`INSERT INTO invocations (session, path, seq, id, skill, label, failed, at, body)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
				ses.ID, ses.Path, i, inv.ID, inv.Skill, string(inv.Feedback.Label), inv.Failed, sqlite.Micros(inv.Time), uses[i])
			if err != nil {
				return err
			}
		}
		for i, body := range acts {
			if _, err := t.Exec(`INSERT INTO acts (session, path, turn, body) VALUES (?, ?, ?, ?)`, ses.ID, ses.Path, i, body); err != nil {
				return err
			}
		}
		return nil
	})
}

// carryReadings gives the turns of a session that is read again what a model read of them:
// its transcript does not have that.
func (s *Store) carryReadings(ctx context.Context, ses *harvest.Session) error {
	old, err := sqlite.FirstOrZero(sqlite.Query(ctx, s.DB, sqlite.ScanBody[[]harvest.Turn],
		`SELECT turns FROM sessions WHERE id = ? AND path = ? AND expired IS NULL AND instr(turns, '"reading":') > 0`, ses.ID, ses.Path))
	if err != nil {
		return err
	}
	carried := false
	for i := range min(len(old), len(ses.Turns)) {
		if is, was := &ses.Turns[i], &old[i]; is.Reading == nil && was.Reading != nil && is.ID == was.ID && is.Prompt == was.Prompt && is.Answer == was.Answer {
			is.Reading, carried = was.Reading, true
		}
	}
	if carried {
		harvest.Assess(ses)
	}
	return nil
}

// SessionID returns the one session id that begins with prefix. Errors:
// ErrNotFound, *AmbiguousError.
func (s *Store) SessionID(ctx context.Context, prefix string) (string, error) {
	id, err := s.complete(ctx, "SELECT DISTINCT id FROM sessions", "id", prefix)
	if err != nil {
		return "", fmt.Errorf("session %q: %w", prefix, err)
	}
	return id, nil
}

// A SessionFilter selects sessions; a field that is empty selects all.
type SessionFilter struct {
	ID     string
	Agent  string
	Skill  string    // sessions that used it
	Since  time.Time // started then or later
	People bool      // leave out those that a program drove
	Text   bool      // leave out those whose text has expired
	// Bare leaves out Turns, which are nearly all of a session's bytes.
	Bare bool
	// Work adds the Work of the turns, which only checks of it need: it may be more than
	// all the rest.
	Work  bool
	Limit int // the newest so many
}

// Sessions returns the sessions that f selects, the newest first, those without a time
// last.
func (s *Store) Sessions(ctx context.Context, f SessionFilter) ([]harvest.Session, error) {
	var where []string
	var args []any
	and := func(cond string, arg ...any) {
		where = append(where, cond)
		args = append(args, arg...)
	}
	if f.ID != "" {
		and("id = ?", f.ID)
	}
	if f.Agent != "" {
		and("agent = ?", f.Agent)
	}
	if f.Skill != "" {
		and("(id, path) IN (SELECT session, path FROM invocations WHERE skill = ?)", f.Skill)
	}
	if !f.Since.IsZero() {
		and("started >= ?", f.Since.UnixMicro())
	}
	if f.People {
		and("NOT headless")
	}
	if f.Text {
		and("expired IS NULL")
	}
	turns, acts := "turns", "'null'"
	if f.Bare {
		turns = "'null'"
	} else if f.Work {
		acts = `(SELECT json_group_object(turn, json(body)) FROM acts WHERE acts.session = sessions.id AND acts.path = sessions.path)`
	}
	// Of a session whose text has expired, its live cases know the folders.
	q := "SELECT head, " + turns + ", " + acts + `, coalesce(CASE WHEN expired IS NOT NULL THEN (SELECT c.recorded -> '$.folders' FROM cases c
		WHERE c.session = sessions.id AND c.dropped IS NULL AND c.recorded -> '$.folders' IS NOT NULL LIMIT 1) END, 'null') FROM sessions`
	if len(where) > 0 {
		q += " WHERE " + strings.Join(where, " AND ")
	}
	q += " ORDER BY started DESC, id, path"
	if f.Limit > 0 {
		q += fmt.Sprintf(" LIMIT %d", f.Limit)
	}
	list, err := sqlite.Query(ctx, s.DB, func(rows *sql.Rows) (ses harvest.Session, err error) {
		var head, turns, acts, folders sql.RawBytes
		if err = rows.Scan(&head, &turns, &acts, &folders); err != nil {
			return ses, err
		}
		if ses, err = sqlite.Decode[harvest.Session](head); err != nil {
			return ses, err
		}
		if len(ses.Folders) == 0 {
			if ses.Folders, err = sqlite.Decode[[]string](folders); err != nil {
				return ses, err
			}
		}
		if ses.Turns, err = sqlite.Decode[[]harvest.Turn](turns); err != nil {
			return ses, err
		}
		did, err := sqlite.Decode[map[int][]work.Act](acts)
		for i := range ses.Turns {
			ses.Turns[i].Work = did[i]
		}
		return ses, err
	}, q, args...)
	return list, sqlite.Named(err, "list sessions")
}

// A Use is an invocation with its session and place.
type Use struct {
	harvest.Invocation
	Session  string // id
	Path     string // of the transcript
	Agent    string
	Headless bool `json:"-"` // in a session that a program drove, or by a subagent
}

// Invocations returns the uses of a skill, the oldest first: those that SkillUse
// counts, and those in sessions that a program drove. An agent that resumes a session
// copies its lines into a new file: such a use is returned once, from the session whose
// id sorts first. (The path of one whose text has expired is a hash.)
func (s *Store) Invocations(ctx context.Context, skill string) ([]Use, error) {
	uses, err := sqlite.Query(ctx, s.DB, func(rows *sql.Rows) (u Use, err error) {
		var body sql.RawBytes
		if err = rows.Scan(&u.Session, &u.Path, &u.Agent, &u.Headless, &body); err != nil {
			return u, err
		}
		u.Invocation, err = sqlite.Decode[harvest.Invocation](body)
		return u, err
	}, `SELECT session, path, agent, headless, body FROM (`+distinctUses+`) WHERE skill = ? ORDER BY at, session, path, seq`, skill)
	return uses, sqlite.Named(err, "list uses of %s", skill)
}

// distinctUses has one row for each use of a skill. Ids alone are not enough: those
// made of line numbers occur in several files, so the time must be equal too; without a
// time, only the file's own row is. (SQLite takes the other columns of a min() from the
// row that holds it: a person's session is first.)
const distinctUses = `SELECT i.*, s.agent, s.headless, min(s.headless || char(31) || i.session || char(31) || i.path || char(31) || i.seq)
	FROM invocations i JOIN sessions s ON s.id = i.session AND s.path = i.path
	WHERE NOT i.failed AND NOT (i.body ->> '$.signal' = 'dollar_mention' AND NOT i.body ->> '$.explicit')
	GROUP BY i.skill, i.id, coalesce(i.at, i.path || char(31) || i.seq)`
