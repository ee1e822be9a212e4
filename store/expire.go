package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/store/sqlite"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A Due is a transcript whose text is to expire.
type Due struct{ ID, Path, Agent string }

// A Dropped is a case that its owner dropped, of a session without text.
type Dropped struct {
	Skill, ID string
	// Runs had the case: none of them can be resumed without it, and none is on trial.
	Runs []string
	// Texts are the SHA-256 of those that were made from it, or from such a text, and led
	// nowhere: no version, none that is proved or undecided, none to be decided on.
	Texts []string
}

// An Expiry is what expires.
type Expiry struct {
	Sessions []Due
	Cases    []Dropped
	// Unwritten: what expired before is not overwritten yet.
	Unwritten bool
}

// IsHashed reports whether a path is the hash of one: of a transcript whose text has
// expired, or of the folder of a skill that was used there.
func IsHashed(path string) bool { return strings.HasPrefix(path, hashMark) }

// Due finds out what expires: the text of sessions that ended before their agent's time,
// and what was measured on their dropped cases. A session without an end is as old as
// its beginning, or as its file. busy runs keep what they have.
func (s *Store) Due(ctx context.Context, before func(agent string) time.Time, busy func(run string) bool) (x Expiry, err error) {
	kept := map[string]bool{} // ids of sessions that keep their text
	_, err = sqlite.Query(ctx, s.DB, func(rows *sql.Rows) (struct{}, error) {
		var d Due
		var ended string
		var started, modified sql.NullInt64
		if err := rows.Scan(&d.ID, &d.Path, &d.Agent, &ended, &started, &modified); err != nil {
			return struct{}{}, err
		}
		last := harvest.When(ended)
		if last.IsZero() {
			last = sqlite.FromMicros(started)
		}
		if last.IsZero() && modified.Valid {
			last = time.Unix(0, modified.Int64)
		}
		agent := d.Agent
		if strings.Contains(d.Path, harvest.CheckpointMark+"/") {
			agent = "" // its repository keeps it, whatever the agent does with its transcripts
		}
		if last.Before(before(agent)) {
			x.Sessions = append(x.Sessions, d)
		} else {
			kept[d.ID] = true
		}
		return struct{}{}, nil
	}, `SELECT id, path, agent, coalesce(head ->> '$.ended', ''), started, files.modified
		FROM sessions LEFT JOIN (SELECT path, max(modified) AS modified FROM cursors GROUP BY path) AS files USING (path)
		WHERE expired IS NULL ORDER BY id, path`)
	if err != nil {
		return x, fmt.Errorf("list sessions whose text expires: %w", err)
	}
	if x.Cases, err = s.droppedCases(ctx, kept, busy); err != nil {
		return x, fmt.Errorf("list dropped cases: %w", err)
	}
	n, err := sqlite.Query(ctx, s.DB, sqlite.ScanOne[int], `SELECT 1 FROM rewrites`)
	x.Unwritten = len(n) > 0
	return x, sqlite.Named(err, "look for what is not overwritten")
}

// droppedCases are those of no kept session whose text did not expire yet.
func (s *Store) droppedCases(ctx context.Context, kept map[string]bool, busy func(run string) bool) ([]Dropped, error) {
	type row struct {
		Dropped
		session string
	}
	rows, err := sqlite.Query(ctx, s.DB, func(rows *sql.Rows) (r row, err error) {
		err = rows.Scan(&r.Skill, &r.ID, &r.session)
		return r, err
	}, `SELECT skill, id, session FROM cases WHERE dropped IS NOT NULL AND expired IS NULL AND session <> '' ORDER BY skill, id`)
	if err != nil {
		return nil, err
	}
	var out []Dropped
	for _, r := range rows {
		if kept[r.session] {
			continue
		}
		runs, err := sqlite.Query(ctx, s.DB, sqlite.ScanOne[string], `SELECT DISTINCT run FROM rollouts WHERE case_id = ?2 AND`+ofSkill+`
			UNION SELECT id FROM runs WHERE skill = ?1 AND instr(body, json_quote(?2)) > 0`, r.Skill, r.ID)
		if err != nil {
			return nil, err
		}
		used, err := s.inUse(ctx, runs, busy)
		if err != nil {
			return nil, err
		}
		if used {
			continue
		}
		r.Runs = runs
		if r.Texts, err = s.textsOf(ctx, r.Dropped); err != nil {
			return nil, err
		}
		out = append(out, r.Dropped)
	}
	return out, nil
}

