package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// A run is walked by one process at a time: two would each pay for what the
// other has not recorded yet. So is a skill: two searches would spend the same
// held-out cases, and two trials of one challenger would each be half of the
// evidence. The locks are the system's, so that a process that was killed leaves
// none behind. Where a shared folder has no locks, the store keeps trials apart all
// the same: see tournament.TrialChangedError.

// lockRun takes the lock of a run; unlock releases it. A command that works on a copy of
// the database needs no lock: no other process writes to the copy.
func (a *app) lockRun(id string) (unlock func(), err error) {
	if a.access != datadir.Writes {
		return func() {}, nil
	}
	return a.lockRunUnder(context.Background(), id)
}

// lockRunUnder is lockRun under the lease of a night, if ctx has one: see takeLock.
func (a *app) lockRunUnder(ctx context.Context, id string) (unlock func(), err error) {
	path, err := a.runningPath(id)
	if err != nil {
		return nil, err
	}
	l, err := takeLock(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("lock run %s: %w", id, err)
	}
	if l == nil {
		return nil, errBusy(id)
	}
	_ = os.Chtimes(path, time.Time{}, a.Now()) // if it is killed: see begun
	return func() { leave(l) }, nil
}

// runningPath is where a lock stands; its folder is made.
func (a *app) runningPath(name string) (string, error) {
	h, err := a.home()
	if err != nil {
		return "", err
	}
	dir := h.Running()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of locks: %w", err)
	}
	return filepath.Join(dir, name), nil
}

// tryLock locks a file, which is made where there is none; nil where another process
// has it.
func tryLock(path string) (*flock.Flock, error) {
	for {
		l := flock.New(path, flock.SetPermissions(fileMode))
		if got, err := l.TryLock(); err != nil || !got {
			return nil, errors.Join(err, l.Close())
		}
		mine, err := l.Stat()
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		there, err := os.Stat(path)
		if err == nil && os.SameFile(mine, there) {
			return l, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, errors.Join(err, l.Close())
		}
		// Whoever had it has removed the file since it was opened: a third process
		// would lock another one of that name.
		if err := l.Close(); err != nil {
			return nil, err
		}
	}
}

// lockPatience is how long a night waits for another process to give a lock back.
var lockPatience = 2 * time.Second

