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
	"github.com/skill-evolve/evolve/store/sqlite"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A PurgeReport lists what a purge removed, and which texts remain that had learned
// from it.
type PurgeReport struct {
	Sessions    int // transcripts, those of subagents included
	Cases       int
	Rollouts    int
	Completions int
	HookCases   int // of calls of the sessions
	Trials      int // of challengers whose text was removed
	// CaseIDs are those of Cases, in order.
	CaseIDs []string
	// Runs are the ids of the runs that had one of the cases, in order: their reports
	// show it. Their texts about candidates are removed, and one that had not ended
	// cannot be resumed.
	Runs []string
	// Versions are those that learned from the session, themselves or through an
	// ancestor. They are kept, with a note; their texts are left out here.
	Versions []record.Version
	// Candidates are the SHA-256 of every text that learned from it, in order.
	Candidates []string
	// Removed are the SHA-256 of the texts that were removed, in order: those that
	// learned from it and were never a version, and those that were refused because
	// they hold words of it.
	Removed []string
}

// purgedCase replaces a purged case in a candidate's Taught.
const purgedCase = "purged"

// purgedWords replaces words that may quote a purged session.
const purgedWords = "removed with a purged session"

// PurgeSessions removes sessions: their transcripts, uses and acts, their cases, those of hooks
// too, and the cases generated from these, the rollouts on all of them, every model reply that may quote
// them (those of the runs that had the cases or a removed text, the miner's, and the labels
// of the sessions' replies), and every text that learned from them and was never installed,
// with its rollouts. Freed space is overwritten, and the file is rewritten without it.
// Only the SHA-256 of each id is kept, so that a later harvest leaves the session out,
// and the print of a case that was spent or read (see content.Print), so that a copy of
// it is no evidence.
//
// Versions that learned from one are marked, not removed: what has been installed
// belongs to the owner, and so does what was made of it later. The error wraps
// ErrNotFound if nothing is known of a session; then nothing of the others is removed
// either. An error after the removal itself (another process kept the database from
// being rewritten) is returned with the report; purging again finishes the work.
func (s *Store) PurgeSessions(ctx context.Context, ids []string) (PurgeReport, error) {
	report, err := s.purge(ctx, ids, nil)
	if err == nil {
		err = s.Rewrite(context.WithoutCancel(ctx))
	}
	return report, err
}

// errPlanned rolls back the transaction of a plan.
var errPlanned = errors.New("only planned")

// PlanPurge returns what PurgeSessions would report, and changes nothing.
func (s *Store) PlanPurge(ctx context.Context, ids []string) (PurgeReport, error) {
	report, err := s.purge(ctx, ids, errPlanned)
	if errors.Is(err, errPlanned) {
		err = nil
	}
	return report, err
}

// purge removes sessions in one transaction, which ends with the error end.
func (s *Store) purge(ctx context.Context, ids []string, end error) (report PurgeReport, err error) {
	now := s.now().UTC()
	var id string
	err = s.Do(ctx, func(t *tx) error {
		p := purge{tx: t, note: "learned from a session that was purged on " + now.Format("2006-01-02"), runs: map[string]bool{}}
		for _, id = range ids {
			p.id = id
			if err := p.run(now.UnixMicro()); err != nil {
				return err
			}
		}
		report = p.done()
		return end
	})
	if err != nil {
		err = fmt.Errorf("purge session %s: %w", id, err)
	}
	return report, err
}

// Purged reports whether a session was purged; such a session must not be mined.
func (s *Store) Purged(ctx context.Context, id string) (bool, error) {
	hits, err := sqlite.Query(ctx, s.DB, sqlite.ScanOne[int], `SELECT 1 FROM purged WHERE session_sha = ?`, sessionSHA(id))
	if err != nil {
		return false, fmt.Errorf("look up purged session: %w", err)
	}
	return len(hits) > 0, nil
}

func isPurged(t *tx, session string) (bool, error) {
	var n int
	return t.Row(`SELECT 1 FROM purged WHERE session_sha = ?`, []any{sessionSHA(session)}, &n)
}

