package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// checkedAtOpen is the size in bytes up to which Open checks every page: about 50 ms.
// Damage to a larger database is found when it is read, and by Check.
const checkedAtOpen = 32 << 20

// checkPages has SQLite check every page and every entry of the indexes. It only reads.
// The error is not yet explained.
func checkPages(ctx context.Context, db reader) error {
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
		return fmt.Errorf("check every page: %w", err)
	}
	if verdict != "ok" {
		return &damageError{verdict}
	}
	return nil
}

// A damageError is damage that SQLite reports as a text.
type damageError struct{ found string }

func (e *damageError) Error() string { return e.found }

// Damaged is an error of the damage that found describes.
func Damaged(found string) error { return &damageError{found} }

// CheckPages has SQLite check every page and every entry of the indexes.
func (s *DB) CheckPages(ctx context.Context) error {
	return s.reading(ctx, func(db *sql.DB) error { return checkPages(ctx, db) })
}

// Explain is the function explain, for errors of an open store. Before a writable store
// reports damage, it keeps a copy of the files as they are; after that it accepts no
// writes.
func (s *DB) Explain(err error) error {
	if err == nil {
		return nil
	}
	err = explain(err, s.path)
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) || s.readOnly || s.copy != nil || corrupt.foreign {
		return err
	}
	s.damageOnce.Do(func() {
		corrupt.Copy, corrupt.NoCopy = keepCopy(s.path)
		s.damage.Store(corrupt)
	})
	if known := s.damage.Load(); known != corrupt {
		corrupt.Copy, corrupt.NoCopy = known.Copy, known.NoCopy
	}
	return err
}

// keepCopy copies the database at path, and its log, beside it. The copy's name holds
// the SHA-256 of the content, so that the same damage is copied only once.
func keepCopy(path string) (name string, err error) {
	sum := sha256.New()
	var made []string // temporary copies, in the order of the suffixes
	defer func() {
		for _, tmp := range made {
			_ = os.Remove(tmp) // renamed, if all went well
		}
	}()
	var suffixes []string
	for _, suffix := range []string{"", "-wal"} {
		tmp, err := copyTo(path+suffix, path+".damaged-new*", sum)
		if suffix != "" && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("copy damaged database: %w", err)
		}
		made, suffixes = append(made, tmp), append(suffixes, suffix)
	}
	name = path + ".damaged-" + hex.EncodeToString(sum.Sum(nil)[:6])
	for i, tmp := range made {
		if err := os.Rename(tmp, name+suffixes[i]); err != nil {
			return "", fmt.Errorf("copy damaged database: %w", err)
		}
	}
	return name, nil
}

// copyTo copies a file to a new one (mode 0600) whose name follows pattern, and
// into sum.
func copyTo(from, pattern string, sum io.Writer) (name string, err error) {
	in, err := os.Open(from)
	if err != nil {
		return "", err
	}
	defer in.Close()
	dir, base := filepath.Split(pattern)
	out, err := os.CreateTemp(dir, base)
	if err != nil {
		return "", err
	}
	if _, err = io.Copy(io.MultiWriter(out, sum), in); err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return "", errors.Join(err, os.Remove(out.Name()))
	}
	return out.Name(), nil
}

// unreadable reports whether a stored body is no JSON.
func unreadable(err error) bool {
	var syntax *json.SyntaxError
	var found *damageError
	return errors.As(err, &syntax) || errors.As(err, &found)
}
