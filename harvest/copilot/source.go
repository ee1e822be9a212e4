// Package copilot reads the sessions of GitHub's Copilot CLI:
// session-state/<uuid>/events.jsonl below its home, beside workspace.yaml. Only
// human turns, final answers, tool names and skill invocations are kept;
// everything kept is redacted.
package copilot

import (
	"context"
	"io"
	"path/filepath"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// Agent is the name of Copilot CLI in sessions and skill events.
const Agent = "copilot-cli"

// maxWorkspace is the longest workspace.yaml that is read, in bytes; real ones
// have some hundred.
const maxWorkspace = 1 << 20

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

// Source reads one home of Copilot CLI.
type Source struct {
	home string
	opts Options
}

var _ harvest.Source = (*Source)(nil)

// New returns a Source of the sessions in home (~/.copilot). The folder need not
// exist: there are no sessions then.
func New(home string, o Options) *Source { return &Source{home: home, opts: o} }

// Name implements harvest.Source.
func (*Source) Name() string { return Agent }

// Sessions implements harvest.Source. c may be nil. A file is marked in c after
// yield accepted its session. A session that was resumed grew in its file and is
// read again as a whole.
func (s *Source) Sessions(ctx context.Context, c harvest.Cursor, yield func(*harvest.Session) error) ([]harvest.Problem, error) {
	files, problems := harvest.Find(filepath.Join(s.home, "session-state"), 1, func(name string) bool { return name == "events.jsonl" })
	more, err := harvest.ReadFiles(ctx, files, harvest.Filter{Since: s.opts.Since, Exclude: s.opts.Exclude}, c, s.read, yield)
	return append(problems, more...), err
}

func (s *Source) read(ctx context.Context, r io.Reader, file string) (*harvest.Session, []harvest.Problem, error) {
	session, problems, err := s.opts.Read(ctx, r, file)
	if session != nil && (session.CWD == "" || session.Branch == "") {
		complete(session, filepath.Join(filepath.Dir(file), "workspace.yaml"))
	}
	return session, problems, err
}

// complete adds what a session's first event did not tell: an older version, or
// a file whose beginning is lost.
func complete(session *harvest.Session, file string) {
	data, err := bounded.ReadFile(file, maxWorkspace)
	if err != nil {
		return
	}
	var w struct{ CWD, Branch string }
	if yaml.Unmarshal(data, &w) != nil {
		return
	}
	if session.CWD == "" {
		session.CWD = w.CWD
	}
	if session.Branch == "" {
		session.Branch = w.Branch
	}
}
