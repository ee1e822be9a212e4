//go:build !cgo

package sqlite

import (
	"context"
	"database/sql"
	"errors"
)

// DriverMissing: SQLite is C. go-sqlite3 compiles without cgo too, and would
// only fail at the first query, with words about a stub.
func DriverMissing() error {
	return errors.New("open store: this evolve was built without a C compiler, which SQLite needs: " +
		"install gcc and build again with CGO_ENABLED=1")
}

func kindOf(error) trouble { return other }

func backup(context.Context, *sql.DB, string) error { return DriverMissing() }
