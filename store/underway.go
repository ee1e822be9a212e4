package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"github.com/google/renameio/v2"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store/sqlite"
)

// Underway notes the calls of a run that are in flight, in a file beside the database,
// with one unsynced write per call. The file survives a kill of the process, but need
// not survive a crash of the machine.
type Underway struct {
	path string
	mu   sync.Mutex
	f    *os.File
	open map[string]eval.Assumed
	past bool // it includes calls of earlier processes
}

var _ eval.Underway = (*Underway)(nil)

// The lines of the file: a call begins, has ended, and the sum over killed processes.
const (
	beginLine = "+ %s %d %g\n"
	endLine   = "- %s\n"
	pastLine  = "= %d %d %g\n"
)

// Underway opens the notes of a run, and returns how many calls of earlier processes
// have no recorded answer, and what was reserved for them. The caller must be the only
// one that works on the run, and must Close it.
func (s *Store) Underway(ctx context.Context, run string) (u *Underway, calls int64, reserved eval.Assumed, err error) {
	dir := filepath.Join(filepath.Dir(s.Path()), "underway")
	u = &Underway{path: filepath.Join(dir, url.PathEscape(run)+".log"), open: map[string]eval.Assumed{}}
	fail := func(err error) (*Underway, int64, eval.Assumed, error) {
		return nil, 0, eval.Assumed{}, fmt.Errorf("open the notes of run %s: %w", run, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fail(err)
	}
	before, calls, reserved, err := readUnderway(u.path)
	if err != nil {
		return fail(err)
	}
	for key, a := range before {
		done, err := s.answered(ctx, run, key)
		if err != nil {
			return fail(err)
		}
		if !done {
			calls++
			reserved = reserved.Add(a)
		}
	}
	first := ""
	if u.past = calls > 0; u.past {
		first = fmt.Sprintf(pastLine, calls, reserved.Tokens, reserved.USD)
	}
	// The sum replaces the notes atomically, so no call is counted twice.
	if err := renameio.WriteFile(u.path, []byte(first), 0o600); err != nil {
		return fail(err)
	}
	if u.f, err = os.OpenFile(u.path, os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return fail(err)
	}
	return u, calls, reserved, nil
}

// readUnderway reads the notes of earlier processes: calls that began and did not end,
// and the sum over the processes before. A last line may be torn.
func readUnderway(path string) (open map[string]eval.Assumed, calls int64, past eval.Assumed, err error) {
	open = map[string]eval.Assumed{}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return open, 0, past, nil
	} else if err != nil {
		return nil, 0, past, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text() + "\n"
		var key string
		var a eval.Assumed
		if n, _ := fmt.Sscanf(line, beginLine, &key, &a.Tokens, &a.USD); n == 3 {
			open[key] = a
		} else if n, _ := fmt.Sscanf(line, endLine, &key); n == 1 {
			delete(open, key)
		} else {
			_, _ = fmt.Sscanf(line, pastLine, &calls, &past.Tokens, &past.USD)
		}
	}
	return open, calls, past, lines.Err()
}

// answered reports whether a run has a record under a key.
func (s *Store) answered(ctx context.Context, run, key string) (bool, error) {
	found, err := sqlite.Query(ctx, s.DB, sqlite.ScanOne[int], `SELECT 1 FROM rollouts WHERE run = ?1 AND key = ?2 UNION ALL SELECT 1 FROM completions WHERE run = ?1 AND key = ?2`, run, key)
	return len(found) > 0, err
}

// Begin implements eval.Underway.
func (u *Underway) Begin(key string, a eval.Assumed) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.open[key] = a
	_, err := fmt.Fprintf(u.f, beginLine, key, a.Tokens, a.USD)
	return err
}

// End implements eval.Underway. If it cannot be written, the usage of the call counts
// as unknown, unless it is recorded.
func (u *Underway) End(key string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.open, key)
	_, _ = fmt.Fprintf(u.f, endLine, key)
}

// Close closes the notes. Calls that are still open count for the next process that
// works on the run; if there are none, the file is removed.
func (u *Underway) Close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	err := u.f.Close()
	if len(u.open) == 0 && !u.past {
		err = errors.Join(err, os.Remove(u.path))
	}
	return err
}
