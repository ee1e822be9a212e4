package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
)

// ErrClosed is returned by methods of a store that was closed.
var ErrClosed = errors.New("store is closed")

// ErrReadOnly is returned by writing methods of a store that OpenReadOnly opened.
var ErrReadOnly = errors.New("store was opened for reading only")

// A NewerError means that a newer evolve has written the database.
type NewerError struct {
	Have int // version of the schema in the file
	Know int // newest version that this program knows
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("database has schema version %d, this evolve knows up to %d: install a newer evolve", e.Have, e.Know)
}

// A CorruptError means that the file is not a database of evolve, or is damaged.
// Nothing was changed in it.
type CorruptError struct {
	Path string
	Err  error
	// Copy is the path of a copy of the file as it was found, "" if nothing can have
	// been written to it, or if NoCopy holds the reason why there is none.
	Copy   string
	NoCopy error

	foreign bool // a valid database of another program
}

func (e *CorruptError) Error() string {
	s := fmt.Sprintf("%s is damaged, or not a database of evolve: %v", e.Path, e.Err)
	if e.NoCopy != nil {
		return fmt.Sprintf("%s (no copy could be made: %v)", s, e.NoCopy)
	}
	if e.Copy != "" {
		s += "; a copy of it as it was found is in " + e.Copy
	}
	return s
}
func (e *CorruptError) Unwrap() error { return e.Err }

// A FullError means that there was no room for a write; nothing of the write was kept.
type FullError struct {
	Path string
	Err  error
}

func (e *FullError) Error() string {
	return fmt.Sprintf("no room left for %s, nothing of this was saved: %v", e.Path, e.Err)
}
func (e *FullError) Unwrap() error { return e.Err }

// trouble classifies SQLite's errors by the reaction to them.
type trouble int

const (
	other      trouble = iota
	busy               // another process holds the lock: try again
	full               // no room
	damaged            // corrupted
	foreign            // not a database
	unwritable         // the file or its folder may not be written
)

// explain gives an error of SQLite the type that callers know; others, nil included, it
// returns unchanged.
func explain(err error, path string) error {
	var corrupt *CorruptError
	var noRoom *FullError
	if errors.As(err, &corrupt) || errors.As(err, &noRoom) {
		return err
	}
	if unreadable(err) {
		return &CorruptError{Path: path, Err: err}
	}
	switch kindOf(err) {
	case damaged, foreign: // a torn header makes evolve's own database look like no database
		return &CorruptError{Path: path, Err: err}
	case full:
		return &FullError{Path: path, Err: err}
	case unwritable:
		return fmt.Errorf("%w: %w", fs.ErrPermission, err)
	case busy:
		return fmt.Errorf("another process keeps %s locked: %w", path, err)
	}
	return err
}
