// Package lock keeps a run and a part of a skill to one process, under a night's lease
// if there is one.
//
// Two processes in one run would each pay for what the other has not recorded yet. Two
// searches on one part of a skill would spend the same held-out cases, and two trials
// of one challenger would each have half of the evidence. The locks are the system's,
// so that a killed process leaves none behind. On a shared folder without locks, the
// store still keeps trials apart: see record.TrialChangedError.
package lock

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
	"github.com/skill-evolve/evolve/store/datadir"
)

// Locks are the locks of one data folder.
type Locks struct {
	Dir datadir.Dir
	Now func() time.Time
}

// Run takes the lock of a run; unlock releases it. lease may be nil; see take. Errors:
// *RunBusyError.
func (k Locks) Run(ctx context.Context, id string, lease *Lease) (unlock func(), err error) {
	path, err := k.path(id)
	if err != nil {
		return nil, err
	}
	l, err := take(ctx, path, lease.Generation())
	if err != nil {
		return nil, fmt.Errorf("lock run %s: %w", id, err)
	}
	if l == nil {
		return nil, RunBusy(id)
	}
	_ = os.Chtimes(path, time.Time{}, k.Now()) // if it is killed: see Killed
	return func() { leave(l) }, nil
}

// path is the path of a lock; its folder is made.
func (k Locks) path(name string) (string, error) {
	dir := k.Dir.Running()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of locks: %w", err)
	}
	return filepath.Join(dir, name), nil
}

// fileMode keeps the files for their owner alone.
const fileMode os.FileMode = 0o600

// try locks a file, which is made if it does not exist; nil if another process has it.
func try(path string) (*flock.Flock, error) {
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
		// The process that held it has removed the file since it was opened: a third
		// process would lock a new file of that name.
		if err := l.Close(); err != nil {
			return nil, err
		}
	}
}

// patience is how long a night waits for another process to release a lock.
const patience = 2 * time.Second

