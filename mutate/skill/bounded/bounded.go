// Package bounded reads files that others may have put there: an agent, a
// repository, another program. Opening a pipe would wait for ever, a device
// has no end, a sparse file is larger than any memory, and a file that the
// kernel generates (of /proc) may keep its reader waiting. The time that a
// network or FUSE file system takes to answer is not bounded here: it may
// well be the user's home.
package bounded

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrNotRegular is the error for a folder, a pipe, a device, a socket, or on
// Linux a file of /proc, /sys or another file system of the kernel.
var ErrNotRegular = errors.New("not a regular file")

// A TooLargeError means that a file has more bytes than are read.
type TooLargeError struct{ Limit int64 }

func (e *TooLargeError) Error() string {
	for _, unit := range []struct {
		shift uint
		name  string
	}{{30, "GiB"}, {20, "MiB"}, {10, "KiB"}} {
		if n := e.Limit >> unit.shift; n > 0 && n<<unit.shift == e.Limit {
			return fmt.Sprintf("larger than %d %s", n, unit.name)
		}
	}
	return fmt.Sprintf("larger than %d bytes", e.Limit)
}

// Open opens a regular file for reading, without blocking. The error is an
// *fs.PathError; it wraps ErrNotRegular if the file is none.
func Open(name string) (*os.File, error) { return open(name, os.Stat, os.OpenFile) }

// OpenIn is Open of a file below root; links that lead out of it are not followed.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	return open(name, root.Stat, root.OpenFile)
}

func open(name string, stat func(string) (fs.FileInfo, error), openFile func(string, int, fs.FileMode) (*os.File, error)) (*os.File, error) {
	info, err := stat(name) // first, because opening a device may do something
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		at.Op = "open" // as a reader of the message thinks of it
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	}
	// The file may be another one by now: reading it must not wait either.
	f, err := openFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil && (!info.Mode().IsRegular() || ofKernel(f)) {
		err = &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ReadFile reads a regular file of at most limit bytes. The error is an
// *fs.PathError that wraps ErrNotRegular or a *TooLargeError for any other
// file.
func ReadFile(name string, limit int64) ([]byte, error) {
	f, err := Open(name)
	return readFile(f, err, name, limit)
}

// ReadFileIn is ReadFile of a file below root; links that lead out of it are not
// followed.
func ReadFileIn(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := OpenIn(root, name)
	return readFile(f, err, name, limit)
}

func readFile(f *os.File, err error, name string, limit int64) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// Some have no size, and others may grow.
	if info, err := f.Stat(); err == nil && info.Size() > limit {
		return nil, &fs.PathError{Op: "read", Path: name, Err: &TooLargeError{limit}}
	}
	text, err := ReadAll(f, limit)
	if _, large := errors.AsType[*TooLargeError](err); large {
		err = &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return text, err
}

// ReadAll reads r to its end; more than limit bytes are a *TooLargeError.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > limit {
		return nil, &TooLargeError{limit}
	}
	return text, nil
}
