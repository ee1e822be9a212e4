// Package install puts a text of a skill, or a whole skill, in place on disk without losing an edit.
package install

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// A DriftError means that the live file is not the text that was expected:
// someone edited it. Nothing was written.
type DriftError struct {
	Path string
	Want string // SHA-256 of the text expected, "" for no file
	Live string // SHA-256 of the text found, "" for no file
}

func (e *DriftError) Error() string {
	switch {
	case e.Live == "":
		return fmt.Sprintf("install %s: the file is gone; %s was expected", e.Path, short(e.Want))
	case e.Want == "":
		return fmt.Sprintf("install %s: a file is there already (%s)", e.Path, short(e.Live))
	}
	return fmt.Sprintf("install %s: the file was edited: it is %s, and %s was expected", e.Path, short(e.Live), short(e.Want))
}

func short(hash string) string { return hash[:min(12, len(hash))] }

// lockWait is how long Install waits for another one in the same folder, which
// holds its lock for the time of two fsyncs.
const lockWait = 30 * time.Second

// Install replaces the file at path with text if and only if its present text
// has the SHA-256 want (hex): otherwise it returns a *DriftError and writes
// nothing. A live file that already holds text is a success without a write.
// Rolling back is Install with the older text.
//
// path is one that filepath.EvalSymlinks returned, and that the caller has
// written down as the one to be changed; if it leads through a symlink by now,
// somebody has put that there, and nothing is written.
//
// The new text is written to a temporary file in the same folder, synced, and
// renamed over the old one, so that a crash leaves either the old text or the
// new; the next Install removes what a crash left behind. Mode, owner and group
// are kept. Every other error is plain and wrapped, and comes without a change on
// disk, except for what is found out only after the rename: that the folder could
// not be synced, or that another one has taken its place.
//
// The folder is opened once, and everything happens inside what was opened:
// if somebody puts another folder, or a symlink to one, in its place
// meanwhile, nothing is read from there and nothing written to it.
//
// Installers exclude each other by a lock on the folder itself, which leaves no
// file behind and is the same for a shell and for a nightly job whose
// environments differ. An editor takes no lock: the text is compared a second
// time directly before the rename, and an edit saved within the microseconds
// between is the one that can still be lost.
func Install(path string, want string, text []byte) error {
	return named(path, install(path, want, text, func(step) {}))
}

// named puts the path into an error that does not have it yet.
func named(path string, err error) error {
	var drift *DriftError
	if err == nil || errors.As(err, &drift) {
		return err
	}
	return fmt.Errorf("install %s: %w", path, err)
}

// A step is a point of an installation at which a test edits, or dies.
type step string

const (
	opened   step = "opened"   // what is there of the folders above is open
	resolved step = "resolved" // the folder is open
	locked   step = "locked"   // against other installers
	compared step = "compared" // the live text is the one expected
	created  step = "created"  // the temporary file is there, empty
	halfway  step = "halfway"  // it holds half of the text
	complete step = "complete" // it is written and synced
	checked  step = "checked"  // the live text was compared again
	renamed  step = "renamed"  // the new text is live
	synced   step = "synced"   // and durable
)

// install calls at after each step.
func install(path, want string, text []byte, at func(step)) (err error) {
	target, err := resolve(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &DriftError{Path: path, Want: want} // its folder is gone too
	}
	if err != nil {
		return err
	}
	if target != path {
		return fmt.Errorf("it leads to %s now", target)
	}
	p := site{path: path, name: filepath.Base(path)}
	if p.folder, err = os.OpenRoot(filepath.Dir(path)); err != nil {
		return err
	}
	defer p.folder.Close()
	at(resolved)
	unlock, err := lockFolder(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer unlock()
	// The lock was taken by name, and may be that of another folder by now.
	if err := p.moved(); err != nil {
		return err
	}
	at(locked)

	p.clean()
	live, err := p.read()
	if err != nil {
		return err
	}
	if live.hash == skill.HashText(text) {
		return nil
	}
	if live.hash != want {
		return &DriftError{Path: path, Want: want, Live: live.hash}
	}
	at(compared)

	tmp, err := p.write(text, live, at)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = p.folder.Remove(tmp) // gone already, after the rename
		}
	}()
	at(complete)
	again, err := p.read()
	if err != nil {
		return err
	}
	if again.hash != want {
		return &DriftError{Path: path, Want: want, Live: again.hash}
	}
	if err := p.moved(); err != nil {
		return err
	}
	at(checked)
	if err := p.folder.Rename(tmp, p.name); err != nil {
		return err
	}
	at(renamed)
	if err := p.sync(); err != nil {
		return fmt.Errorf("sync folder after the new text was put in place: %w", err)
	}
	at(synced)
	if err := p.moved(); err != nil {
		return fmt.Errorf("the new text is in the folder that was there before: %w", err)
	}
	return nil
}

// tempPrefix begins the names of our temporary files.
const tempPrefix = ".SKILL.md.evolve-"

func isTemp(name string) bool { return strings.HasPrefix(name, tempPrefix) }

// resolve follows symlinks to a file, or to the folder of one that is not there.
func resolve(path string) (string, error) {
	target, err := filepath.EvalSymlinks(path)
	if err == nil {
		return target, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if _, err := os.Lstat(path); err == nil {
		return "", errors.New("the file is a symlink to nothing")
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}

// lockFolder locks a folder against other installers. If the file system
// cannot lock a folder (NFS requires the file to be open for writing), it
// locks a file in the system's temporary folder instead, named by the hash of
// the path.
func lockFolder(dir string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	l := flock.New(dir, flock.SetFlag(os.O_RDONLY))
	ok, err := l.TryLockContext(ctx, 5*time.Millisecond)
	if err != nil && ctx.Err() == nil {
		if _, serr := os.Stat(dir); serr != nil {
			return nil, serr
		}
		name := fmt.Sprintf("evolve-install-%x.lock", sha256.Sum256([]byte(dir)))
		l = flock.New(filepath.Join(os.TempDir(), name), flock.SetPermissions(0o600))
		ok, err = l.TryLockContext(ctx, 5*time.Millisecond)
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("another installer has held the folder for %v", lockWait)
	}
	if err != nil {
		return nil, fmt.Errorf("lock folder: %w", err)
	}
	if !ok {
		return nil, errors.New("lock folder: not granted")
	}
	return func() { l.Close() }, nil
}
