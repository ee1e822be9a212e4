package worker

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/problem"
)

// texts is a source of blobs that counts what was fetched.
type texts struct {
	mu  sync.Mutex
	all map[string]string
	n   int
}

func (s *texts) Fetch(_ context.Context, name, file string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, ok := s.all[name]
	if !ok {
		return fleet.ErrNoBlob
	}
	s.n++
	return os.WriteFile(file, []byte(text), 0o600)
}

func (s *texts) add(text string) (name string) {
	name = fleet.NameOf([]byte(text))
	s.all[name] = text
	return name
}

func cacheOf(t *testing.T, max int64) (*Cache, *texts, *time.Time) {
	t.Helper()
	c, err := OpenCache(t.TempDir(), "W", nil, max)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	from := &texts{all: map[string]string{}}
	c.from, c.now = from, func() time.Time { return now }
	return c, from, &now
}

// fetch returns the content of a blob.
func fetch(t *testing.T, c *Cache, name string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x")
	if err := c.Fetch(t.Context(), name, file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// It is a copy: whoever changes it changes nobody else's.
	if err := os.WriteFile(file, []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestCache(t *testing.T) {
	c, from, _ := cacheOf(t, 1<<20)
	a := from.add("a")
	for range 3 {
		if got := fetch(t, c, a); got != "a" {
			t.Errorf("%q", got)
		}
	}
	if from.n != 1 {
		t.Errorf("fetched %d times", from.n)
	}
	// What somebody has changed in the cache is fetched again.
	if err := os.WriteFile(filepath.Join(c.dir, a), []byte("b"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := fetch(t, c, a); got != "a" || from.n != 2 {
		t.Errorf("%q after %d", got, from.n)
	}
	// What a server has changed is not taken.
	from.all[fleet.NameOf([]byte("c"))] = "another"
	if err := c.Fetch(t.Context(), fleet.NameOf([]byte("c")), filepath.Join(t.TempDir(), "x")); !errors.Is(err, fleet.ErrNoBlob) {
		t.Errorf("%v", err)
	}
	if info, err := os.Stat(c.dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if n, err := c.Clear(); err != nil || n != 1 {
		t.Errorf("%d, %v", n, err)
	}
	if got := fetch(t, c, a); got != "a" || from.n != 4 {
		t.Errorf("%q after %d", got, from.n)
	}
}

func TestCacheForgets(t *testing.T) {
	c, from, now := cacheOf(t, 25)
	names := []string{from.add(strings.Repeat("a", 10)), from.add(strings.Repeat("b", 10)), from.add(strings.Repeat("c", 10))}
	has := func(i int) bool {
		_, err := os.Stat(filepath.Join(c.dir, names[i]))
		return !errors.Is(err, fs.ErrNotExist)
	}
	for i := range names[:2] {
		fetch(t, c, names[i])
		fetch(t, c, names[i]) // which notes its use
		*now = now.Add(2 * sweeps)
	}
	fetch(t, c, names[0])
	*now = now.Add(2 * sweeps)
	fetch(t, c, names[2])
	if !has(0) || has(1) || !has(2) {
		t.Errorf("the one unused for longest goes first: %v %v %v", has(0), has(1), has(2))
	}
	*now = now.Add(unused)
	if err := c.Sweep(); err != nil || has(0) {
		t.Errorf("it is kept though unused, %v", err)
	}
}

func TestOneProcess(t *testing.T) {
	dir := t.TempDir()
	first, err := OpenCache(dir, "W", nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	_, err = OpenCache(dir, "W", nil, 1)
	if kind, _ := problem.Of(err); kind != problem.Busy {
		t.Errorf("%v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenCache(dir, "W", nil, 1); err != nil {
		t.Errorf("%v", err)
	}
}
