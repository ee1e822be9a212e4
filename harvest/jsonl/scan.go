package jsonl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"
)

// maxProblems is the number of lines of one file that are named; the others are
// counted.
const maxProblems = 20

// singleDocument is the reason for skipping a file of one JSON value.
const singleDocument = "a single JSON document, not JSON lines"

// idle are readers of lines for the next file: a small transcript costs less
// than a fresh buffer.
var idle = sync.Pool{New: func() any { return NewLines(nil) }}

// Scan reads a transcript of JSON lines. Most bytes of one are tool results, so want
// judges a line by its bytes before it is decoded: a line that it refuses is skipped.
// take gets the others, one valid JSON object at a time, with the 0-based line number;
// the line is valid during the call only. take reports whether it recognises the record
// as one of its agent's. A line that cannot be read is a Problem and ends nothing; a
// last line without a line feed may be still being written, and is not reported. The
// error is ctx's.
func Scan(ctx context.Context, r io.Reader, file string, want func(line []byte) bool, take func(n int, line []byte) bool) ([]Problem, error) {
	lines := idle.Get().(*Lines)
	lines.Reset(r)
	defer func() {
		if lines.Reset(nil); len(lines.buf) <= 1<<20 { // a file of huge lines is rare
			idle.Put(lines)
		}
	}()
	p := problems{file: file}
	read, known := 0, 0 // lines with content, lines that are the agent's
	for {
		lines.skipEmpty()
		line, err := lines.Next()
		if err == io.EOF {
			break
		}
		n := lines.Line()
		if ctx.Err() != nil {
			return p.list, ctx.Err()
		}
		if errors.Is(err, ErrLongLine) {
			p.add(n, err.Error())
			continue
		}
		if err != nil {
			p.add(n+1, "read: "+err.Error())
			break
		}
		if n == 0 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if read++; read == 1 && lines.Whole() && len(line) == 1 && (line[0] == '{' || line[0] == '[') {
			p.whole(singleDocument)
			break
		}
		why := ""
		switch {
		case line[0] != '{' || line[len(line)-1] != '}':
			why = "not a JSON object"
		case !want(line):
			known++
			continue
		default:
			why = unfit(line)
		}
		if why != "" {
			if lines.Whole() {
				p.add(n, why)
			}
			continue
		}
		if take(n, line) {
			known++
		}
	}
	if read == 1 && known == 0 && len(p.list) == 0 {
		p.whole(singleDocument)
	}
	return p.finish(), nil
}

// unfit is the reason why a line cannot be decoded; "" if it can.
func unfit(line []byte) string {
	switch {
	case bytes.IndexByte(line, 0) >= 0:
		return "holds a NUL byte"
	case !utf8.Valid(line):
		return "not UTF-8"
	case !Valid(line):
		return "not JSON"
	}
	return ""
}

// problems collects the problems of one file, in bounded space.
type problems struct {
	file string
	list []Problem
	more int
}

func (p *problems) add(line int, why string) {
	if len(p.list) == maxProblems {
		p.more++
		return
	}
	p.list = append(p.list, Problem{Path: p.file, Line: line + 1, Reason: why})
}

func (p *problems) whole(why string) {
	p.list = append(p.list, Problem{Path: p.file, Reason: why})
}

func (p *problems) finish() []Problem {
	if p.more > 0 {
		p.whole(fmt.Sprintf("%d more lines could not be read", p.more))
	}
	return p.list
}
