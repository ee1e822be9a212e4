// Package proposed keeps texts for files that git tracks until the others who use them have
// them: what a working tree got, branches that were made, patches that were printed.
package proposed

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/sqlite"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A Kind is the way that a text takes.
type Kind string

const (
	Tree   Kind = "tree" // the file of a working tree
	Branch Kind = "branch"
	Patch  Kind = "patch"
)

// A Proposal is one text on its way.
type Proposal struct {
	ID     int64
	Kind   Kind
	Place  string // the file of a working tree, else the repository: git.File.Root
	Branch string
	Commit string // that Branch had when it was made
	From   string // SHA-256 of the text that it changes
	To     string // and of the new one
	Before []byte // what the working tree had
	// Version is what the text is once the default branch has it; its Text is not kept.
	Version record.Version
	Made    time.Time
}

// Save records p before it is carried out, and sets its ID.
func Save(ctx context.Context, db *store.Store, p *Proposal) error {
	v := p.Version
	v.Text = nil
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode proposal: %w", err)
	}
	err = db.Do(ctx, func(t *sqlite.Tx) error {
		_, err := t.Exec(`INSERT INTO proposals (skill, kind, place, branch, commit_id, from_sha, to_sha, before, version, made)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, v.Skill, string(p.Kind), p.Place, p.Branch, p.Commit, p.From, p.To, p.Before, string(body), p.Made.UnixMicro())
		if err == nil {
			_, err = t.Row(`SELECT last_insert_rowid()`, nil, &p.ID)
		}
		return err
	})
	return sqlite.Named(err, "save proposal of %s", v.Skill)
}

// Open are the proposals of a skill that are not over, the newest first.
func Open(ctx context.Context, db *store.Store, name string) ([]Proposal, error) {
	list, err := sqlite.Query(ctx, db.DB, scan, `SELECT id, kind, place, branch, commit_id, from_sha, to_sha, before, version, made
		FROM proposals WHERE skill = ? AND ended IS NULL ORDER BY id DESC`, name)
	return list, sqlite.Named(err, "list proposals of %s", name)
}

// End records that a proposal is over: it was taken back, or the default branch has it.
func End(ctx context.Context, db *store.Store, id int64, at time.Time) error {
	return sqlite.Named(db.Exec(ctx, `UPDATE proposals SET ended = ?, before = NULL WHERE id = ?`, at.UnixMicro(), id), "end proposal")
}

func scan(rows *sql.Rows) (p Proposal, err error) {
	var kind string
	var body sql.RawBytes
	var made int64
	if err := rows.Scan(&p.ID, &kind, &p.Place, &p.Branch, &p.Commit, &p.From, &p.To, &p.Before, &body, &made); err != nil {
		return p, err
	}
	p.Kind, p.Made = Kind(kind), time.UnixMicro(made).UTC()
	p.Version, err = sqlite.Decode[record.Version](body)
	return p, err
}
