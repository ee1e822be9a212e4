package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament"
)

// A PurgeReport says what a purge removed, and which texts remain that had
// learned from it.
type PurgeReport struct {
	Sessions    int // transcripts, those of subagents included
	Cases       int
	Rollouts    int
	Completions int
	// Versions are those that learned from the session, themselves or through
	// an ancestor. They stay, and carry a note; texts are left out here.
	Versions []tournament.Version
	// Candidates are the SHA-256 of every text that learned from it, in order.
	Candidates []string
}

// purgedCase stands in a candidate's Taught for a case that was purged.
const purgedCase = "purged"

// PurgeSession removes a session: its transcripts and uses, its cases, their
// rollouts, and every model reply that may quote it (those of the runs that had
// its cases, the miner's, and what was read of its replies). What is freed is overwritten, and the file is
// rewritten without it. Only the SHA-256 of the id stays, so that a later
// harvest leaves the session out.
//
// Texts that learned from it are marked, not removed: taking a version back is
// the owner's decision. The error wraps ErrNotFound where nothing is known of
// the session. An error after the removal itself (another process kept the
// database from being rewritten) comes with the report; purging again finishes
// the work.
func (s *Store) PurgeSession(ctx context.Context, id string) (PurgeReport, error) {
	var report PurgeReport
	now := s.now().UTC()
	note := "learned from a session that was purged on " + now.Format("2006-01-02")
	err := s.do(ctx, func(t *tx) error {
		p := purge{tx: t, id: id, note: note}
		err := p.run(now.UnixMicro())
		report = p.report
		return err
	})
	if err == nil {
		err = s.submit(context.WithoutCancel(ctx), &job{bare: true, run: scrub})
	}
	if err != nil {
		return report, fmt.Errorf("purge session %s: %w", id, err)
	}
	return report, nil
}

// Purged reports whether a session was purged: whoever mines one asks first.
func (s *Store) Purged(ctx context.Context, id string) (bool, error) {
	hits, err := query(ctx, s, func(rows *sql.Rows) (n int, err error) {
		err = rows.Scan(&n)
		return n, err
	}, `SELECT 1 FROM purged WHERE session_sha = ?`, sessionSHA(id))
	if err != nil {
		return false, fmt.Errorf("look up purged session: %w", err)
	}
	return len(hits) > 0, nil
}

func isPurged(t *tx, session string) (bool, error) {
	var n int
	return t.row(`SELECT 1 FROM purged WHERE session_sha = ?`, []any{sessionSHA(session)}, &n)
}

func sessionSHA(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// scrub rewrites the database without its free pages and empties the log, in
// which old pages still stand.
func scrub(t *tx) error {
	ctx := context.Background()
	if _, err := t.conn.ExecContext(ctx, "VACUUM"); err != nil {
		return fmt.Errorf("removed, but not yet overwritten: vacuum: %w", err)
	}
	var held, pages, folded int
	err := t.conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&held, &pages, &folded)
	if err == nil && held != 0 {
		err = errors.New("another process is using the database")
	}
	if err != nil {
		return fmt.Errorf("removed, but not yet overwritten: empty the log: %w", err)
	}
	return nil
}

// A purge is one PurgeSession inside its transaction.
type purge struct {
	*tx
	id     string
	note   string
	report PurgeReport
}

// caseName names a case: ids are unique only within a skill.
type caseName struct{ skill, id string }

func (p *purge) run(now int64) error {
	cases, err := p.cases()
	if err != nil {
		return err
	}
	before, err := isPurged(p.tx, p.id)
	if err != nil {
		return err
	}
	if err := p.sessions(); err != nil {
		return err
	}
	if p.report.Sessions == 0 && len(cases) == 0 && !before {
		return ErrNotFound
	}
	p.report.Cases = len(cases)
	if _, err := p.exec(`INSERT INTO purged (session_sha, at) VALUES (?, ?) ON CONFLICT DO NOTHING`,
		sessionSHA(p.id), now); err != nil {
		return err
	}
	if err := p.markTexts(cases); err != nil {
		return err
	}
	for _, c := range cases {
		if err := p.removeCase(c); err != nil {
			return err
		}
	}
	n, err := p.exec(`DELETE FROM completions WHERE maker = ?`, string(eval.ByMiner))
	p.report.Completions += int(n)
	return err
}

// cases lists the session's cases, dropped ones included.
func (p *purge) cases() (cases []caseName, err error) {
	err = p.each(`SELECT skill, id FROM cases WHERE session = ? ORDER BY skill, id`, []any{p.id},
		func(rows *sql.Rows) error {
			var c caseName
			err := rows.Scan(&c.skill, &c.id)
			cases = append(cases, c)
			return err
		})
	return cases, err
}

