package store

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/store/sqlite"
	"github.com/skill-evolve/evolve/tournament/record"
)

// removeTexts finds the texts that were made from one of the cases, or from such a
// text. Those that are versions are marked; the others are removed.
func (p *purge) removeTexts(cases []caseName, runs []string) error {
	bySkill := map[string][]string{}
	for _, c := range cases {
		bySkill[c.skill] = append(bySkill[c.skill], c.id)
	}
	for skill, ids := range bySkill {
		if err := p.removeTextsOf(skill, ids, runs); err != nil {
			return err
		}
	}
	return nil
}

func (p *purge) removeTextsOf(skill string, ids, runs []string) error {
	candidates, err := sqlite.List(p.tx, sqlite.ScanBody[record.Candidate], `SELECT body FROM candidates WHERE`+ofSkill, skill)
	if err != nil {
		return err
	}
	versions, err := sqlite.List(p.tx, sqlite.ScanBody[record.Version], `SELECT body FROM versions WHERE skill = ? ORDER BY n`, skill)
	if err != nil {
		return err
	}

	owned := map[string]bool{} // texts of versions
	for _, v := range versions {
		owned[v.SHA] = true
	}
	// A text learned if it, or one that it was made from, was made from a case. A
	// version passes that on as a mark only: its content belongs to the owner, and so
	// does what was made of it later.
	learned, gone := map[string]bool{}, map[string]bool{}
	for i := range candidates {
		c := &candidates[i]
		taught := forget(c, ids)
		// A text may also be refused because it holds words of a case that did not
		// teach it.
		unfit := slices.Contains(runs, c.Run) && (c.State == record.Invalid || c.State == record.Quarantined)
		if taught {
			learned[c.SHA] = true
		}
		if (taught || unfit) && !owned[c.SHA] {
			gone[c.SHA] = true
		}
	}
	record.Descend(learned, candidates, versions)
	record.Descend(gone, slices.DeleteFunc(slices.Clone(candidates), func(c record.Candidate) bool { return owned[c.SHA] }), nil)
	for sha := range learned {
		p.report.Candidates = append(p.report.Candidates, sha)
	}
	for i := range candidates {
		if err := p.rewrite(&candidates[i], gone, slices.Contains(runs, candidates[i].Run)); err != nil {
			return err
		}
	}
	for sha := range gone {
		if err := p.removeText(skill, sha); err != nil {
			return err
		}
	}
	return p.markVersions(versions, learned)
}

// rewrite saves a candidate after forget, without its text if that is removed, and
// without its run's texts about it.
func (p *purge) rewrite(c *record.Candidate, gone map[string]bool, silent bool) error {
	query, args := `UPDATE candidates SET body = ?1 WHERE run = ?2 AND seq = ?3`, []any{"", c.Run, c.Seq}
	switch {
	case gone[c.SHA]:
		query = `UPDATE candidates SET body = ?1, text = NULL WHERE run = ?2 AND seq = ?3`
		c.Reason = purgedWords
	case silent && c.Reason != "":
		c.Reason = purgedWords
	case !slices.Contains(c.Taught, purgedCase) && !slices.Contains(c.Shown, purgedCase):
		return nil
	}
	body, err := json.Marshal(c)
	if err != nil {
		return err
	}
	args[0] = string(body)
	_, err = p.Exec(query, args...)
	return err
}

// removeText removes the measurements of a removed text, what models replied in the runs
// that made or measured it, and its trials: it can no longer be installed.
func (p *purge) removeText(skill, sha string) error {
	n, err := p.Exec(`DELETE FROM completions WHERE run IN (SELECT run FROM candidates WHERE sha = ?2 AND`+ofSkill+`
		UNION SELECT run FROM rollouts WHERE candidate = ?2 AND`+ofSkill+`)`, skill, sha)
	if err != nil {
		return err
	}
	p.report.Completions += int(n)
	if n, err = p.Exec(`DELETE FROM rollouts WHERE candidate = ?2 AND`+ofSkill, skill, sha); err != nil {
		return err
	}
	p.report.Rollouts += int(n)
	n, err = p.Exec(`DELETE FROM trials WHERE skill = ? AND challenger = ?`, skill, sha)
	if err != nil {
		return err
	}
	p.report.Trials += int(n)
	p.report.Removed = append(p.report.Removed, sha)
	return nil
}

func (p *purge) markVersions(versions []record.Version, learned map[string]bool) error {
	for _, v := range versions {
		if !learned[v.SHA] {
			continue
		}
		if strings.Contains(v.Note, p.note) {
			continue // of another session in the same purge
		}
		if v.Note != "" {
			v.Note += "; "
		}
		v.Note += p.note
		body, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if _, err := p.Exec(`UPDATE versions SET body = ? WHERE skill = ? AND n = ?`, string(body), v.Skill, v.N); err != nil {
			return err
		}
		p.report.Versions = append(p.report.Versions, v)
	}
	return nil
}

// silence removes a run's texts: its models' replies, the reasons in its events, and
// the error that ended it. A run that has not ended is ended.
func (p *purge) silence(run string) error {
	n, err := p.Exec(`DELETE FROM completions WHERE run = ?`, run)
	if err != nil {
		return err
	}
	p.report.Completions += int(n)
	if err := silenceEvents(p.tx, run, purgedWords); err != nil {
		return err
	}
	var body []byte
	if ok, err := p.Row(`SELECT body FROM runs WHERE id = ?`, []any{run}, &body); err != nil || !ok {
		return err
	}
	r, err := sqlite.Decode[record.Run](body)
	if err != nil || r.Status == record.Finished {
		return err
	}
	r.Status, r.Note = record.Failed, "a session that it had cases of was purged"
	if body, err = json.Marshal(r); err != nil {
		return err
	}
	_, err = p.Exec(`UPDATE runs SET status = ?, body = ? WHERE id = ?`, string(r.Status), string(body), run)
	return err
}

// silenceEvents puts words in the place of the reasons in a run's events. A verdict
// quotes no case.
func silenceEvents(t *tx, run, words string) error {
	_, err := t.Exec(`UPDATE events SET body = json_set(body, '$.data.reason', ?2)
		WHERE run = ?1 AND body ->> '$.data.reason' IS NOT NULL AND body ->> '$.kind' <> 'verdict'`, run, words)
	return err
}

// forget removes the ids from c.Taught and c.Shown and reports whether these held any.
func forget(c *record.Candidate, ids []string) (found bool) {
	for _, list := range [...][]string{c.Taught, c.Shown} {
		for i, id := range list {
			if slices.Contains(ids, id) {
				list[i] = purgedCase
				found = true
			}
		}
	}
	return found
}
