// Package harvesttest has what the tests of sources share: a cursor that forgets, and calls of
// readers.
package harvesttest

import (
	"maps"
	"sync"
	"time"

	"github.com/skill-evolve/evolve/harvest"
)

// A Cursor is a harvest.FileCursor that forgets when the program ends. The zero
// value is ready to use; it is safe for concurrent use.
type Cursor struct {
	mu   sync.Mutex
	seen map[string]harvest.FileState
}

var _ harvest.FileCursor = (*Cursor)(nil)

// Clone is a cursor that knows what c does now.
func (c *Cursor) Clone() *Cursor {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &Cursor{seen: maps.Clone(c.seen)}
}

// Seen implements harvest.Cursor.
func (c *Cursor) Seen(path string, size int64, modified time.Time) bool {
	f, ok := c.File(path)
	return ok && f.Size == size && f.Modified.Equal(modified)
}

// Mark implements harvest.Cursor.
func (c *Cursor) Mark(path string, size int64, modified time.Time) {
	c.MarkFile(path, harvest.FileState{Size: size, Modified: modified})
}

// File implements harvest.FileCursor.
func (c *Cursor) File(path string) (f harvest.FileState, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok = c.seen[path]
	return f, ok
}

// MarkFile implements harvest.FileCursor.
func (c *Cursor) MarkFile(path string, f harvest.FileState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = make(map[string]harvest.FileState)
	}
	c.seen[path] = f
}
