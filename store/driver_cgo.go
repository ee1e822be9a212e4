//go:build cgo

package store

import (
	"errors"

	"github.com/mattn/go-sqlite3"
)

// driverMissing reports whether this program was built without SQLite.
func driverMissing() error { return nil }

func kindOf(err error) trouble {
	var e sqlite3.Error
	if !errors.As(err, &e) {
		return other
	}
	switch e.Code {
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return busy
	case sqlite3.ErrFull:
		return full
	case sqlite3.ErrCorrupt:
		return damaged
	case sqlite3.ErrNotADB:
		return foreign
	}
	return other
}
