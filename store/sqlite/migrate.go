package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// applicationID marks the file as evolve's ("evlv" in its header), so that another
// program's database is never migrated.
const applicationID = 0x65766c76

// A Schema is the scripts that make a database: the one at index i makes version i+1.
type Schema []string

// reader is what schemaVersion needs of a handle or a transaction.
type reader interface {
	QueryRowContext(ctx context.Context, q string, args ...any) *sql.Row
}

// schemaVersion returns the version of an evolve database, 0 for an empty file.
func schemaVersion(ctx context.Context, db reader, path string, schema Schema) (int, error) {
	var have, app, tables int
	// One statement, so that all three come from one moment: another process may be
	// creating the database. Counting reads the whole schema, so a damaged one is found
	// here.
	err := db.QueryRowContext(ctx, `SELECT v.user_version, a.application_id, (SELECT count(*) FROM sqlite_master)
		FROM pragma_user_version v, pragma_application_id a`).Scan(&have, &app, &tables)
	if err != nil {
		return 0, fmt.Errorf("read schema version: %w", err)
	}
	if app != applicationID && (have != 0 || app != 0 || tables != 0) {
		return 0, &CorruptError{Path: path, Err: errors.New("it belongs to another program"), foreign: true}
	}
	if know := len(schema); have > know {
		return 0, &NewerError{Have: have, Know: know}
	}
	return have, nil
}

// migrate brings the database to the newest schema in one transaction: another
// process sees the old one or the new one, and so does a crash.
func migrate(ctx context.Context, db *sql.DB, path string, schema Schema) error {
	have, err := schemaVersion(ctx, db, path, schema)
	if err != nil || have == len(schema) {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin migration: %w", err)
	}
	defer tx.Rollback() // no effect once it is committed
	// Another process may have migrated while this one waited for the lock.
	if have, err = schemaVersion(ctx, tx, path, schema); err != nil {
		return err
	}
	for i := have; i < len(schema); i++ {
		if _, err := tx.ExecContext(ctx, schema[i]); err != nil {
			return fmt.Errorf("migrate to version %d: %w", i+1, err)
		}
	}
	header := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, len(schema))
	if _, err := tx.ExecContext(ctx, header); err != nil {
		return fmt.Errorf("set schema version: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit migration: %w", err)
	}
	return nil
}
