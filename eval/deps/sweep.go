package deps

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/skill-evolve/evolve/eval/workspace"
)

// sweep removes what was not used for MaxAge, and, if the rest is larger than MaxBytes, what
// was not used for longest. It leaves what another process uses, and what this one does.
// What cannot be removed is tried again the next time.
func (c *Cache) sweep() {
	type made struct {
		root  string
		used  time.Time
		bytes int64
	}
	var all []made
	var total int64
	entries, _ := os.ReadDir(c.Dir)
	for _, e := range entries {
		root := filepath.Join(c.Dir, e.Name())
		if !e.IsDir() {
			continue
		}
		m := made{root: root}
		if info, err := os.Stat(filepath.Join(root, noteFile)); err == nil {
			m.used = info.ModTime()
		} else if info, err := e.Info(); err == nil && c.now().Sub(info.ModTime()) < 2*limit {
			continue // it is being made
		}
		m.bytes = size(root)
		total += m.bytes
		all = append(all, m)
	}
	most, age := c.MaxBytes, c.MaxAge
	if most == 0 {
		most = 10 << 30
	}
	if age == 0 {
		age = 30 * 24 * time.Hour
	}
	slices.SortFunc(all, func(a, b made) int { return a.used.Compare(b.used) })
	for _, m := range all {
		if total <= most && c.now().Sub(m.used) < age {
			return
		}
		lock := flock.New(m.root + ".lock")
		if ok, _ := lock.TryLock(); !ok {
			continue
		}
		if workspace.Remove(m.root) == nil {
			total -= m.bytes
			os.Remove(m.root + ".lock")
		}
		lock.Unlock()
	}
}

func size(root string) (n int64) {
	_ = filepath.WalkDir(root, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}
