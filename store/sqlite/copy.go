package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// A privateCopy is the folder of a copy of a database, in the folder for temporary
// files: only its owner can read it, and it is removed by the process. If the process
// was killed, the copy is recognised by the path in its file "of", and by the lock on
// that.
type privateCopy struct {
	dir  string
	lock *flock.Flock
}

const copyPrefix = "evolve-look-"

func newPrivateCopy(path string) (*privateCopy, error) {
	dir, err := os.MkdirTemp("", copyPrefix)
	if err != nil {
		return nil, err
	}
	c := &privateCopy{dir, flock.New(filepath.Join(dir, "of"), flock.SetPermissions(0o600))}
	if err = c.lock.Lock(); err == nil {
		err = os.WriteFile(c.lock.Path(), []byte(path), 0o600)
	}
	if err != nil {
		return nil, errors.Join(err, c.remove())
	}
	return c, nil
}

func (c *privateCopy) remove() error {
	if c == nil {
		return nil
	}
	return errors.Join(c.lock.Close(), os.RemoveAll(c.dir))
}

// SweepCopies removes and returns the copies of the database at path that killed
// processes have left.
func SweepCopies(path string) (removed []string) {
	entries, _ := os.ReadDir(os.TempDir())
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), copyPrefix) {
			continue
		}
		dir := filepath.Join(os.TempDir(), e.Name())
		of := filepath.Join(dir, "of")
		if whose, err := os.ReadFile(of); err != nil || string(whose) != path {
			continue
		}
		lock := flock.New(of, flock.SetFlag(os.O_RDONLY))
		if free, err := lock.TryLock(); err != nil || !free {
			continue
		}
		if (&privateCopy{dir, lock}).remove() == nil {
			removed = append(removed, dir)
		}
	}
	return removed
}
