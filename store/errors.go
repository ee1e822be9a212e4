package store

import (
	"errors"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/store/sqlite"
)

// ErrNotFound is wrapped by every error about a record that does not exist.
var ErrNotFound = errors.New("not found")

// Errors of opening, reading and writing the file: see package sqlite.
var (
	ErrClosed   = sqlite.ErrClosed
	ErrReadOnly = sqlite.ErrReadOnly
)

type (
	NewerError   = sqlite.NewerError
	CorruptError = sqlite.CorruptError
	FullError    = sqlite.FullError
	LostError    = sqlite.LostError
)

// An AmbiguousError means that a shortened name has several completions.
type AmbiguousError struct {
	Prefix  string
	Matches []string // in order; at most a few
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q may mean any of %s: type more of it", e.Prefix, strings.Join(e.Matches, ", "))
}