// takeLock is tryLock, and in a night, where ctx is under a lease, more than that: it
// waits a while for another process, which may be about to find that it has lost its
// own lease, and takes the lock away from one that is suspended and belongs to an
// earlier one. Such a process asks and decides nothing when it comes back: see leased.
func takeLock(ctx context.Context, path string) (*flock.Flock, error) {
	mine := sleep.Generation(ctx)
	for began := time.Now(); ; {
		l, err := tryLock(path)
		switch {
		case err != nil || mine == 0:
			return l, err
		case l != nil:
			if err := os.WriteFile(path, fmt.Appendf(nil, `{"lease":%d}`, mine), fileMode); err != nil { // not renamed: the lock is on this file
				leave(l)
				return nil, err
			}
			return l, nil
		case time.Since(began) > lockPatience:
			if of := lockedUnder(path); of == 0 || of >= mine || os.Remove(path) != nil {
				return nil, nil
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(min(50*time.Millisecond, lockPatience)):
		}
	}
}

// lockedUnder is the generation of the lease that something was locked under, 0 for
// none.
func lockedUnder(path string) int64 {
	var h skillHolder
	if b, err := os.ReadFile(path); err != nil || json.Unmarshal(b, &h) != nil {
		return 0
	}
	return h.Lease
}

// leave gives a lock back, and removes its file, where that was not taken away.
func leave(l *flock.Flock) {
	mine, err := l.Stat()
	if there, e := os.Stat(l.Path()); err == nil && e == nil && os.SameFile(mine, there) {
		os.Remove(l.Path())
	}
	l.Close()
}

func errBusy(id string) error {
	return &problem.Error{Kind: problem.Busy, Err: &busyError{id}, Hint: "wait for it, or stop it first"}
}

// A busyError says that another process is at work on a run.
type busyError struct{ run string }

func (e *busyError) Error() string { return "another process is at work on run " + e.run }

// running reports whether a process is at work on a run.
func (a *app) running(id string) (bool, error) { return a.locked(id) }

// statusNow is the status of a run as it is now. One that is marked as running and
// that no process is at work on was killed: a process that ends by itself writes down
// how.
func (a *app) statusNow(r *tournament.Run) (tournament.RunStatus, error) {
	if r.Status != tournament.Running {
		return r.Status, nil
	}
	busy, err := a.running(r.ID)
	if err != nil || busy {
		return r.Status, err
	}
	return tournament.Killed, nil
}

// locked reports whether another process, or another part of this one, has a lock. It
// makes no file, and needs no right to write one.
func (a *app) locked(name string) (bool, error) {
	h, err := a.home()
	if err != nil {
		return false, err
	}
	busy, err := held(filepath.Join(h.Running(), name))
	if err != nil {
		return false, fmt.Errorf("look at the lock %s: %w", name, err)
	}
	return busy, nil
}

// A skillHolder is who works on a part of a skill, as its lock says.
type skillHolder struct {
	Run   string    `json:"run"`
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
	Lease int64     `json:"lease,omitempty"` // generation of the night's, 0 outside of nights
}

// A skillBusyError says that another process is at work on a skill. Nothing was
// spent.
type skillBusyError struct {
	Skill string
	By    skillHolder // zero where it has not said who it is yet
}

func (e *skillBusyError) Error() string {
	return fmt.Sprintf("%s is at work on %s", e.who(), e.Skill)
}

func (e *skillBusyError) who() string {
	if e.By.PID == 0 {
		return "another process"
	}
	who := fmt.Sprintf("run %s (process %d", e.By.Run, e.By.PID)
	if host, err := os.Hostname(); err != nil || host != e.By.Host {
		who += " on " + e.By.Host
	}
	return who + ")"
}

// skillLock names the lock of a part of a skill.
func skillLock(name, evolves string) string {
	if evolves == "" || evolves == evolveShorten {
		evolves = skill.Harness
	}
	sum := sha256.Sum256([]byte(name + "\x00" + evolves))
	return "skill-" + hex.EncodeToString(sum[:8])
}

// lockSkill makes a part of a skill (skill.Harness, skill.Description) this process'
// own, until leave is called; say tells who is at work. Errors: *skillBusyError.
func (a *app) lockSkill(name, evolves string) (say func(run string) error, unlock func(), err error) {
	return a.lockSkillUnder(context.Background(), name, evolves)
}

// lockSkillUnder is lockSkill under the lease of a night, if ctx has one: see takeLock.
func (a *app) lockSkillUnder(ctx context.Context, name, evolves string) (say func(run string) error, unlock func(), err error) {
	path, err := a.runningPath(skillLock(name, evolves))
	if err != nil {
		return nil, nil, err
	}
	l, err := takeLock(ctx, path)
	if err != nil {
		return nil, nil, fmt.Errorf("lock skill %s: %w", name, err)
	}
	if l == nil {
		busy := &skillBusyError{Skill: name}
		if raw, err := os.ReadFile(path); err == nil {
			_ = json.Unmarshal(raw, &busy.By) // it may be about to say it
		}
		return nil, nil, &problem.Error{Kind: problem.Busy, Err: busy, Hint: "nothing was spent; wait for it, or stop it first"}
	}
	say = func(run string) error {
		host, err := os.Hostname()
		if err != nil {
			host = "?"
		}
		raw, err := json.Marshal(skillHolder{run, os.Getpid(), host, a.Now().UTC(), sleep.Generation(ctx)})
		if err != nil {
			return fmt.Errorf("encode lock: %w", err)
		}
		if err := os.WriteFile(path, raw, fileMode); err != nil { // not renamed: the lock is on this file
			return fmt.Errorf("lock skill %s: %w", name, err)
		}
		return nil
	}
	return say, func() { leave(l) }, nil
}

// skillAtWork reports whether a process is at work on any part of a skill.
func (a *app) skillAtWork(name string) (bool, error) {
	for _, part := range []string{skill.Harness, skill.Description} {
		if busy, err := a.locked(skillLock(name, part)); busy || err != nil {
			return busy, err
		}
	}
	return false, nil
}

// own makes the run's part of its skill this process' own. The caller must end p.
func (a *app) own(ctx context.Context, p *prepared) (err error) {
	if p.f.dryRun {
		return nil
	}
	if p.say, p.leave, err = a.lockSkillUnder(ctx, p.f.Skill, p.f.Evolve); err != nil || p.f.owned == nil {
		return err
	}
	return p.f.owned(ctx)
}
