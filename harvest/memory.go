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
	seen map[string]mark
}

type mark struct {
	size     int64
	modified time.Time
}

var _ Cursor = (*MemoryCursor)(nil)

// Seen implements Cursor.
func (c *MemoryCursor) Seen(path string, size int64, modified time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, ok := c.seen[path]
	return ok && m.size == size && m.modified.Equal(modified)
}

// Mark implements Cursor.
func (c *MemoryCursor) Mark(path string, size int64, modified time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = make(map[string]mark)
	}
	c.seen[path] = mark{size, modified}
}