func (p *purge) sessions() error {
	_, err := p.exec(`DELETE FROM cursors WHERE path IN (SELECT path FROM sessions WHERE id = ?)`, p.id)
	if err != nil {
		return err
	}
	if _, err := p.exec(`DELETE FROM readings WHERE session = ?`, p.id); err != nil {
		return err
	}
	n, err := p.exec(`DELETE FROM sessions WHERE id = ?`, p.id) // its invocations go with it
	p.report.Sessions = int(n)
	return err
}

// ofSkill is true for a run of that skill, and for one that has no record: it
// may be one.
const ofSkill = ` coalesce((SELECT skill FROM runs WHERE runs.id = run), ?1) = ?1 `

func (p *purge) removeCase(c caseName) error {
	n, err := p.exec(`DELETE FROM completions WHERE run IN (SELECT run FROM rollouts WHERE case_id = ?2 AND`+ofSkill+`
		UNION SELECT run FROM judgements WHERE skill = ?1 AND case_id = ?2)`, c.skill, c.id)
	if err != nil {
		return err
	}
	p.report.Completions += int(n)
	n, err = p.exec(`DELETE FROM rollouts WHERE case_id = ?2 AND`+ofSkill, c.skill, c.id)
	if err != nil {
		return err
	}
	p.report.Rollouts += int(n)
	if _, err = p.exec(`DELETE FROM calibrations WHERE instr(body, ?) > 0`, c.id); err != nil {
		return err
	}
	for _, table := range []string{"spent", "judgements", "labels"} {
		if _, err = p.exec(`DELETE FROM `+table+` WHERE skill = ? AND case_id = ?`, c.skill, c.id); err != nil {
			return err
		}
	}
	_, err = p.exec(`DELETE FROM cases WHERE skill = ? AND id = ?`, c.skill, c.id)
	return err
}

// markTexts finds the texts that were made from one of the cases, or from a
// text that was, and marks those that are versions.
func (p *purge) markTexts(cases []caseName) error {
	bySkill := map[string][]string{}
	for _, c := range cases {
		bySkill[c.skill] = append(bySkill[c.skill], c.id)
	}
	for skill, ids := range bySkill {
		if err := p.markSkill(skill, ids); err != nil {
			return err
		}
	}
	slices.Sort(p.report.Candidates)
	return nil
}

func (p *purge) markSkill(skill string, ids []string) error {
	var candidates []tournament.Candidate
	err := p.each(`SELECT body FROM candidates WHERE`+ofSkill, []any{skill}, func(rows *sql.Rows) error {
		c, err := scanBody[tournament.Candidate](rows)
		candidates = append(candidates, c)
		return err
	})
	if err != nil {
		return err
	}
	var versions []tournament.Version
	err = p.each(`SELECT body FROM versions WHERE skill = ? ORDER BY n`, []any{skill}, func(rows *sql.Rows) error {
		v, err := scanBody[tournament.Version](rows)
		versions = append(versions, v)
		return err
	})
	if err != nil {
		return err
	}

	learned := map[string]bool{}
	for _, c := range candidates {
		if !p.forget(&c, ids) {
			continue
		}
		learned[c.SHA] = true
		body, err := json.Marshal(c)
		if err != nil {
			return err
		}
		if _, err := p.exec(`UPDATE candidates SET body = ? WHERE run = ? AND seq = ?`, string(body), c.Run, c.Seq); err != nil {
			return err
		}
	}
	spread(learned, candidates, versions)
	for sha := range learned {
		p.report.Candidates = append(p.report.Candidates, sha)
	}
	for _, v := range versions {
		if !learned[v.SHA] {
			continue
		}
		if v.Note != "" {
			v.Note += "; "
		}
		v.Note += p.note
		body, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if _, err := p.exec(`UPDATE versions SET body = ? WHERE skill = ? AND n = ?`, string(body), v.Skill, v.N); err != nil {
			return err
		}
		p.report.Versions = append(p.report.Versions, v)
	}
	return nil
}

// forget takes the ids out of c.Taught and reports whether any was there.
func (p *purge) forget(c *tournament.Candidate, ids []string) (found bool) {
	for i, id := range c.Taught {
		if slices.Contains(ids, id) {
			c.Taught[i] = purgedCase
			found = true
		}
	}
	return found
}

// spread adds the descendants of the texts in learned to it.
func spread(learned map[string]bool, candidates []tournament.Candidate, versions []tournament.Version) {
	isLearned := func(sha string) bool { return learned[sha] }
	for before := -1; before != len(learned); {
		before = len(learned)
		for _, c := range candidates {
			if slices.ContainsFunc(c.Parents, isLearned) {
				learned[c.SHA] = true
			}
		}
		for _, v := range versions {
			if learned[v.Parent] {
				learned[v.SHA] = true
			}
		}
	}
}
