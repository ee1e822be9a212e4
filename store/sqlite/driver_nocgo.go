//go:build !cgo

package sqlite

import (
	"context"
	"database/sql"
	"errors"
)

// DriverMissing returns an error: SQLite is C. go-sqlite3 also compiles without cgo,
// but would only fail at the first query, with a message about a stub.
func DriverMissing() error {
	return errors.New("open store: this evolve was built without a C compiler, which SQLite needs: " +
		"install gcc and build again with CGO_ENABLED=1")
}

func kindOf(error) trouble { return other }

func backup(context.Context, *sql.DB, string) error { return DriverMissing() }
