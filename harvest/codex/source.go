// Package codex reads the sessions of Codex: sessions/YYYY/MM/DD/rollout-*.jsonl
// below its home, and those that were archived; Codex compresses old ones to
// rollout-*.jsonl.zst. Only human turns, final answers, tool names and skill
// invocations are kept; everything kept is redacted.
//
// Codex keeps no record of requests to the model that failed and were sent
// again: only the failure that ended a turn counts as an API error.
package codex

import (
	"cmp"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/redact"
)

// Agent is the name of Codex in sessions and skill events.
const Agent = "codex"

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

// Source reads one home of Codex.
type Source struct {
	home string
	opts Options
}

var _ harvest.Source = (*Source)(nil)

// New returns a Source of the sessions in home (~/.codex). The folder need not
// exist: there are no sessions then.
func New(home string, o Options) *Source { return &Source{home: home, opts: o} }

// Name implements harvest.Source.
func (*Source) Name() string { return Agent }

// depth is how far below sessions a file may lie: YYYY/MM/DD.
const depth = 3

// Sessions implements harvest.Source. c may be nil. A file is marked in c after
// yield accepted its session. A session that was resumed grew in its file and is
// read again as a whole.
func (s *Source) Sessions(ctx context.Context, c harvest.Cursor, yield func(*harvest.Session) error) ([]harvest.Problem, error) {
	live, problems := harvest.Find(filepath.Join(s.home, "sessions"), depth, rollout)
	archived, more := harvest.Find(filepath.Join(s.home, "archived_sessions"), depth, rollout)
	problems = append(problems, more...)
	files, err := once(ctx, append(archived, live...))
	if err != nil {
		return problems, err
	}
	filter := harvest.Filter{Since: s.opts.Since, Exclude: s.opts.Exclude}
	more, err = harvest.ReadFiles(ctx, files, filter, c,
		func(ctx context.Context, r io.Reader, file string) (*harvest.Session, []harvest.Problem, error) {
			return s.opts.Read(ctx, r, file)
		}, yield)
	return append(problems, more...), err
}

func rollout(name string) bool {
	return strings.HasPrefix(name, "rollout-") && strings.HasSuffix(harvest.Unpacked(name), ".jsonl")
}

// once returns files in their order; of those that are one rollout, compressed and
// as it was, only the one with the most entries. Codex unpacks a session that is
// resumed, and writes to that; if it was killed meanwhile, that has less.
func once(ctx context.Context, files []string) ([]string, error) {
	copies := map[string][]string{}
	for _, f := range files {
		name := filepath.Base(harvest.Unpacked(f))
		copies[name] = append(copies[name], f)
	}
	surplus := map[string]bool{}
	for _, list := range copies {
		if len(list) == 1 || !slices.ContainsFunc(list, harvest.Packed) {
			continue
		}
		slices.SortFunc(list, func(a, b string) int { return cmp.Or(len(a)-len(b), cmp.Compare(a, b)) }) // of equals the unpacked one
		best, most := "", -1
		for _, f := range list {
			n, err := harvest.Entries(ctx, f)
			if err != nil {
				return nil, err
			}
			surplus[f] = n <= most
			if n > most {
				surplus[best] = true
				best, most = f, n
			}
		}
	}
	files = slices.DeleteFunc(files, func(f string) bool { return surplus[f] })
	slices.Sort(files)
	return files, nil
}

// Read reads one rollout with a redactor, which may be nil, and no other option.
func Read(ctx context.Context, r io.Reader, file string, red redact.Redactor) (*harvest.Session, []harvest.Problem, error) {
	return Options{Redactor: red}.Read(ctx, r, file)
}

// Read reads one rollout. file is its name in Problems and the session's Path.
// The session is nil where there is nothing to keep; the error is ctx's. Only one
// line at a time is held in memory.
func (o Options) Read(ctx context.Context, r io.Reader, file string) (*harvest.Session, []harvest.Problem, error) {
	t := newTranscript(file, o.Redactor)
	problems, err := harvest.Scan(ctx, r, file, t.want, t.take)
	if err != nil {
		return nil, problems, err
	}
	return t.finish(problems, o.Exists), problems, nil
}

// sessionID is the id in the name of a rollout: rollout-<time>-<id>.jsonl.
func sessionID(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
	const uuid = len("01a1fa18-22a5-7620-b50f-1706fdc35dea")
	if i := len(name) - uuid; i > 0 && strings.HasPrefix(name, "rollout-") && name[i-1] == '-' {
		return name[i:]
	}
	return name
}
