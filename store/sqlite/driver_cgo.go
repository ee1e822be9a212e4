//go:build cgo

package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/mattn/go-sqlite3"
)

// DriverMissing reports whether this program was built without SQLite.
func DriverMissing() error { return nil }

func kindOf(err error) trouble {
	var e sqlite3.Error
	if !errors.As(err, &e) {
		return other
	}
	switch e.Code {
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return busy
	case sqlite3.ErrReadonly:
		return unwritable
	case sqlite3.ErrFull:
		return full
	case sqlite3.ErrCorrupt:
		return damaged
	case sqlite3.ErrNotADB:
		return foreign
	}
	return other
}

// backup copies the present state of the database that from reads into a new file that
// only its owner can read.
func backup(ctx context.Context, from *sql.DB, to string) error {
	err := prepareFile(to)
	if err == nil {
		err = copyPages(ctx, from, to)
	}
	return Named(err, "copy the database")
}

func copyPages(ctx context.Context, from *sql.DB, to string) error {
	db, err := connect(ctx, fileURI(to)+"?mode=rw&_journal_mode=OFF&_synchronous=OFF", 1)
	if err != nil {
		return err
	}
	defer db.Close()
	in, err := from.Conn(ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer out.Close()
	return in.Raw(func(in any) error {
		return out.Raw(func(out any) error {
			b, err := out.(*sqlite3.SQLiteConn).Backup("main", in.(*sqlite3.SQLiteConn), "main")
			if err != nil {
				return err
			}
			done, err := b.Step(-1)
			if err == nil && !done {
				err = sqlite3.Error{Code: sqlite3.ErrBusy}
			}
			return errors.Join(err, b.Finish())
		})
	})
}
