// Package claude reads the sessions of Claude Code:
// projects/<folder>/<session>.jsonl below its home, and those of subagents in
// <session>/subagents. Only human turns, final answers, tool names and skill
// invocations are kept; everything kept is redacted.
package claude

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/redact"
)

// Agent is the name of Claude Code in sessions and skill events.
const Agent = "claude-code"

// Options narrow down what a Source reads. The zero value reads everything.
type Options struct {
	Redactor redact.Redactor // nil: redact.Detector
	Since    time.Time       // files that were last written before it are passed over
	// Exclude are patterns (path.Match) for projects that must not be read,
	// against the working folder and each of its parents.
	Exclude []string
	// Skills are names of skills that a "$name" in a prompt may mean, besides
	// those that the session itself lists. What a session lists was there when
	// it was written, so that alone makes the same of a file whenever and
	// wherever it is read: it is the default.
	Skills []string
	// Exists reports whether there is a skill of that name; nil: none is known but
	// those that the session lists. A typed "/name" is a use if there is one, even
	// where the session does not show that its text was loaded.
	Exists func(name string) bool
}

// Source reads one home of Claude Code.
type Source struct {
	home string
	opts Options
}

var _ harvest.Source = (*Source)(nil)

// New returns a Source of the sessions in home (~/.claude). The folder need not
// exist: there are no sessions then.
func New(home string, o Options) *Source {
	if o.Redactor == nil {
		o.Redactor = redact.Detector{}
	}
	return &Source{home: home, opts: o}
}

// Name implements harvest.Source.
func (*Source) Name() string { return Agent }

// Sessions implements harvest.Source. c may be nil. A file is marked in c after
// yield accepted its session.
func (s *Source) Sessions(ctx context.Context, c harvest.Cursor, yield func(*harvest.Session) error) ([]harvest.Problem, error) {
	files, problems := s.files()
	filter := harvest.Filter{Since: s.opts.Since, Exclude: s.opts.Exclude}
	more, err := harvest.ReadFiles(ctx, files, filter, c,
		func(ctx context.Context, r io.Reader, file string) (*harvest.Session, []harvest.Problem, error) {
			return s.opts.Read(ctx, r, file)
		}, yield)
	return append(problems, more...), err
}

// files lists the transcripts in path order.
func (s *Source) files() ([]string, []harvest.Problem) {
	var files []string
	var problems []harvest.Problem
	list := func(dir string) []fs.DirEntry {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, harvest.Problem{Path: dir, Reason: harvest.Reason(err)})
		}
		return entries
	}
	projects := filepath.Join(s.home, "projects")
	for _, project := range list(projects) {
		dir := filepath.Join(projects, project.Name())
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			continue
		}
		for _, e := range list(dir) {
			name := filepath.Join(dir, e.Name())
			switch {
			case strings.HasSuffix(e.Name(), ".jsonl"):
				files = append(files, name)
			case e.IsDir():
				sub := filepath.Join(name, "subagents")
				// Errors of the walk itself are folders that went away.
				_ = filepath.WalkDir(sub, func(p string, d fs.DirEntry, err error) error {
					if err == nil && !d.IsDir() && strings.HasSuffix(p, ".jsonl") {
						files = append(files, p)
					}
					return nil
				})
			}
		}
	}
	slices.Sort(files)
	return files, problems
}
