// Package store keeps everything that evolve knows in one SQLite file: cases,
// sessions, rollouts, runs, versions.
package store

import (
	"context"
	"embed"
	"io/fs"
	"sync"
	"time"

	"github.com/skill-evolve/evolve/store/sqlite"
)

// A Store is an open database. It is the tournament's Journal. It is safe for
// concurrent use.
type Store struct {
	*sqlite.DB
	now func() time.Time

	// purgedPaths are transcripts of purged sessions that were to be saved again:
	// cursors must not name them.
	purgedPaths sync.Map
}

type tx = sqlite.Tx

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrations returns the scripts in order: the one at index i makes version i+1.
func migrations() sqlite.Schema {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	scripts := make(sqlite.Schema, len(names))
	for i, name := range names {
		body, err := migrationFiles.ReadFile(name)
		if err != nil {
			panic(err) // embedded files can be read
		}
		scripts[i] = string(body)
	}
	return scripts
}

// Open opens the database at path for reading and writing, see sqlite.Open.
func Open(ctx context.Context, path string) (*Store, error) {
	return opened(sqlite.Open(ctx, path, migrations()))
}

// OpenReadOnly opens an existing database for commands that only read, see
// sqlite.OpenReadOnly.
func OpenReadOnly(ctx context.Context, path string) (*Store, error) {
	return opened(sqlite.OpenReadOnly(ctx, path, migrations()))
}

// OpenEmpty opens an empty store, see sqlite.OpenEmpty.
func OpenEmpty(ctx context.Context) (*Store, error) {
	return opened(sqlite.OpenEmpty(ctx, migrations()))
}

// OpenCopy opens a private copy of the database at path, see sqlite.OpenCopy.
func OpenCopy(ctx context.Context, path string) (*Store, error) {
	return opened(sqlite.OpenCopy(ctx, path, migrations()))
}

func opened(db *sqlite.DB, err error) (*Store, error) {
	if err != nil {
		return nil, err
	}
	return &Store{DB: db, now: time.Now}, nil
}

// Lost is sqlite.Lost.
func Lost(path string) error { return sqlite.Lost(path) }

// SweepCopies is sqlite.SweepCopies.
func SweepCopies(path string) []string { return sqlite.SweepCopies(path) }
