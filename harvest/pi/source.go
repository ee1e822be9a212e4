// Package pi reads the sessions of pi: sessions/<folder>/<time>_<id>.jsonl below
// its home. Only human turns, final answers, tool names and skill invocations
// are kept; everything kept is redacted.
//
// A session is a tree; what counts is the branch that ends in its last entry.
// pi does not say whether a person or a program drove it, so no session of its
// is marked headless.
package pi

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/redact"
)

// Agent is the name of pi in sessions and skill events.
const Agent = "pi"

// Options narrow down what a Source reads. The zero value reads everything.
type Options struct {
	Redactor redact.Redactor // nil: redact.Detector
	Since    time.Time       // files that were last written before it are passed over
	// Exclude are patterns (path.Match) for projects that must not be read,
	// against the working folder and each of its parents.
	Exclude []string
	// Exists reports whether there is a skill of that name; nil: none is known. A
	// typed "/name" is a use if there is one, even where the session does not show
	// that its text was loaded.
	Exists func(name string) bool
}

// Source reads one home of pi.
type Source struct {
	home string
	opts Options
}

var _ harvest.Source = (*Source)(nil)

// New returns a Source of the sessions in home (~/.pi/agent). The folder need
// not exist: there are no sessions then.
func New(home string, o Options) *Source { return &Source{home: home, opts: o} }

// Name implements harvest.Source.
func (*Source) Name() string { return Agent }

// Sessions implements harvest.Source. c may be nil. A file is marked in c after
// yield accepted its session.
func (s *Source) Sessions(ctx context.Context, c harvest.Cursor, yield func(*harvest.Session) error) ([]harvest.Problem, error) {
	files, problems := harvest.Find(filepath.Join(s.home, "sessions"), 1, func(name string) bool { return strings.HasSuffix(name, ".jsonl") })
	filter := harvest.Filter{Since: s.opts.Since, Exclude: s.opts.Exclude}
	more, err := harvest.ReadFiles(ctx, files, filter, c,
		func(ctx context.Context, r io.Reader, file string) (*harvest.Session, []harvest.Problem, error) {
			return s.opts.Read(ctx, r, file)
		}, yield)
	return append(problems, more...), err
}

// Read reads one session with a redactor, which may be nil, and no other option.
func Read(ctx context.Context, r io.Reader, file string, red redact.Redactor) (*harvest.Session, []harvest.Problem, error) {
	return Options{Redactor: red}.Read(ctx, r, file)
}

// Read reads one session. file is its name in Problems and the session's Path.
// The session is nil where there is nothing to keep, and where its entries are no
// tree, with the reason; the error is ctx's.
//
// One line at a time is held in memory, and of each entry what may be kept: a
// session of a million entries, or of 64 MiB of messages, is refused.
func (o Options) Read(ctx context.Context, r io.Reader, file string) (*harvest.Session, []harvest.Problem, error) {
	var t tree
	problems, err := harvest.Scan(ctx, r, file, t.want, t.take)
	if err != nil {
		return nil, problems, err
	}
	if len(t.entries) == 0 && t.refused == "" {
		return nil, problems, nil
	}
	branch, why := t.branch(len(problems) > 0)
	if why != "" {
		if len(problems) != 1 || problems[0].Line != 0 { // else that says why already
			problems = append(problems, harvest.Problem{Path: file, Reason: why})
		}
		return nil, problems, nil
	}
	f := newFold(file, t, o.Redactor)
	for _, i := range branch {
		f.entry(t.entries[i])
	}
	return f.finish(problems, o.Exists), problems, nil
}

// sessionID is the id in the name of a session's file: <time>_<id>.jsonl.
func sessionID(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
	if _, id, ok := strings.Cut(name, "_"); ok {
		return id
	}
	return name
}
