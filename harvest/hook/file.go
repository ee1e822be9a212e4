package hook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skill-evolve/evolve/harvest/hook/kit"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// maxFile is how much of a file a hook reads, in bytes.
const maxFile = 8 << 20

// readFile reads a file in a folder that others can write to: a link to an endless
// device would end the process with the exit code that blocks, and a pipe would make
// the agent wait.
func readFile(path string) ([]byte, error) {
	b, err := bounded.ReadFile(path, maxFile)
	_, large := errors.AsType[*bounded.TooLargeError](err)
	if at, ok := errors.AsType[*fs.PathError](err); ok && (large || errors.Is(err, bounded.ErrNotRegular)) {
		err = fmt.Errorf("%s: %w", filepath.Base(path), at.Err) // not the system's fault: see bySystem
	}
	return b, err
}

// Writable returns why hooks can write nothing in home; nil if they can, or if home
// does not exist yet and the first hook will make it. Its attempt leaves no file
// behind.
func Writable(home string) error {
	if _, err := os.Stat(home); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	f, err := os.OpenFile(filepath.Join(home, BusFile), os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		err = f.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// A full disk is noticed only on writing.
	t, remove, err := passing(home)
	if err != nil {
		return err
	}
	defer remove()
	_, err = t.Write(make([]byte, 4096))
	return errors.Join(err, t.Close())
}

// named makes a file; remove deletes it.
func named(dir string) (f *os.File, remove func(), err error) {
	if f, err = os.CreateTemp(dir, kit.TempPrefix); err != nil {
		return nil, nil, err
	}
	return f, func() { os.Remove(f.Name()) }, nil
}
