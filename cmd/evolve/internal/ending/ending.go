// Package ending harvests the sessions that hooks have reported as ended, one process at a time.
package ending

import (
	"context"
	"errors"
	"fmt"
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

// inspection is how long a working tree may be examined.
const inspection = 10 * time.Second

// Run harvests each session in the queue that has ended, once. If another process does
// so, that one will; what it misses is left for the next harvest, as is what fails.
func (d *Desk) Run(ctx context.Context) error {
	dir, err := d.Home()
	if err != nil {
		return err
	}
	tried := map[string]bool{}
	for {
		lock := flock.New(dir.QueueLock(), flock.SetPermissions(0o600))
		if mine, err := lock.TryLock(); err != nil || !mine {
			return errors.Join(err, lock.Close())
		}
		n, err := d.drain(ctx, dir, tried)
		// A session that ended while this process held the lock is looked for once more.
		if err = errors.Join(err, lock.Close()); err != nil || n == 0 {
			return err
		}
	}
}

// drain harvests the sessions that were not tried yet, and counts them.
func (d *Desk) drain(ctx context.Context, dir datadir.Dir, tried map[string]bool) (n int, err error) {
	queue, err := hook.Queue(string(dir))
	if err != nil {
		return 0, err
	}
	for _, f := range queue {
		id := f.Transcript + "\x00" + f.Time.Format(time.RFC3339Nano)
		if f.Event != hook.SessionEnd || tried[id] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return n, err
		}
		tried[id] = true
		n++
		d.tree(ctx, dir, f)
		if err := d.Harvest(ctx, f.Transcript); err != nil {
			d.log(f, err)
		}
	}
	return n, nil
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
// file. Each line begins with the time, which decides when it expires.
func (d *Desk) log(f hook.Finished, err error) {
	fmt.Fprintf(d.Stderr, "%s session %s: %s\n", d.Now().UTC().Format(time.RFC3339), plain.Line(f.Session), plain.Line(err.Error()))
}
