package store

import (
	"context"
	"encoding/json"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/store/sqlite"
)

var _ harvest.Memory = (*Store)(nil)

// grouped is true for answers about rules in one group with a rule of session ?1: they may quote it.
const grouped = ` key GLOB '` + harvest.GroupKey + `*' AND body IN (SELECT body FROM readings WHERE session = ?1 AND key GLOB '` + harvest.GroupKey + `*' AND substr(body, 1, 1) = x'7b') `

// Recall implements harvest.Memory.
func (s *Store) Recall(ctx context.Context, key string) ([]byte, error) {
	found, err := sqlite.FirstOrZero(sqlite.Query(ctx, s.DB, sqlite.ScanOne[[]byte], `SELECT body FROM readings WHERE key = ?`, key))
	return found, sqlite.Named(err, "recall what a model read")
}

// Remember implements harvest.Memory. Nothing is stored for a purged session, and no words
// of one whose text has expired meanwhile.
func (s *Store) Remember(ctx context.Context, session, key string, answer []byte) error {
	at := s.now().UnixMicro()
	err := s.Do(ctx, func(t *tx) error {
		gone, err := isPurged(t, session)
		if err != nil || gone {
			return err
		}
		if len(answer) > 0 && answer[0] == '{' {
			var all, kept int
			if _, err := t.Row(`SELECT count(*), count(*) FILTER (WHERE expired IS NULL) FROM sessions WHERE id = ?`, []any{session}, &all, &kept); err != nil || all > 0 && kept == 0 {
				return err
			}
		}
		_, err = t.Exec(`INSERT INTO readings (key, session, at, body) VALUES (?, ?, ?, ?)
			ON CONFLICT (key) DO UPDATE SET session = excluded.session, at = excluded.at, body = excluded.body`,
			key, session, at, answer)
		return err
	})
	return sqlite.Named(err, "remember what a model read")
}

// SaveReadings stores the readings of a session that was loaded earlier, and the labels of
// its invocations, and nothing else of it: another process may have stored more of the
// session meanwhile. A turn that has changed keeps the reading that it has. Nothing is
// stored if the session was purged, or its text has expired.
func (s *Store) SaveReadings(ctx context.Context, ses *harvest.Session) error {
	err := s.Do(ctx, func(t *tx) error {
		var head, turns []byte
		had, err := t.Row(`SELECT head, turns FROM sessions WHERE id = ? AND path = ? AND expired IS NULL`, []any{ses.ID, ses.Path}, &head, &turns)
		if err != nil || !had {
			return err
		}
		now, err := sqlite.Decode[harvest.Session](head)
		if err != nil {
			return err
		}
		if now.Turns, err = sqlite.Decode[[]harvest.Turn](turns); err != nil {
			return err
		}
		for i := range min(len(now.Turns), len(ses.Turns)) {
			if is, was := &now.Turns[i], &ses.Turns[i]; was.Reading != nil && is.ID == was.ID && is.Prompt == was.Prompt && is.Answer == was.Answer {
				is.Reading = was.Reading
			}
		}
		harvest.Assess(&now)
		for i, inv := range now.Invocations {
			body, err := json.Marshal(inv)
			if err != nil {
				return err
			}
			if _, err := t.Exec(`UPDATE invocations SET body = ?1, label = ?2 WHERE session = ?3 AND path = ?4 AND seq = ?5 AND body <> ?1`,
				string(body), string(inv.Feedback.Label), ses.ID, ses.Path, i); err != nil {
				return err
			}
		}
		if turns, err = json.Marshal(now.Turns); err != nil {
			return err
		}
		now.Turns = nil
		if head, err = json.Marshal(now); err != nil {
			return err
		}
		_, err = t.Exec(`UPDATE sessions SET head = ?, turns = ? WHERE id = ? AND path = ?`, string(head), string(turns), ses.ID, ses.Path)
		return err
	})
	return sqlite.Named(err, "save what was read of session %s", ses.ID)
}
