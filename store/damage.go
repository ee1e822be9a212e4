package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/store/sqlite"
)

// Check reads the whole database and looks for damage: pages and indexes, bodies that
// are no JSON, texts that do not match their SHA-256. It changes nothing. The error is
// a *CorruptError if there is any.
func (s *Store) Check(ctx context.Context) error {
	if err := s.check(ctx); err != nil {
		return fmt.Errorf("check store: %w", s.Explain(err))
	}
	return nil
}

func (s *Store) check(ctx context.Context) error {
	if err := s.CheckPages(ctx); err != nil {
		return err
	}
	for table, column := range map[string]string{"runs": "body", "candidates": "body", "events": "body", "rollouts": "body", "completions": "body",
		"trials": "body", "cases": "body", "sessions": "turns", "invocations": "body", "versions": "body", "calibrations": "body", "labels": "body", "acts": "body"} {
		wrong, err := sqlite.Query(ctx, s.DB, func(rows *sql.Rows) (wrong bool, err error) {
			var body sql.RawBytes
			err = rows.Scan(&body)
			return len(body) > 0 && !(utf8.Valid(body) && json.Valid(body)), err // a dropped case has none
		}, `SELECT `+column+` FROM `+table)
		if err != nil {
			return err
		}
		if slices.Contains(wrong, true) {
			return sqlite.Damaged("a row of " + table + " cannot be read")
		}
	}
	for _, table := range []string{"candidates", "versions"} {
		wrong, err := sqlite.Query(ctx, s.DB, func(rows *sql.Rows) (wrong string, err error) {
			var sha string
			var text sql.RawBytes
			if err := rows.Scan(&sha, &text); err != nil {
				return "", err
			}
			if sum := sha256.Sum256(text); len(sha) == 2*len(sum) && sha != hex.EncodeToString(sum[:]) {
				wrong = sha
			}
			return wrong, nil
		}, `SELECT sha, text FROM `+table+` WHERE text IS NOT NULL`)
		if err != nil {
			return err
		}
		for _, sha := range wrong {
			if sha != "" {
				return sqlite.Damaged(fmt.Sprintf("a text in %s is not what its name says: %.12s", table, sha))
			}
		}
	}
	return nil
}
