package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/skill-evolve/evolve/store/sqlite"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Word is the owner's decision on a candidate.
type Word string

const (
	Approved Word = "approved" // may be tried although the firewall flagged it
	Rejected Word = "rejected" // never again
)

// Withdrawn is the decision of a trial whose challenger its owner has rejected,
// whatever the gate decided.
const Withdrawn = "withdrawn"

// A Decision is the owner's decision on one text, whichever runs produced it.
type Decision struct {
	Skill string `json:"skill"`
	SHA   string `json:"sha256"`
	Word  Word   `json:"decision"`
	By    string `json:"by"`  // the user's name on this machine
	Run   string `json:"run"` // the run that made the text
	// Incumbent is the SHA-256 of the text that was live at the time.
	Incumbent string `json:"incumbent"`
	// Rules are the firewall's rules that the text broke; there are none for a text
	// that was not in quarantine. They are kept, because only the owner may install a
	// flagged text.
	Rules []string  `json:"rules"`
	Time  time.Time `json:"time"`
}

// Decide stores the owner's decision, and returns it as it is stored: with the time.
func (s *Store) Decide(ctx context.Context, d Decision) (Decision, error) {
	if d.Skill == "" || d.SHA == "" || d.Word != Approved && d.Word != Rejected {
		return d, errors.New("save decision: it has no skill, no sha256 or no word")
	}
	d.Time = s.now().UTC()
	body, err := json.Marshal(d)
	if err != nil {
		return d, fmt.Errorf("encode decision on %.12s: %w", d.SHA, err)
	}
	err = s.Exec(ctx, `INSERT INTO decisions (skill, sha, word, at, body) VALUES (?, ?, ?, ?, ?)`,
		d.Skill, d.SHA, string(d.Word), d.Time.UnixMicro(), string(body))
	if err != nil {
		return d, fmt.Errorf("save decision on %.12s: %w", d.SHA, err)
	}
	return d, nil
}

// Decisions returns the owner's latest decision on every text of a skill that has one,
// by SHA-256.
func (s *Store) Decisions(ctx context.Context, skill string) (map[string]Decision, error) {
	all, err := sqlite.Query(ctx, s.DB, sqlite.ScanBody[Decision], `SELECT body FROM decisions WHERE skill = ? ORDER BY id`, skill)
	if err != nil {
		return nil, fmt.Errorf("list decisions on %s: %w", skill, err)
	}
	last := make(map[string]Decision, len(all))
	for _, d := range all {
		last[d.SHA] = d
	}
	return last, nil
}

// Quarantined returns the texts of a skill that a run has put into quarantine, the
// newest first, each as recorded by the first run that flagged it.
func (s *Store) Quarantined(ctx context.Context, skill string) ([]record.Candidate, error) {
	all, err := sqlite.Query(ctx, s.DB, scanCandidate,
		`SELECT c.body, c.text FROM candidates c JOIN runs r ON r.id = c.run
			WHERE r.skill = ? AND json_extract(c.body, '$.state') = ? ORDER BY r.started, c.seq`, skill, string(record.Quarantined))
	if err != nil {
		return nil, fmt.Errorf("list quarantine of %s: %w", skill, err)
	}
	seen := map[string]bool{}
	var out []record.Candidate
	for _, c := range all {
		if !seen[c.SHA] {
			seen[c.SHA] = true
			out = append([]record.Candidate{c}, out...)
		}
	}
	return out, nil
}
