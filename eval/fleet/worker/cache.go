package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// unused is how long a blob is kept that no job needs.
const unused = 24 * time.Hour

// sweeps is how often the cache is looked through, at most.
const sweeps = time.Minute

// part ends the names of files that are not whole yet.
const part = ".part"

// A Cache keeps blobs that jobs had, because the next ones need most of them again. It is safe
// for concurrent use by one process.
type Cache struct {
	dir  string
	from source
	max  int64
	now  func() time.Time
	lock *flock.Flock

	mu    sync.Mutex
	busy  map[string]*sync.Mutex // by name
	swept time.Time
}

// A source has the blobs.
type source interface {
	Fetch(ctx context.Context, name, file string) error
}

// OpenCache opens the cache of a worker below dir, in a folder that only this user can read,
// with at most max bytes. No other process may use it: two with one key would take each
// other's jobs.
func OpenCache(dir, worker string, from *fleet.Blobs, max int64) (*Cache, error) {
	dir = filepath.Join(dir, worker)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the cache: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the cache: %w", err)
	}
	l := flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600))
	if ok, err := l.TryLock(); err != nil {
		return nil, fmt.Errorf("make the cache: %w", err)
	} else if !ok {
		return nil, &problem.Error{Kind: problem.Busy, Err: errors.New("a worker with this invitation runs already"), Hint: "`evolve fleet invite NAME` makes an invitation for a second one"}
	}
	parts, err := filepath.Glob(filepath.Join(dir, "*"+part))
	for _, p := range parts {
		err = errors.Join(err, remove(p))
	}
	return &Cache{dir: dir, from: from, max: max, now: time.Now, lock: l, busy: map[string]*sync.Mutex{}}, err
}

// Close lets another process use the cache.
func (c *Cache) Close() error { return c.lock.Close() }

// Add keeps a content that came with a job.
func (c *Cache) Add(name string, content []byte) error {
	if fleet.NameOf(content) != name {
		return fmt.Errorf("%.12s is another content: %w", name, fleet.ErrNoBlob)
	}
	b := c.only(name)
	b.Lock()
	defer b.Unlock()
	at := filepath.Join(c.dir, name)
	if err := os.WriteFile(at+part, content, 0o600); err != nil {
		return err
	}
	return os.Rename(at+part, at)
}

// only is what lets one caller at a time have a blob.
func (c *Cache) only(name string) *sync.Mutex {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.busy[name]
	if b == nil {
		b = new(sync.Mutex)
		c.busy[name] = b
	}
	return b
}

// Fetch implements parcel.Source: it makes a file of a blob, a copy of its own.
func (c *Cache) Fetch(ctx context.Context, name, file string) error {
	b := c.only(name)
	b.Lock()
	defer b.Unlock()
	at := filepath.Join(c.dir, name)
	if c.take(name, file) == nil {
		return nil
	}
	if err := c.from.Fetch(ctx, name, at+part); err != nil {
		return err
	}
	if err := os.Rename(at+part, at); err != nil {
		return err
	}
	if err := c.take(name, file); errors.Is(err, fs.ErrNotExist) {
		return errors.New("it was deleted meanwhile") // it can be fetched again
	} else if err != nil {
		return err
	}
	return c.Sweep()
}

// take copies a blob that is here. One that is not what its name says is deleted.
func (c *Cache) take(name, file string) error {
	at := filepath.Join(c.dir, name)
	if err := copyOf(name, at, file); err != nil {
		return errors.Join(err, remove(at), remove(file))
	}
	return os.Chtimes(at, time.Time{}, c.now())
}

func remove(file string) error {
	if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// copyOf copies a file that must have the content of this name.
func copyOf(name, from, to string) error {
	in, err := bounded.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, h), in)
	if err = errors.Join(err, out.Close()); err == nil && hex.EncodeToString(h.Sum(nil)) != name {
		err = fmt.Errorf("%.12s: %w", name, fleet.ErrNoBlob)
	}
	return err
}

// nameOf is the name of a file's content.
func nameOf(file string) (string, error) {
	in, err := bounded.Open(file)
	if err != nil {
		return "", err
	}
	defer in.Close()
	h := sha256.New()
	_, err = io.Copy(h, in)
	return hex.EncodeToString(h.Sum(nil)), err
}

// blobs are those of the cache, the longest unused first.
func (c *Cache) blobs() (list []fs.FileInfo, err error) {
	entries, err := os.ReadDir(c.dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.Name() != "lock" && !strings.HasSuffix(e.Name(), part) && info.Mode().IsRegular() {
			list = append(list, info)
		}
	}
	slices.SortFunc(list, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	return list, err
}

// Sweep removes what has not been used for a day, and what is too much, unless it has just
// been called.
func (c *Cache) Sweep() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now().Sub(c.swept) < sweeps {
		return nil
	}
	c.swept = c.now()
	list, err := c.blobs()
	if err != nil {
		return err
	}
	var size int64
	for _, b := range list {
		size += b.Size()
	}
	for _, b := range list {
		if size <= c.max && c.now().Sub(b.ModTime()) < unused {
			break
		}
		size -= b.Size()
		// One that is copied now stays readable.
		if err := remove(filepath.Join(c.dir, b.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Clear deletes all blobs, and returns how many there were.
func (c *Cache) Clear() (n int, err error) {
	list, err := c.blobs()
	if err != nil {
		return 0, err
	}
	for _, b := range list {
		if err := remove(filepath.Join(c.dir, b.Name())); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
