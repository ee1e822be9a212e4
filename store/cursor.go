package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/skill-evolve/evolve/harvest"
)

// A Cursor is what one source has read of each file. It lives in memory; Flush
// keeps it. Flush after the sessions are saved: a crash in between then reads
// some files twice, and never skips one. It is safe for concurrent use.
type Cursor struct {
	store  *Store
	source string

	mu     sync.Mutex
	seen   map[string]fileState
	marked map[string]fileState // since the last Flush
}

var _ harvest.Cursor = (*Cursor)(nil)

// fileState is enough to tell that a file has changed; modified is in Unix
// nanoseconds.
type fileState struct{ size, modified int64 }

// Cursor loads the cursor of a source, which is empty for a new one.
func (s *Store) Cursor(ctx context.Context, source string) (*Cursor, error) {
	c := &Cursor{store: s, source: source, seen: map[string]fileState{}, marked: map[string]fileState{}}
	_, err := query(ctx, s, func(rows *sql.Rows) (struct{}, error) {
		var path string
		var f fileState
		err := rows.Scan(&path, &f.size, &f.modified)
		c.seen[path] = f
		return struct{}{}, err
	}, `SELECT path, size, modified FROM cursors WHERE source = ?`, source)
	if err != nil {
		return nil, fmt.Errorf("load cursor of %s: %w", source, err)
	}
	return c, nil
}

// Seen reports whether a file was read in exactly this state.
func (c *Cursor) Seen(path string, size int64, modified time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.seen[path]
	return ok && f == fileState{size, modified.UnixNano()}
}

// Mark remembers that a file was read in this state.
func (c *Cursor) Mark(path string, size int64, modified time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := fileState{size, modified.UnixNano()}
	c.seen[path] = f
	c.marked[path] = f
}

// Flush writes what was marked since the last one. After an error, the next
// Flush tries again.
func (c *Cursor) Flush(ctx context.Context) error {
	c.mu.Lock()
	marked := maps.Clone(c.marked)
	c.mu.Unlock()
	if len(marked) == 0 {
		return nil
	}
	err := c.store.do(ctx, func(t *tx) error {
		for path, f := range marked {
			_, err := t.exec(`INSERT INTO cursors (source, path, size, modified) VALUES (?, ?, ?, ?)
				ON CONFLICT (source, path) DO UPDATE SET size = excluded.size, modified = excluded.modified`,
				c.source, path, f.size, f.modified)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("save cursor of %s: %w", c.source, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for path, f := range marked {
		if c.marked[path] == f { // else it was marked again meanwhile
			delete(c.marked, path)
		}
	}
	return nil
}
