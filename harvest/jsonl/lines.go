// Package jsonl reads JSON lines of any length, compressed or not, of which most are
// never decoded.
package jsonl

import (
	"bytes"
	"errors"
	"io"
)

// MaxLine is the longest line of a transcript that is read, in bytes. Longer
// ones hold a pasted file or a tool's output; they are skipped while streaming.
const MaxLine = 16 << 20

// ErrLongLine is returned by Lines.Next in place of a line above MaxLine. The next call
// returns the line after it.
var ErrLongLine = errors.New("line is longer than 16 MiB")

// Lines reads a transcript line by line through one buffer, which grows to the
// longest line, never above MaxLine. (bufio.Scanner ends a file at the first
// line above its limit.)
type Lines struct {
	r          io.Reader
	buf        []byte
	start, end int // bytes read but not yet returned
	err        error
	n          int // lines returned or skipped
	whole      bool
	more       bool // the next entry is on the same line
}

// glue separates two entries on one line. It may also end a string.
var glue = []byte(`}{"`)

// NewLines returns a reader of r's lines.
func NewLines(r io.Reader) *Lines { return &Lines{r: r, buf: make([]byte, 256<<10), whole: true} }

// Reset makes l read the lines of r, with its present buffer.
func (l *Lines) Reset(r io.Reader) { *l = Lines{r: r, buf: l.buf, whole: true} }

// Next returns the next line without its line feed, valid until the next call. At the
// end it returns io.EOF, and ErrLongLine in place of a line that was skipped; any other
// error is the underlying reader's and final. What precedes such an error is returned
// first, and may be half a line: see Whole.
//
// Two entries on one line are returned one by one: a program that continues a
// transcript may find no line feed at its end.
func (l *Lines) Next() ([]byte, error) {
	searched := 0
	for {
		if i := bytes.IndexByte(l.buf[l.start+searched:l.end], '\n'); i >= 0 {
			i += l.start + searched
			return l.entry(i, i+1), nil
		}
		searched = l.end - l.start
		if searched > MaxLine {
			return nil, l.skip()
		}
		if l.err != nil {
			if searched == 0 {
				return nil, l.err
			}
			line := l.entry(l.end, l.end)
			l.whole = l.more
			return line, nil
		}
		l.fill()
	}
}

// entry returns the first entry of the line that ends at end; the next line begins at
// next.
func (l *Lines) entry(end, next int) []byte {
	if !l.more {
		l.n++
	}
	line := l.buf[l.start:end]
	l.more = false
	if len(line) > 0 && line[0] == '{' && bytes.Contains(line, glue) {
		if i := value(line, 0); i > 0 && bytes.HasPrefix(line[i-1:], glue) {
			line, next, l.more = line[:i:i], l.start+i, true // appending to line must not overwrite the next
		}
	}
	l.start = next
	return line
}

// skipEmpty drops the empty lines that are in the buffer: a compressed file may hold
// very many.
func (l *Lines) skipEmpty() {
	for !l.more && l.start < l.end && l.buf[l.start] == '\n' {
		l.start++
		l.n++
	}
}

// Line is the 0-based number of the line that Next returned last.
func (l *Lines) Line() int { return l.n - 1 }

// Whole is false if Next returned a last line without a line feed: the line may be
// still being written.
func (l *Lines) Whole() bool { return l.whole }

// fill makes room and reads once.
func (l *Lines) fill() {
	if l.start > 0 {
		copy(l.buf, l.buf[l.start:l.end])
		l.end -= l.start
		l.start = 0
	}
	if l.end == len(l.buf) {
		bigger := make([]byte, min(2*len(l.buf), MaxLine+1<<16))
		copy(bigger, l.buf)
		l.buf = bigger
	}
	for range 100 {
		n, err := l.r.Read(l.buf[l.end:])
		l.end += n
		l.err = err
		if n > 0 || err != nil {
			return
		}
	}
	l.err = io.ErrNoProgress
}

// skip drops the buffer and everything up to the next line feed.
func (l *Lines) skip() error {
	l.n++
	for {
		if i := bytes.IndexByte(l.buf[l.start:l.end], '\n'); i >= 0 {
			l.start += i + 1
			return ErrLongLine
		}
		l.start, l.end = 0, 0
		if l.err != nil {
			l.whole = false
			return ErrLongLine
		}
		l.fill()
	}
}
