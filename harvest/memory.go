package harvest

import (
	"sync"
	"time"
)

// MemoryCursor is a Cursor that forgets when the program ends: for a single
// pass over several sources, and for tests. The zero value is ready to use; it
// is safe for concurrent use.
type MemoryCursor struct {
	mu   sync.Mutex
	seen map[string]FileState
}

var _ FileCursor = (*MemoryCursor)(nil)

// Seen implements Cursor.
func (c *MemoryCursor) Seen(path string, size int64, modified time.Time) bool {
	f, ok := c.File(path)
	return ok && f.Size == size && f.Modified.Equal(modified)
}

// Mark implements Cursor.
func (c *MemoryCursor) Mark(path string, size int64, modified time.Time) {
	c.MarkFile(path, FileState{Size: size, Modified: modified})
}

// File implements FileCursor.
func (c *MemoryCursor) File(path string) (f FileState, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok = c.seen[path]
	return f, ok
}

// MarkFile implements FileCursor.
func (c *MemoryCursor) MarkFile(path string, f FileState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = make(map[string]FileState)
	}
	c.seen[path] = f
}
