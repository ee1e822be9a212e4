package harvest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// A FileCursor is a Cursor that also detects a file that was rotated, truncated or
// rewritten with the same size and time.
//
// A file that has changed is read again as a whole, even if it has only grown, because
// a session is more than its lines: open tool calls, the usage that each message
// repeats, pi's active branch and later feedback on an earlier use all depend on the
// lines before. The store replaces a session as a whole, so no crash can double a turn
// or lose one. At the speed of the disk this costs less than storing the readers'
// state.
type FileCursor interface {
	Cursor
	// File returns the state of a file when it was read last.
	File(path string) (f FileState, ok bool)
	// MarkFile records that a file was read in this state.
	MarkFile(path string, f FileState)
}

// A FileState describes a file when it was read.
type FileState struct {
	Device, Inode uint64 // 0 if the system has none
	Size          int64  // bytes
	Modified      time.Time
	// Changed is the time of the system's last change to the file (ctime). Unlike
	// Modified it cannot be set back by a program. Zero if the system does not report
	// it.
	Changed time.Time
	End     int64  // the byte behind the last whole line; what follows is still being written
	Last    string // that line's SHA-256, in hexadecimal; "" if there is none
	// Refused: the session in it was left out, see Refuser.
	Refused bool
}

// settled is the age from which a change time is reliable: file systems have coarse
// clocks, and a file may change twice within a tick.
const settled = 2 * time.Second

// StateOf is the state that a FileInfo shows. Changed is left out while it is too
// recent to distinguish this state from the next.
func StateOf(info fs.FileInfo) FileState {
	f := FileState{Size: info.Size(), Modified: info.ModTime()}
	f.Device, f.Inode, f.Changed = identity(info)
	if time.Since(f.Changed) < settled {
		f.Changed = time.Time{}
	}
	return f
}

// Same reports whether f, which was read, and g, the file now, are one file in one
// state, as far as the system shows. If sure is false, the content may have been
// replaced and its time set back; only the last line can tell.
func (f FileState) Same(g FileState) (same, sure bool) {
	same = f.Device == g.Device && f.Inode == g.Inode && f.Size == g.Size && f.Modified.Equal(g.Modified)
	return same, same && !f.Changed.IsZero() && f.Changed.Equal(g.Changed)
}

// seen reports whether c holds a file in its present state. It costs only the stat that
// info is from, unless the file was changed but kept its size and time: then its last
// line is read. file is its name in c, path its location.
func seen(c Cursor, file, path string, info fs.FileInfo) bool {
	fc, ok := c.(FileCursor)
	if !ok {
		return c != nil && c.Seen(file, info.Size(), info.ModTime())
	}
	was, ok := fc.File(file)
	if !ok {
		return false
	}
	now := StateOf(info)
	same, sure := was.Same(now)
	if !same || sure {
		return same
	}
	r, err := bounded.Open(path)
	if err != nil {
		return false // the reader will report the error
	}
	defer r.Close()
	if !was.holds(r) {
		return false
	}
	now.End, now.Last, now.Refused = was.End, was.Last, was.Refused
	fc.MarkFile(file, now) // the next harvest can be sure
	return true
}

// mark records in c that a file was read in this state.
func mark(c Cursor, file string, f FileState) {
	switch c := c.(type) {
	case nil:
	case FileCursor:
		c.MarkFile(file, f)
	default:
		c.Mark(file, f.Size, f.Modified)
	}
}

// A Refuser is a Cursor that can forget the files whose sessions were refused, once it is
// decided otherwise.
type Refuser interface {
	// Refuse remembers that the session in a file, which is marked, was refused.
	Refuse(path string)
}

// Refuse tells c that the session in a file, which is marked, was refused.
func Refuse(c Cursor, file string) {
	if r, ok := c.(Refuser); ok {
		r.Refuse(file)
	}
}

// maxTail is how much of a file's end is searched for its last line, in bytes. Of a
// longer line only this part is compared.
const maxTail = 64 << 10

// sign notes the last whole line of f.Size bytes.
func (f *FileState) sign(r io.ReaderAt) error {
	from := max(0, f.Size-maxTail)
	tail, err := readRange(r, from, f.Size)
	if err != nil {
		return err
	}
	if feed := bytes.LastIndexByte(tail, '\n'); feed >= 0 {
		tail = tail[:feed+1]
	} // } // else it is one line, whole or not
	f.End, f.Last = from+int64(len(tail)), hashLine(lineBefore(tail))
	return nil
}

// holds reports whether the last whole line that sign recorded is still at its place in
// r. Half a line behind it may have become a whole one.
func (f FileState) holds(r io.ReaderAt) bool {
	now := FileState{Size: f.Size}
	return now.sign(r) == nil && now.End == f.End && now.Last == f.Last
}

// lineBefore is the last line of text, with or without a line feed at the end.
func lineBefore(text []byte) []byte {
	return text[bytes.LastIndexByte(bytes.TrimSuffix(text, []byte("\n")), '\n')+1:]
}

func readRange(r io.ReaderAt, from, to int64) ([]byte, error) {
	if from < 0 || to < from || to-from > maxTail {
		return nil, fmt.Errorf("read the last line: it cannot stand at %d to %d", from, to)
	}
	text := make([]byte, to-from)
	if _, err := r.ReadAt(text, from); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read the last line: %w", err)
	}
	return text, nil
}

func hashLine(line []byte) string {
	if len(line) == 0 {
		return ""
	}
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}