// lastWord selects the texts on which the owner's last decision is an argument.
func lastWord(arg string) string {
	return `SELECT sha FROM decisions d WHERE word = ` + arg + ` AND id = (SELECT max(id) FROM decisions l WHERE l.skill = d.skill AND l.sha = d.sha)`
}

// textsOf lists the Texts of a dropped case.
func (s *Store) textsOf(ctx context.Context, c Dropped) (out []string, err error) {
	used, err := sqlite.Query(ctx, s.DB, sqlite.ScanOne[string], `SELECT sha FROM versions UNION `+lastWord("?1")+`
		UNION SELECT challenger FROM trials WHERE body ->> '$.decision' NOT IN ('reject', ?2) AND challenger NOT IN (`+lastWord("?3")+`)
		UNION SELECT sha FROM candidates WHERE body ->> '$.state' = ?4 AND sha NOT IN (`+lastWord("?3")+`)`,
		string(Approved), Withdrawn, string(Rejected), string(record.Quarantined))
	if err != nil {
		return nil, err
	}
	for _, run := range c.Runs {
		all, err := sqlite.Query(ctx, s.DB, sqlite.ScanBody[record.Candidate], `SELECT body FROM candidates WHERE run = ?`, run)
		if err != nil {
			return nil, err
		}
		learned := map[string]bool{}
		for _, k := range all {
			if slices.Contains(k.Taught, c.ID) || slices.Contains(k.Shown, c.ID) {
				learned[k.SHA] = true
			}
		}
		record.Descend(learned, all, nil)
		for sha := range learned {
			if !slices.Contains(used, sha) {
				out = append(out, sha)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// inUse reports whether a process works on one of the runs, or its trial is undecided.
func (s *Store) inUse(ctx context.Context, runs []string, busy func(run string) bool) (bool, error) {
	if slices.ContainsFunc(runs, busy) {
		return true, nil
	}
	open, err := sqlite.Query(ctx, s.DB, sqlite.ScanOne[string],
		`SELECT coalesce(body ->> '$.run', '') FROM trials WHERE body ->> '$.decision' IN ('undecided', 'promising') AND challenger NOT IN (`+lastWord("?1")+`)`, string(Rejected))
	return slices.ContainsFunc(runs, func(run string) bool { return slices.Contains(open, run) }), err
}

// expiredWords takes the place of words that may quote a session whose text has expired.
const expiredWords = "expired with the text of a session"

// Keeping says what stays of sessions whose text expires.
type Keeping struct {
	// Case is what a live case still needs of its session.
	Case func(*harvest.Session, eval.Case) harvest.Recording
	// File is the SKILL.md in a folder, symlinks resolved; "" if there is none.
	File func(dir string) string
}

// Expire removes what is due, in one transaction. Counts, times, labels, hashes, scores and usage stay,
// and so does every version, trial and label. What is freed is overwritten once Rewrite
// has succeeded: see Overwrite.
func (s *Store) Expire(ctx context.Context, x Expiry, keep Keeping) error {
	at := s.now().UnixMicro()
	err := s.Do(ctx, func(t *tx) error {
		e := expiry{tx: t, at: at, keep: keep, places: map[string]bool{}}
		err := t.Each(`SELECT path FROM homes UNION SELECT path FROM installed UNION SELECT path FROM installs`, nil, func(rows *sql.Rows) error {
			var path string
			err := rows.Scan(&path)
			e.places[path] = true
			return err
		})
		if err != nil {
			return err
		}
		for _, d := range x.Sessions {
			if err := e.session(d); err != nil {
				return fmt.Errorf("session %s: %w", d.ID, err)
			}
		}
		for _, c := range x.Cases {
			if err := e.dropped(c); err != nil {
				return fmt.Errorf("case %s: %w", c.ID, err)
			}
		}
		if len(x.Sessions) > 0 {
			// A run that has its cases asks its miner nothing again.
			if err := e.replies(`maker = ? AND run IN (SELECT id FROM runs)`, string(eval.ByMiner)); err != nil {
				return err
			}
		}
		_, err = t.Exec(`INSERT INTO rewrites (id, at) VALUES (1, ?) ON CONFLICT DO NOTHING`, at)
		return err
	})
	return sqlite.Named(err, "remove expired text")
}

// Overwrite rewrites the file without what has expired. After an error Due reports it as
// Unwritten.
func (s *Store) Overwrite(ctx context.Context) error {
	if err := s.Rewrite(ctx); err != nil {
		return err
	}
	return sqlite.Named(s.Exec(ctx, `DELETE FROM rewrites`), "note what was overwritten")
}

// An expiry is the removal of expired text inside its transaction.
type expiry struct {
	*tx
	at     int64
	keep   Keeping
	places map[string]bool // of skills that evolve knows, by their SKILL.md
}

func (e *expiry) session(d Due) error {
	var head, turns []byte
	had, err := e.Row(`SELECT head, turns FROM sessions WHERE id = ? AND path = ?`, []any{d.ID, d.Path}, &head, &turns)
	if err != nil || !had {
		return err
	}
	ses, err := sqlite.Decode[harvest.Session](head)
	if err != nil {
		return err
	}
	if ses.Turns, err = sqlite.Decode[[]harvest.Turn](turns); err != nil {
		return err
	}
	if err := e.cases(&ses); err != nil {
		return err
	}
	ses.Expire(e.folder)
	ses.Path = hashedPath(d.Path)
	if _, err := e.Exec(`PRAGMA defer_foreign_keys = ON`); err != nil { // a use names its session by the path, too
		return err
	}
	for i, inv := range ses.Invocations {
		body, err := json.Marshal(inv)
		if err != nil {
			return err
		}
		if _, err := e.Exec(`UPDATE invocations SET body = ?, path = ? WHERE session = ? AND path = ? AND seq = ?`, string(body), ses.Path, d.ID, d.Path, i); err != nil {
			return err
		}
	}
	if _, err := e.Exec(`DELETE FROM acts WHERE session = ? AND path = ?`, d.ID, d.Path); err != nil {
		return err
	}
	if turns, err = json.Marshal(ses.Turns); err != nil {
		return err
	}
	ses.Turns = nil
	if head, err = json.Marshal(ses); err != nil {
		return err
	}
	if _, err := e.Exec(`UPDATE sessions SET path = ?, head = ?, turns = ?, expired = ? WHERE id = ? AND path = ?`, ses.Path, string(head), string(turns), e.at, d.ID, d.Path); err != nil {
		return err
	}
	if _, err := e.Exec(`UPDATE OR REPLACE cursors SET path = ? WHERE path = ?`, ses.Path, d.Path); err != nil {
		return err
	}
	// A reading is JSON with words of the session; that a model failed is a word of ours,
	// and keeps it from being asked about a kept case again.
	_, err = e.Exec(`DELETE FROM readings WHERE session = ?1 AND substr(body, 1, 1) = x'7b' OR`+grouped, d.ID)
	return err
}

// folder is what stays of the folder of a skill: which text a use was of is told by it.
func (e *expiry) folder(dir string) string {
	switch file := e.keep.File(dir); {
	case file == "":
		return ""
	case e.places[file]:
		return dir
	}
	return hashedPath(dir)
}

// cases gives the live cases of a session what they still need of it.
func (e *expiry) cases(ses *harvest.Session) error {
	var cases []eval.Case
	err := e.Each(`SELECT body, split FROM cases WHERE session = ? AND dropped IS NULL`, []any{ses.ID}, func(rows *sql.Rows) error {
		c, err := scanCase(rows)
		cases = append(cases, c)
		return err
	})
	if err != nil {
		return err
	}
	for _, c := range cases {
		rec := e.keep.Case(ses, c)
		body, err := json.Marshal(rec)
		if err != nil {
			return err
		}
		// A session may have several transcripts: that of a subagent knows nothing of the use.
		if _, err := e.Exec(`UPDATE cases SET recorded = iif(recorded -> '$.also' IS NULL, ?1, json_set(?1, '$.also', json(recorded -> '$.also')))
			WHERE skill = ?2 AND id = ?3 AND (recorded -> '$.folders' IS NULL OR ?4)`,
			string(body), c.Skill, c.ID, rec.Evidence != ""); err != nil {
			return err
		}
	}
	for _, dir := range ses.WorkedIn() {
		_, err := e.Exec(`UPDATE cases SET recorded = json_set(coalesce(recorded, '{}'), '$.also[#]', ?2)
			WHERE dropped IS NULL AND EXISTS (SELECT 1 FROM json_each(body, '$.source.also') WHERE value ->> '$.session' = ?1)`, ses.ID, dir)
		if err != nil {
			return err
		}
	}
	return nil
}

// dropped removes the words of what was measured on a case, and of the runs that had it.
func (e *expiry) dropped(c Dropped) error {
	bodies := map[int64]eval.Rollout{}
	err := e.Each(`SELECT id, body FROM rollouts WHERE case_id = ?2 AND`+ofSkill, []any{c.Skill, c.ID}, func(rows *sql.Rows) error {
		var id int64
		var body sql.RawBytes
		if err := rows.Scan(&id, &body); err != nil {
			return err
		}
		r, err := sqlite.Decode[eval.Rollout](body)
		bodies[id] = r
		return err
	})
	if err != nil {
		return err
	}
	for id, r := range bodies {
		r.Expire()
		body, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if _, err := e.Exec(`UPDATE rollouts SET body = ? WHERE id = ?`, string(body), id); err != nil {
			return err
		}
	}
	for _, run := range c.Runs {
		if err := e.replies(`run = ?`, run); err != nil {
			return err
		}
		if err := e.silence(run); err != nil {
			return err
		}
	}
	for _, sha := range c.Texts {
		if _, err := e.Exec(`UPDATE candidates SET text = NULL WHERE sha = ?`, sha); err != nil {
			return err
		}
	}
	_, err = e.Exec(`UPDATE cases SET expired = ?, recorded = NULL WHERE skill = ? AND id = ?`, e.at, c.Skill, c.ID)
	return err
}

// replies removes the text of models' replies; what they took stays.
func (e *expiry) replies(where string, arg any) error {
	_, err := e.Exec(`UPDATE completions SET body = json_set(body, '$.text', '') WHERE instr(body, '"text":""') = 0 AND `+where, arg)
	return err
}

// silence removes the words of a run that may quote its cases: the reasons of its events
// and candidates, and the texts that were refused for holding such words.
func (e *expiry) silence(run string) error {
	if err := silenceEvents(e.tx, run, expiredWords); err != nil {
		return err
	}
	_, err := e.Exec(`UPDATE candidates SET body = json_set(body, '$.reason', ?2) WHERE run = ?1 AND body ->> '$.reason' <> ''`, run, expiredWords)
	if err != nil {
		return err
	}
	_, err = e.Exec(`UPDATE candidates SET text = NULL WHERE run = ? AND body ->> '$.state' = ? AND sha NOT IN (SELECT sha FROM versions)`, run, string(record.Invalid))
	return err
}

// Recordings returns what the live cases of a skill need of sessions whose text has
// expired, by their ids.
func (s *Store) Recordings(ctx context.Context, skill string) (map[string]harvest.Recording, error) {
	out := map[string]harvest.Recording{}
	_, err := sqlite.Query(ctx, s.DB, func(rows *sql.Rows) (struct{}, error) {
		var id string
		var body sql.RawBytes
		if err := rows.Scan(&id, &body); err != nil {
			return struct{}{}, err
		}
		rec, err := sqlite.Decode[harvest.Recording](body)
		out[id] = rec
		return struct{}{}, err
	}, `SELECT id, recorded FROM cases WHERE skill = ? AND dropped IS NULL AND recorded IS NOT NULL`, skill)
	return out, sqlite.Named(err, "list what cases of %s keep", skill)
}

// TrimRecording removes the corrected answer and its corrections of a case of which a model has written the checks.
func (s *Store) TrimRecording(ctx context.Context, skill, id string) error {
	err := s.Exec(ctx, `UPDATE cases SET recorded = json_remove(recorded, '$.answer', '$.corrections', '$.said') WHERE skill = ? AND id = ?`, skill, id)
	return sqlite.Named(err, "trim what case %s keeps", id)
}
