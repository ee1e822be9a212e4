// Package scratch records which folders in the system's folder for temporary files
// belong to this data folder. A process that makes them writes their paths into a
// ledger below the data folder and holds a lock on it while it lives; the folders in a
// ledger that no process holds were left behind by a killed process. A name alone
// proves nothing: anybody may make evolve-case-study.
//
// The ledger is in the data folder, and not a marker in each folder, because an agent
// works in such a folder: it would see the marker, could remove it, or write one.
package scratch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gofrs/flock"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// Folder holds the ledgers, below the data folder.
const Folder = "scratch"

const (
	extension = ".ledger"
	guardFile = ".lock" // held while a ledger is made, and while others are read
)

// ownName matches what MkdirTemp and CreateTemp make of evolve's prefixes.
var ownName = lazyregexp.New(`^evolve-(?:(?:replay|case|guard|git|look)-[0-9]+|case-[0-9]+\.tar)$`)

// Own reports whether path has a name that evolve gives to temporary folders. That does
// not prove that it is evolve's.
func Own(path string) bool { return ownName.MatchString(filepath.Base(path)) }

// A Ledger lists what one process makes. It is safe for concurrent use.
type Ledger struct {
	home string

	mu   sync.Mutex
	file *os.File
	lock *flock.Flock
	made []string
}

var (
	mu   sync.Mutex
	open []*Ledger // the last one is used
)

// Keep opens a ledger of the data folder home, in which everything is listed that this
// process makes until the ledger is closed. Nothing is written before there is
// something to list. If several are open, the latest is used.
func Keep(home string) *Ledger {
	mu.Lock()
	defer mu.Unlock()
	l := &Ledger{home: home}
	open = append(open, l)
	return l
}

func kept() *Ledger {
	mu.Lock()
	defer mu.Unlock()
	if len(open) == 0 {
		return nil
	}
	return open[len(open)-1]
}

// Dir is os.MkdirTemp for a folder that is removed again before this process ends.
// prefix is "evolve-case-", "evolve-replay-", "evolve-guard-" or "evolve-git-".
func Dir(parent, prefix string) (string, error) {
	dir, err := os.MkdirTemp(parent, prefix)
	if err == nil {
		err = note(dir)
	}
	return dir, err
}

// File is os.CreateTemp for such a file; pattern is "evolve-case-*.tar".
func File(parent, pattern string) (*os.File, error) {
	f, err := os.CreateTemp(parent, pattern)
	if err != nil {
		return nil, err
	}
	if err := note(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// note lists a new folder or file, and removes it if that fails: otherwise it would
// never be found again.
func note(path string) error {
	l := kept()
	if l == nil {
		return nil
	}
	if err := l.add(path); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

func (l *Ledger) add(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		if err := l.open(); err != nil {
			return fmt.Errorf("list what is temporary: %w", err)
		}
	}
	if _, err := fmt.Fprintln(l.file, path); err != nil {
		return fmt.Errorf("list what is temporary: %w", err)
	}
	l.made = append(l.made, path)
	return nil
}

// open makes the ledger and takes its lock, while no sweep runs.
func (l *Ledger) open() error {
	dir := filepath.Join(l.home, Folder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	guard := flock.New(filepath.Join(dir, guardFile), flock.SetPermissions(0o600))
	if err := guard.Lock(); err != nil {
		return err
	}
	defer guard.Close()
	f, err := os.CreateTemp(dir, "*"+extension)
	if err != nil {
		return err
	}
	lock := flock.New(f.Name(), flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	l.file, l.lock = f, lock
	return nil
}

// Close ends the ledger. If something that it lists still exists, the ledger is kept
// for a sweep to find.
func (l *Ledger) Close() error {
	if l == nil {
		return nil
	}
	mu.Lock()
	open = slices.DeleteFunc(open, func(o *Ledger) bool { return o == l })
	mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	name := l.file.Name()
	err := l.file.Close()
	l.file = nil
	if len(there(l.made)) == 0 {
		err = errors.Join(err, os.Remove(name))
	}
	return errors.Join(err, l.lock.Close())
}

// Sweep removes, with remove, what killed processes of the data folder home left
// behind, and returns what is gone and what could not be removed. It keeps what a
// living process has listed, however old it is, and everything that no ledger lists.
func Sweep(home string, remove func(path string) error) (removed, left []string, err error) {
	dir := filepath.Join(home, Folder)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read what is temporary: %w", err)
	}
	guard := flock.New(filepath.Join(dir, guardFile), flock.SetPermissions(0o600))
	if err := guard.Lock(); err != nil {
		return nil, nil, fmt.Errorf("read what is temporary: %w", err)
	}
	defer guard.Close()
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), extension) || !e.Type().IsRegular() {
			continue
		}
		gone, stay, e := sweep(filepath.Join(dir, e.Name()), remove)
		removed, left, err = append(removed, gone...), append(left, stay...), errors.Join(err, e)
	}
	return removed, left, err
}

// Listed returns what the ledgers of the data folder home list and what still exists:
// what living processes use, and what a sweep could not remove.
func Listed(home string) (paths []string) {
	dir := filepath.Join(home, Folder)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), extension) {
			continue
		}
		if text, err := os.ReadFile(filepath.Join(dir, e.Name())); err == nil {
			paths = append(paths, there(strings.Split(string(text), "\n"))...)
		}
	}
	return paths
}

// sweep removes what one ledger lists, and the ledger if nothing is left; it does
// nothing if the ledger's process lives.
func sweep(name string, remove func(path string) error) (removed, left []string, err error) {
	lock := flock.New(name, flock.SetFlag(os.O_RDWR))
	free, err := lock.TryLock()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil // its process has ended meanwhile
	}
	if err != nil || !free {
		return nil, nil, err
	}
	defer lock.Close()
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, fmt.Errorf("read what is temporary: %w", err)
	}
	for _, path := range there(strings.Split(string(text), "\n")) {
		if err := remove(path); err != nil {
			left = append(left, path)
			continue
		}
		removed = append(removed, path)
	}
	if len(left) == 0 {
		err = os.Remove(name)
	}
	return removed, left, err
}

// there are those of paths that have a name of evolve's and still exist. A link in
// place of a folder does not count.
func there(paths []string) (out []string) {
	for _, path := range paths {
		if !filepath.IsAbs(path) || !Own(path) {
			continue
		}
		if info, err := os.Lstat(path); err == nil && (info.IsDir() || info.Mode().IsRegular()) {
			out = append(out, path)
		}
	}
	return out
}
