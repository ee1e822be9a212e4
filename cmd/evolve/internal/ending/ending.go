// Package ending harvests the sessions that hooks have reported as ended, one process at a time.
package ending

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval/git"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/store/datadir"
)

// A Desk harvests what has ended.
type Desk struct {
	*term.Terminal
	Home func() (datadir.Dir, error)
	// Harvest reads one transcript of a session, and removes it from the queue.
	Harvest func(ctx context.Context, transcript string) error
	// Allowed reports whether a session may be read that works in these folders.
	Allowed func(folders []string) bool
}

// rest is how long the harvest waits before it begins: the hook that started it ends
// meanwhile, sessions that end together are read together, and the agent ends undisturbed.
const rest = 2 * time.Second

// inspection is how long a working tree may be examined.
const inspection = 10 * time.Second

// Underway reports whether a process harvests, or is about to. What is in the queue by now
// will be harvested by that process.
func Underway(dir datadir.Dir) bool {
	// The lock is shared, so that hooks which ask at the same time do not see each other.
	lock := lockOf(dir)
	free, err := lock.TryRLock()
	return errors.Join(err, lock.Close()) == nil && !free
}

func lockOf(dir datadir.Dir) *flock.Flock {
	return flock.New(dir.QueueLock(), flock.SetPermissions(0o600))
}

// Run harvests each session in the queue that has ended, once. If another process does
// so, that one will. What fails is left for the next harvest.
func (d *Desk) Run(ctx context.Context) error {
	dir, err := d.Home()
	if err != nil {
		return err
	}
	tried := map[string]bool{}
	for {
		lock := lockOf(dir)
		if mine, err := lock.TryLock(); err != nil || !mine {
			return errors.Join(err, lock.Close())
		}
		if len(tried) == 0 {
			err = d.rest(ctx)
		}
		if err == nil {
			err = d.drain(ctx, dir, tried)
		}
		if err = errors.Join(err, lock.Close()); err != nil {
			return err
		}
		// Of a session that ended while this process held the lock, nobody else knows.
		if left, err := waiting(dir, tried); err != nil || len(left) == 0 {
			return err
		}
	}
}

func (d *Desk) rest(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(rest):
		return nil
	}
}

// waiting are the ended sessions in the queue that were not tried yet.
func waiting(dir datadir.Dir, tried map[string]bool) ([]hook.Finished, error) {
	queue, err := hook.Queue(string(dir))
	return slices.DeleteFunc(queue, func(f hook.Finished) bool { return f.Event != hook.SessionEnd || tried[entry(f)] }), err
}

func entry(f hook.Finished) string { return f.Transcript + "\x00" + f.Time.Format(time.RFC3339Nano) }

// drain harvests the sessions that were not tried yet.
func (d *Desk) drain(ctx context.Context, dir datadir.Dir, tried map[string]bool) error {
	queue, err := waiting(dir, tried)
	if err != nil {
		return err
	}
	for _, f := range queue {
		if err := ctx.Err(); err != nil {
			return err
		}
		tried[entry(f)] = true
		d.tree(ctx, dir, f)
		if err := d.Harvest(ctx, f.Transcript); err != nil {
			d.log(f, err)
		}
	}
	return nil
}

// tree notes how a session left the repository that it worked in, if it did.
func (d *Desk) tree(ctx context.Context, dir datadir.Dir, f hook.Finished) {
	if f.CWD == "" || d.Allowed != nil && !d.Allowed([]string{f.CWD}) {
		return
	}
	head, err := git.Head(f.CWD)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, inspection)
	defer cancel()
	var dirty *bool
	if differs, err := git.Dirty(ctx, f.CWD); err == nil {
		dirty = &differs
	}
	if err := hook.NoteTree(string(dir), f, head, dirty, d.Now()); err != nil {
		d.log(f, fmt.Errorf("note the tree: %w", err))
	}
}

// log notes why a session was not harvested. Stderr of the detached process is its log
// file, see Timed.
func (d *Desk) log(f hook.Finished, err error) {
	fmt.Fprintf(d.Stderr, "session %s: %s\n", plain.Line(f.Session), plain.Line(err.Error()))
}

// Timed puts the time before each line that is written to w: it decides when a line of a
// log expires.
func Timed(w io.Writer, now func() time.Time) io.Writer { return &timed{w: w, now: now} }

type timed struct {
	mu   sync.Mutex
	w    io.Writer
	now  func() time.Time
	open bool // within a line
}

func (t *timed) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b bytes.Buffer
	for line := range bytes.Lines(text) {
		if !t.open {
			fmt.Fprintf(&b, "%s ", t.now().UTC().Format(time.RFC3339))
		}
		b.Write(line)
		t.open = line[len(line)-1] != '\n'
	}
	if _, err := t.w.Write(b.Bytes()); err != nil {
		return 0, err
	}
	return len(text), nil
}