func sessionSHA(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// A purge is the removal of sessions inside its transaction.
type purge struct {
	*tx
	id     string // of the session at hand
	note   string
	runs   map[string]bool // that had its cases
	heard  []caseName      // the session as hooks name it
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
	n, err := p.sessions()
	if err != nil {
		return err
	}
	if n == 0 && len(cases) == 0 && !before {
		return ErrNotFound
	}
	if _, err := p.Exec(`INSERT INTO purged (session_sha, at) VALUES (?, ?) ON CONFLICT DO NOTHING`,
		sessionSHA(p.id), now); err != nil {
		return err
	}
	runs, err := p.runsOf(cases)
	if err != nil {
		return err
	}
	if err := p.removeTexts(cases, runs); err != nil {
		return err
	}
	for _, run := range runs {
		if err := p.silence(run); err != nil {
			return err
		}
	}
	for _, c := range cases {
		if err := p.removeCase(c); err != nil {
			return err
		}
	}
	for _, c := range append([]caseName{{id: "session-" + p.id}}, p.heard...) {
		if err := p.renameCluster(c.id); err != nil {
			return err
		}
	}
	gone, err := p.Exec(`DELETE FROM completions WHERE maker = ?`, string(eval.ByMiner))
	p.report.Completions += int(gone)
	return err
}

// done returns the report, with its lists in order.
func (p *purge) done() PurgeReport {
	for run := range p.runs {
		p.report.Runs = append(p.report.Runs, run)
	}
	for _, list := range []*[]string{&p.report.CaseIDs, &p.report.Runs, &p.report.Candidates, &p.report.Removed} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return p.report
}

// cases lists the session's cases, dropped ones included, and those that a model
// generated from one of them, which carry its cluster, or after it had seen one.
func (p *purge) cases() (cases []caseName, err error) {
	err = p.Each(`SELECT skill, id FROM cases WHERE session = ?1 OR body ->> '$.source.origin' = 'generated' AND (
			body ->> '$.cluster' = 'session-' || ?1 OR
			body ->> '$.cluster' IN (SELECT body ->> '$.cluster' FROM cases WHERE session = ?1) OR
			EXISTS (SELECT 1 FROM json_each(body, '$.source.also') WHERE value ->> '$.session' = ?1))
		ORDER BY skill, id`, []any{p.id},
		func(rows *sql.Rows) error {
			var c caseName
			err := rows.Scan(&c.skill, &c.id)
			cases = append(cases, c)
			return err
		})
	p.report.Cases += len(cases)
	for _, c := range cases {
		p.report.CaseIDs = append(p.report.CaseIDs, c.id)
	}
	if err == nil {
		err = p.hooks()
	}
	return append(cases, p.heard...), err
}

// hooks finds the hooks whose runs or trials heard the session: to them it is a case of the
// name AGENT/ID.
func (p *purge) hooks() error {
	p.heard = nil
	return p.Each(`SELECT skill, value FROM runs, json_each(body, '$.config.search') WHERE skill >= 'hook:' AND skill < 'hook;' AND substr(value, instr(value, '/') + 1) = ?1
		UNION SELECT skill, value FROM runs JOIN candidates c ON run = runs.id, json_each(c.body, '$.shown') WHERE skill >= 'hook:' AND skill < 'hook;' AND substr(value, instr(value, '/') + 1) = ?1
		UNION SELECT skill, case_id FROM spent WHERE skill >= 'hook:' AND skill < 'hook;' AND substr(case_id, instr(case_id, '/') + 1) = ?1`, []any{p.id},
		func(rows *sql.Rows) error {
			var c caseName
			err := rows.Scan(&c.skill, &c.id)
			p.heard = append(p.heard, c)
			return err
		})
}

// sessions removes the transcripts and reports how many there were.
func (p *purge) sessions() (int64, error) {
	if _, err := p.Exec(`DELETE FROM cursors WHERE path IN (SELECT path FROM sessions WHERE id = ?)`, p.id); err != nil {
		return 0, err
	}
	if _, err := p.Exec(`DELETE FROM readings WHERE session = ?1 OR`+grouped, p.id); err != nil {
		return 0, err
	}
	of, err := p.Exec(`DELETE FROM hook_cases WHERE session = ?`, p.id)
	if err != nil {
		return 0, err
	}
	p.report.HookCases += int(of)
	n, err := p.Exec(`DELETE FROM sessions WHERE id = ?`, p.id) // deletes its invocations and acts too
	p.report.Sessions += int(n)
	return n, err
}

// ofSkill is true for a run of that skill, and for one without a record, which may be
// one.
const ofSkill = ` coalesce((SELECT skill FROM runs WHERE runs.id = run), ?1) = ?1 `

// runsOf lists the runs that had one of the cases: that measured it, judged it, or were
// configured with it.
func (p *purge) runsOf(cases []caseName) (runs []string, err error) {
	for _, c := range cases {
		err := p.Each(`SELECT run FROM rollouts WHERE case_id = ?2 AND`+ofSkill+`
			UNION SELECT run FROM candidates WHERE instr(body, json_quote(?2)) > 0 AND`+ofSkill+`
			UNION SELECT run FROM judgements WHERE skill = ?1 AND case_id = ?2
			UNION SELECT id FROM runs WHERE skill = ?1 AND instr(body, json_quote(?2)) > 0`, []any{c.skill, c.id},
			func(rows *sql.Rows) error {
				var run string
				err := rows.Scan(&run)
				runs = append(runs, run)
				return err
			})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(runs)
	runs = slices.Compact(runs)
	for _, run := range runs {
		p.runs[run] = true
	}
	return runs, nil
}

func (p *purge) removeCase(c caseName) error {
	n, err := p.Exec(`DELETE FROM rollouts WHERE case_id = ?2 AND`+ofSkill, c.skill, c.id)
	if err != nil {
		return err
	}
	p.report.Rollouts += int(n)
	if err := keepPrint(p.tx, c.skill, c.id); err != nil {
		return err
	}
	if _, err = p.Exec(`DELETE FROM calibrations WHERE instr(body, ?) > 0`, c.id); err != nil {
		return err
	}
	for _, table := range []string{"spent", "judgements", "labels"} {
		if _, err = p.Exec(`DELETE FROM `+table+` WHERE skill = ? AND case_id = ?`, c.skill, c.id); err != nil {
			return err
		}
	}
	_, err = p.Exec(`DELETE FROM cases WHERE skill = ? AND id = ?`, c.skill, c.id)
	return err
}

// renameCluster removes the session's id from the name of its cluster, which similar
// cases of other sessions share, and where it took place from the trials.
func (p *purge) renameCluster(cluster string) error {
	old, err := json.Marshal(cluster)
	if err != nil {
		return err
	}
	name := `"purged-` + sessionSHA(p.id)[:16] + `"`
	for _, table := range []string{"cases", "events", "trials", "runs", "calibrations"} {
		_, err := p.Exec(`UPDATE `+table+` SET body = replace(body, ?1, ?2) WHERE instr(body, ?1) > 0`, string(old), name)
		if err != nil {
			return err
		}
	}
	_, err = p.Exec(`UPDATE trials SET body = json_remove(body, ?2) WHERE instr(body, ?1) > 0`, name, "$.state.places."+name+".workspace")
	return err
}
