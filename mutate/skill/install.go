package skill

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// A DriftError says that the live file is not the text that was expected:
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
// has the SHA-256 want (hex; "" where there must be no file yet): otherwise it
// returns a *DriftError and writes nothing. A live file that already holds text
// is a success without a write. Rolling back is Install with the older text.
//
// The new text is written to a temporary file in the same folder, synced, and
// renamed over the old one, so that a crash leaves either the old text or the
// new; the next Install removes what a crash left behind. Symlinks are followed
// and stay; the mode is kept (0600 for a new file, 0700 for its folder). Every
// other error is plain and wrapped, and comes without a change on disk, except
// for a failed sync of the folder after the rename.
//
// Installers exclude each other by a lock on the folder itself, which leaves no
// file behind and is the same for a shell and for a nightly job whose
// environments differ. An editor takes no lock: the text is compared a second
// time directly before the rename, and an edit saved within the microseconds
// between is the one that can still be lost.
func Install(path string, want string, text []byte) error {
	if err := install(path, want, text, func() {}); err != nil {
		var drift *DriftError
		if errors.As(err, &drift) {
			return err
		}
		return fmt.Errorf("install %s: %w", path, err)
	}
	return nil
}

// install calls beforeRename when the temporary file is complete: a test edits
// or dies there.
func install(path, want string, text []byte, beforeRename func()) (err error) {
	target, err := resolve(path, want == "")
	if errors.Is(err, fs.ErrNotExist) {
		return &DriftError{Path: path, Want: want} // its folder is gone too
	}
	if err != nil {
		return err
	}
	dir := filepath.Dir(target)
	unlock, err := lockFolder(dir)
	if err != nil {
		return err
	}
	defer unlock()

	clean(dir)
	live, mode, err := readLive(target)
	if err != nil {
		return err
	}
	if live == HashText(text) {
		return nil
	}
	if live != want {
		return &DriftError{Path: path, Want: want, Live: live}
	}

	tmp, err := os.CreateTemp(dir, tempPrefix+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name())
		}
	}()
	if err := writeSynced(tmp, text, mode); err != nil {
		return err
	}
	beforeRename()
	live, _, err = readLive(target)
	if err != nil {
		return err
	}
	if live != want {
		return &DriftError{Path: path, Want: want, Live: live}
	}
	if err := os.Rename(tmp.Name(), target); err != nil {
		return err
	}
	if serr := syncFolder(dir); serr != nil {
		return fmt.Errorf("sync folder after the new text was put in place: %w", serr)
	}
	return nil
}

// tempPrefix begins the names of our temporary files.
const tempPrefix = ".SKILL.md.evolve-"

func isTemp(name string) bool { return strings.HasPrefix(name, tempPrefix) }

// clean removes temporary files of installers that died. The caller holds the
// lock, so none of them is alive; failing to remove one harms nothing.
func clean(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if isTemp(e.Name()) && e.Type().IsRegular() {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// resolve follows symlinks to the file that is to be replaced. A file that is
// to be created gets its folder.
func resolve(path string, create bool) (string, error) {
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
	if create {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return "", err
		}
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}

// readLive is the hash ("" for no file) and the mode of what is installed.
func readLive(target string) (hash string, mode fs.FileMode, err error) {
	info, err := os.Lstat(target)
	if errors.Is(err, fs.ErrNotExist) {
		return "", 0o600, nil
	}
	if err != nil {
		return "", 0, err
	}
	if !info.Mode().IsRegular() {
		return "", 0, fmt.Errorf("%s is not a regular file", target)
	}
	text, err := os.ReadFile(target)
	if err != nil {
		return "", 0, err
	}
	return HashText(text), info.Mode().Perm(), nil
}

// writeSynced fills, syncs and closes a new file.
func writeSynced(f *os.File, text []byte, mode fs.FileMode) error {
	if _, err := f.Write(text); err != nil {
		return err
	}
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

// syncFolder makes a rename durable. Some file systems cannot sync a folder and
// need no such call.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// lockFolder locks a folder against other installers. Where the file system
// cannot lock a folder (NFS wants the file open for writing), a file in the
// system's temporary folder, named by the hash of the path, stands in for it.
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
