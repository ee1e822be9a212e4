package hook

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxFile is how much of a file a hook reads, in bytes.
const maxFile = 8 << 20

// readFile reads a file that lies where others can put something: a link to a
// device that never ends would end the process with the code that blocks, and a
// pipe would hold up the agent.
func readFile(path string) ([]byte, error) {
	if err := regular(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1)) // some have no size and no end
	if len(b) > maxFile {
		return nil, fmt.Errorf("%s is too long", filepath.Base(path))
	}
	return b, err
}

// regular refuses what is no file of a size that can be read.
func regular(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return fmt.Errorf("%s is no file that could be read", filepath.Base(path))
	}
	return nil
}

// Writable returns why hooks can note nothing in home, nil where they can or where
// the first of them has yet to make it.
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
	// A full disk shows when something is written.
	t, err := os.CreateTemp(home, tempPrefix)
	if err != nil {
		return err
	}
	defer os.Remove(t.Name())
	_, err = t.Write(make([]byte, 4096))
	if e := t.Close(); err == nil {
		err = e
	}
	return err
}
