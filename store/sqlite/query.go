package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"
)

// Micros is t as it is stored: Unix microseconds, NULL for the zero time.
func Micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// FromMicros reads a time that Micros wrote.
func FromMicros(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.UnixMicro(n.Int64).UTC()
}

// Decode parses one stored body.
func Decode[T any](body []byte) (T, error) {
	var v T
	if !utf8.Valid(body) { // which what we wrote was
		return v, fmt.Errorf("decode stored %T: %w", v, &damageError{"it is no text"})
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return v, fmt.Errorf("decode stored %T: %w", v, err)
	}
	return v, nil
}

// Query runs a SELECT and scans every row. No rows are an empty result, not an error.
// scan must not query.
func Query[T any](ctx context.Context, s *DB, scan func(*sql.Rows) (T, error), q string, args ...any) (out []T, err error) {
	select {
	case <-s.closing:
		return nil, ErrClosed
	default:
	}
	err = s.reading(ctx, func(db *sql.DB) error {
		out = nil
		rows, err := db.QueryContext(ctx, q, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			v, err := scan(rows)
			if err != nil {
				return err
			}
			out = append(out, v)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, s.Explain(err)
	}
	return out, nil
}

// ScanBody scans a SELECT of one body column.
func ScanBody[T any](rows *sql.Rows) (T, error) {
	var body sql.RawBytes
	if err := rows.Scan(&body); err != nil {
		var zero T
		return zero, err
	}
	return Decode[T](body)
}

// ScanOne scans a SELECT of one column.
func ScanOne[T any](rows *sql.Rows) (v T, err error) {
	err = rows.Scan(&v)
	return v, err
}

// First is the first row that Query found, nil for none.
func First[T any](rows []T, err error) (*T, error) {
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// FirstOrZero is First, with a zero for none.
func FirstOrZero[T any](rows []T, err error) (v T, _ error) {
	if err != nil || len(rows) == 0 {
		return v, err
	}
	return rows[0], nil
}

// Named adds the operation to an error; nil stays nil.
func Named(err error, what string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(what, args...), err)
}