// take is try, with more steps under a lease of generation mine (0: none): it waits a
// while for another process, which may be about to notice that it has lost its own
// lease, and takes the lock away from one that is suspended and has an earlier lease.
// When such a process resumes, it neither calls nor decides anything: see Lease.Held.
func take(ctx context.Context, path string, mine int64) (*flock.Flock, error) {
	for began := time.Now(); ; {
		l, err := try(path)
		switch {
		case err != nil || mine == 0:
			return l, err
		case l != nil:
			if err := os.WriteFile(path, fmt.Appendf(nil, `{"lease":%d}`, mine), fileMode); err != nil { // not renamed: the lock is on this file
				leave(l)
				return nil, err
			}
			return l, nil
		case time.Since(began) > patience:
			if of := lockedUnder(path); of == 0 || of >= mine || os.Remove(path) != nil {
				return nil, nil
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(min(50*time.Millisecond, patience)):
		}
	}
}

// lockedUnder is the generation of the lease under which a file was locked, 0 for none.
func lockedUnder(path string) int64 {
	var h Holder
	if b, err := os.ReadFile(path); err != nil || json.Unmarshal(b, &h) != nil {
		return 0
	}
	return h.Lease
}

// leave releases a lock, and removes its file unless the lock was taken away.
func leave(l *flock.Flock) {
	mine, err := l.Stat()
	if there, e := os.Stat(l.Path()); err == nil && e == nil && os.SameFile(mine, there) {
		os.Remove(l.Path())
	}
	l.Close()
}

// A RunBusyError means that another process is working on a run.
type RunBusyError struct{ Run string }

func (e *RunBusyError) Error() string { return "another process is at work on run " + e.Run }

// RunBusy is a *RunBusyError with a hint.
func RunBusy(id string) error {
	return &problem.Error{Kind: problem.Busy, Err: &RunBusyError{id}, Hint: "wait for it, or stop it first"}
}

// Running reports whether a process, or another part of this one, works on a run.
func (k Locks) Running(id string) (bool, error) {
	busy, err := Held(filepath.Join(k.Dir.Running(), id))
	if err != nil {
		return false, fmt.Errorf("look at the lock %s: %w", id, err)
	}
	return busy, nil
}

// Killed reports whether the process of a run that no process works on was killed: one
// that ends by itself removes the file of its lock. at is when the lock was taken.
func (k Locks) Killed(id string) (killed bool, at time.Time, err error) {
	switch info, err := os.Stat(filepath.Join(k.Dir.Running(), id)); {
	case err == nil:
		return true, info.ModTime(), nil
	case errors.Is(err, fs.ErrNotExist):
		return false, time.Time{}, nil
	default:
		return false, time.Time{}, fmt.Errorf("look at the lock %s: %w", id, err)
	}
}

// Held reports whether another process, or another part of this one, holds the lock on
// a file. It makes no file, and needs no right to write one.
func Held(path string) (bool, error) {
	if _, err := os.Stat(path); err != nil {
		return false, nil
	}
	l := flock.New(path, flock.SetFlag(0))
	got, err := l.TryRLock()            // a shared lock: readers do not exclude each other
	if errors.Is(err, fs.ErrNotExist) { // it has just been released
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return !got, l.Close()
}

// A Holder describes the process that works on a part of a skill; it is stored in the
// lock's file.
type Holder struct {
	Run   string    `json:"run"`
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
	Lease int64     `json:"lease,omitempty"` // generation of the night's, 0 outside of nights
}

// A SkillBusyError means that another process is working on a skill. Nothing was spent.
type SkillBusyError struct {
	Skill string
	By    Holder // zero if it has not written it yet
}

func (e *SkillBusyError) Error() string {
	return fmt.Sprintf("%s is at work on %s", e.who(), e.Skill)
}

func (e *SkillBusyError) who() string {
	if e.By.PID == 0 {
		return "another process"
	}
	who := fmt.Sprintf("run %s (process %d", e.By.Run, e.By.PID)
	if host, err := os.Hostname(); err != nil || host != e.By.Host {
		who += " on " + e.By.Host
	}
	return who + ")"
}

// file names the lock of a part of a skill.
func file(name, part string) string {
	sum := sha256.Sum256([]byte(name + "\x00" + part))
	return "skill-" + hex.EncodeToString(sum[:8])
}

// A Skill is a part of a skill that this process has locked.
type Skill struct {
	name  string
	l     *flock.Flock
	now   func() time.Time
	lease *Lease
}

// Skill locks a part of a skill (skill.Harness, skill.Description) for this process,
// until Unlock is called. lease may be nil; see take. Errors: *SkillBusyError.
func (k Locks) Skill(ctx context.Context, name, part string, lease *Lease) (*Skill, error) {
	path, err := k.path(file(name, part))
	if err != nil {
		return nil, err
	}
	l, err := take(ctx, path, lease.Generation())
	if err != nil {
		return nil, fmt.Errorf("lock skill %s: %w", name, err)
	}
	if l == nil {
		busy := &SkillBusyError{Skill: name}
		if raw, err := os.ReadFile(path); err == nil {
			_ = json.Unmarshal(raw, &busy.By) // it may be about to write it
		}
		return nil, &problem.Error{Kind: problem.Busy, Err: busy, Hint: "nothing was spent; wait for it, or stop it first"}
	}
	return &Skill{name, l, k.Now, lease}, nil
}

// By records in the lock's file which run works on the skill.
func (s *Skill) By(run string) error {
	host, err := os.Hostname()
	if err != nil {
		host = "?"
	}
	raw, err := json.Marshal(Holder{run, os.Getpid(), host, s.now().UTC(), s.lease.Generation()})
	if err != nil {
		return fmt.Errorf("encode lock: %w", err)
	}
	if err := os.WriteFile(s.l.Path(), raw, fileMode); err != nil { // not renamed: the lock is on this file
		return fmt.Errorf("lock skill %s: %w", s.name, err)
	}
	return nil
}

// Unlock releases the lock; s may be nil.
func (s *Skill) Unlock() {
	if s != nil {
		leave(s.l)
	}
}

// Working reports whether a process works on one of these parts of a skill.
func (k Locks) Working(name string, parts ...string) (bool, error) {
	for _, part := range parts {
		if busy, err := k.Running(file(name, part)); busy || err != nil {
			return busy, err
		}
	}
	return false, nil
}
