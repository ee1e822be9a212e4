package claude

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/redact"
)

// Read reads one transcript with a redactor, which may be nil, and no other
// option.
func Read(ctx context.Context, r io.Reader, file string, red redact.Redactor) (*harvest.Session, []harvest.Problem, error) {
	return Options{Redactor: red}.Read(ctx, r, file)
}

// Read reads one transcript. file is its name in Problems and the session's
// Path. The session is nil where there is nothing to keep; the error is ctx's.
// Only one line at a time is held in memory.
func (o Options) Read(ctx context.Context, r io.Reader, file string) (*harvest.Session, []harvest.Problem, error) {
	t := newTranscript(file, o.Redactor)
	t.loads.add(o.Skills...)
	problems, err := harvest.Scan(ctx, r, file, t.wants, t.line)
	if err != nil {
		return nil, problems, err
	}
	return t.finish(problems, o.Exists), problems, nil
}

// wants reports whether a line has to be decoded.
func (t *transcript) wants(line []byte) bool {
	switch sift(line) {
	case skip:
		return false
	case result:
		return t.awaited(line) || failed(line)
	}
	return true
}

// sessionID is the name that a transcript's file gives its session.
func sessionID(file string) string {
	return strings.TrimSuffix(filepath.Base(file), ".jsonl")
}
