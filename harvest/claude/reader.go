package claude

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/redact"
)

// maxProblems are the lines of one file that are named; more are counted.
const maxProblems = 20

// Read reads one transcript. file is its name in Problems and the session's
// Path. The session is nil where there is nothing to keep; the error is ctx's.
// Only one line at a time is held in memory.
func Read(ctx context.Context, r io.Reader, file string, red redact.Redactor) (*harvest.Session, []harvest.Problem, error) {
	t := newTranscript(file, red)
	lines := harvest.NewLines(r)
	var p problems
	p.file = file
	read, typed := 0, 0 // lines with content, lines with a type
	for {
		line, err := lines.Next()
		if err == io.EOF {
			break
		}
		n := lines.Line()
		if n%256 == 0 && ctx.Err() != nil {
			return nil, p.list, ctx.Err()
		}
		if errors.Is(err, harvest.ErrLongLine) {
			p.add(n, err.Error())
			continue
		}
		if err != nil {
			p.add(n+1, reason(err))
			break
		}
		line = bytes.TrimSpace(line)
		if n == 0 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if len(line) == 0 {
			continue
		}
		if read++; read == 1 && lines.Whole() && (len(line) == 1 && (line[0] == '{' || line[0] == '[')) {
			p.whole("a single JSON document, not JSON lines")
			break
		}
		switch sift(line) {
		case skip:
			typed++
			continue
		case result:
			typed++
			if !t.awaited(line) && !failed(line) {
				continue
			}
		case broken:
			if lines.Whole() { // else it is still being written
				p.add(n, "not a JSON object")
			}
			continue
		}
		if why := unfit(line); why != "" {
			if lines.Whole() {
				p.add(n, why)
			}
			continue
		}
		if t.line(n, line) {
			typed++
		}
	}
	if read == 1 && typed == 0 && len(p.list) == 0 {
		p.whole("a single JSON document, not JSON lines")
	}
	list := p.finish()
	return t.finish(list), list, nil
}

// unfit says why a line cannot be decoded; "" if it can.
func unfit(line []byte) string {
	switch {
	case bytes.IndexByte(line, 0) >= 0:
		return "holds a NUL byte"
	case !utf8.Valid(line):
		return "not UTF-8"
	case !gjson.ValidBytes(line):
		return "not JSON"
	}
	return ""
}

// problems collects what is wrong with one file, in bounded space.
type problems struct {
	file string
	list []harvest.Problem
	more int
}

func (p *problems) add(line int, why string) {
	if len(p.list) == maxProblems {
		p.more++
		return
	}
	p.list = append(p.list, harvest.Problem{Path: p.file, Line: line + 1, Reason: why})
}

func (p *problems) whole(why string) {
	p.list = append(p.list, harvest.Problem{Path: p.file, Reason: why})
}

func (p *problems) finish() []harvest.Problem {
	if p.more > 0 {
		p.whole(fmt.Sprintf("%d more lines could not be read", p.more))
	}
	return p.list
}

// sessionID is the name that a transcript's file gives its session.
func sessionID(file string) string {
	return strings.TrimSuffix(filepath.Base(file), ".jsonl")
}
