package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/store/sqlite"
)

// A Cursor records what one source has read of each file. It is in memory until Flush.
// Flush after the sessions are saved: a crash in between then makes the next harvest
// read some files twice, but never skip one. It is safe for concurrent use.
type Cursor struct {
	store  *Store
	source string

	mu     sync.Mutex
	seen   map[string]fileState
	marked map[string]fileState // since the last Flush
}

var (
	_ harvest.FileCursor = (*Cursor)(nil)
	_ harvest.Refuser    = (*Cursor)(nil)
)

// fileState is a harvest.FileState that can be compared; times are in Unix
// nanoseconds.
type fileState struct {
	size, modified int64
	device, inode  uint64
	changed        int64 // 0 if it is not known
	end            int64
	last           string
	refused        bool // kept as an end below 0: -1 for 0
}

// place is what the column end holds.
func (f fileState) place() int64 {
	if f.refused {
		return -1 - f.end
	}
	return f.end
}

// Cursor loads the cursor of a source, which is empty for a new one.
func (s *Store) Cursor(ctx context.Context, source string) (*Cursor, error) {
	c := &Cursor{store: s, source: source, seen: map[string]fileState{}, marked: map[string]fileState{}}
	_, err := sqlite.Query(ctx, s.DB, func(rows *sql.Rows) (struct{}, error) {
		var path string
		var f fileState
		var device, inode int64
		err := rows.Scan(&path, &f.size, &f.modified, &device, &inode, &f.changed, &f.end, &f.last)
		f.device, f.inode = uint64(device), uint64(inode)
		if f.end < 0 {
			f.refused, f.end = true, -1-f.end
		}
		c.seen[path] = f
		return struct{}{}, err
	}, `SELECT path, size, modified, device, inode, changed, "end", last FROM cursors WHERE source = ?`, source)
	return c, sqlite.Named(err, "load cursor of %s", source)
}

// find finds a path, by its name or by its hash. The caller holds the lock.
func (c *Cursor) find(path string) (fileState, bool) {
	if f, ok := c.seen[path]; ok {
		return f, true
	}
	f, ok := c.seen[hashedPath(path)]
	return f, ok
}

// hashedPath replaces the path of a transcript whose session was purged, or whose text has
// expired, because agents name files by the session and folders by the project.
func hashedPath(path string) string { return hashMark + sessionSHA(path) }

const hashMark = "sha256:"

// Seen reports whether an entry with this path, size and time was read. That is enough
// only for entries that are no files.
func (c *Cursor) Seen(path string, size int64, modified time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.find(path)
	return ok && f.size == size && f.modified == modified.UnixNano()
}

// Mark records an entry that is no file.
func (c *Cursor) Mark(path string, size int64, modified time.Time) {
	c.mark(path, fileState{size: size, modified: modified.UnixNano()})
}

// File implements harvest.FileCursor.
func (c *Cursor) File(path string) (harvest.FileState, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.find(path)
	if !ok {
		return harvest.FileState{}, false
	}
	out := harvest.FileState{Device: f.device, Inode: f.inode, Size: f.size, Modified: time.Unix(0, f.modified), End: f.end, Last: f.last, Refused: f.refused}
	if f.changed != 0 {
		out.Changed = time.Unix(0, f.changed)
	}
	return out, true
}

// MarkFile implements harvest.FileCursor.
func (c *Cursor) MarkFile(path string, f harvest.FileState) {
	state := fileState{size: f.Size, modified: f.Modified.UnixNano(), device: f.Device, inode: f.Inode, end: f.End, last: f.Last, refused: f.Refused}
	if !f.Changed.IsZero() {
		state.changed = f.Changed.UnixNano()
	}
	c.mark(path, state)
}

func (c *Cursor) mark(path string, f fileState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.seen[hashedPath(path)]; ok {
		path = hashedPath(path)
	}
	c.seen[path] = f
	c.marked[path] = f
}

// Refuse implements harvest.Refuser.
func (c *Cursor) Refuse(path string) {
	c.mu.Lock()
	f, ok := c.find(path)
	c.mu.Unlock()
	if f.refused = true; ok {
		c.mark(path, f)
	}
}

// Reconsider forgets what every source has read of the sessions that were refused, so
// that the next harvest reads them again; or of all sessions but those that were purged.
func (s *Store) Reconsider(ctx context.Context, all bool) error {
	err := s.Do(ctx, func(t *tx) error {
		_, err := t.Exec(`DELETE FROM cursors WHERE "end" < 0 OR ? AND path NOT LIKE 'sha256:%'`, all)
		return err
	})
	return sqlite.Named(err, "forget what was refused")
}

// Projects is the source of the Cursor that holds what a harvest was allowed, and refuses
// the transcripts that wait for a decision on their projects.
const Projects = "projects"

// Waiting lists the transcripts that wait for a decision on their projects.
func (s *Store) Waiting(ctx context.Context) ([]string, error) {
	list, err := sqlite.Query(ctx, s.DB, sqlite.ScanOne[string], `SELECT path FROM cursors WHERE source = ? AND "end" < 0`, Projects)
	return list, sqlite.Named(err, "list what waits for a decision")
}

// Flush writes the marks made since the last one. After an error, the next Flush tries
// again.
func (c *Cursor) Flush(ctx context.Context) error {
	c.mu.Lock()
	marked := maps.Clone(c.marked)
	c.mu.Unlock()
	if len(marked) == 0 {
		return nil
	}
	err := c.store.Do(ctx, func(t *tx) error {
		for path, f := range marked {
			if _, purged := c.store.purgedPaths.Load(path); purged {
				if _, err := t.Exec(`DELETE FROM cursors WHERE source = ? AND path = ?`, c.source, path); err != nil {
					return err
				}
				path = hashedPath(path)
			}
			_, err := t.Exec(`INSERT OR REPLACE INTO cursors (source, path, size, modified, device, inode, changed, "end", last)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
				c.source, path, f.size, f.modified, int64(f.device), int64(f.inode), f.changed, f.place(), f.last)
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
