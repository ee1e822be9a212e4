package harvest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/harvest/jsonl"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/harvest/work"
)

// Options restrict what is read. The zero value reads everything.
type Options struct {
	Redactor redact.Redactor // nil: redact.Detector
	Since    time.Time       // files last written before it are skipped
	// Exclude are patterns (path.Match) for projects that must not be read. They are
	// matched against each working folder and its parents, and their names: see Excludes.
	Exclude []string
	// Allowed reports whether a session may be read that worked in these folders, of
	// which there are none if its transcript names none; nil: every session. A session
	// that may not be read is dropped: it is not yielded.
	Allowed func(folders []string) bool
	// MayRead is Allowed for a session about which Allowed is asked later, and counts
	// nothing; nil: as Allowed.
	MayRead func(folders []string) bool
	// Exists reports whether a skill of that name exists; nil: none is known. A typed
	// "/name" is a use if the skill exists, even if the session does not show that its
	// text was loaded.
	Exists func(name string) bool
	// Moments is how much of an agent's work is kept.
	Moments work.Level
	// Earlier, if it is not nil, gives the turns of a session that is read again what was
	// kept of the agent's work when Moments was higher.
	Earlier func(s *Session) error
	// Again opens the transcript that is being read once more; nil: it cannot be. See
	// Draft.Finish.
	Again func() (io.ReadCloser, error)
	// MaxReading is how long one transcript may be read; 0 is 2 minutes.
	MaxReading time.Duration
	late       func() bool                                                // see InTime
	family     func(file string, first func() []byte) (id, parent string) // see Kind.Family
}

// A Kind declares the sessions of one agent, which keeps each in a file below its
// home folder.
type Kind struct {
	Name  string // of --source
	Agent string // in sessions and skill events
	// Vendor gets the text of the agent's sessions while they are recorded, unless their
	// transcript says otherwise (Session.Vendor); "" if the agent asks several.
	Vendor      string
	HomeEnv     string // the environment variable that names the home; "" for none
	HomeDefault string // the home below the user's own, with slashes
	// UserEnv is the environment variable that names the folder which has HomeDefault in it
	// instead of the user's own; "" for none.
	UserEnv string
	// Shared: besides the skills in its home, the agent reads those in ~/.agents.
	Shared bool
	// Start is the type of a transcript's first line, which has the session's id at the
	// path StartID; "" if each line has a sessionId.
	Start, StartID string
	// Files lists the transcripts in a home, in path order; the error is ctx's. A home
	// that does not exist has none.
	Files func(ctx context.Context, home string) ([]string, []Problem, error)
	// Read reads one transcript, holding one line at a time in memory. file is its name
	// in Problems and the session's Path. The session is nil if there is nothing to
	// keep; the error is ctx's.
	Read func(ctx context.Context, r io.Reader, file string, o Options) (*Session, []Problem, error)
	// Family, if it is not nil, is the id that a transcript is known by, and that of the
	// session whose subagent wrote it, "" for none. first reads its first line, or the
	// beginning of that. nil: no transcript is a subagent's.
	Family func(file string, first func() []byte) (id, parent string)
	// Complete, if it is not nil, adds what other files beside the transcript record.
	Complete func(s *Session, file string)
	// Keeps is after how many days the agent removes the transcripts in a home; nil: it
	// keeps them.
	Keeps func(home string) (days int)
}

// Scan is a Kind's Read of a transcript of JSON lines, see jsonl.Scan; finish makes the
// session of what take got.
func Scan(ctx context.Context, r io.Reader, file string, want func(line []byte) bool, take func(n int, line []byte) bool,
	finish func([]Problem) *Session) (*Session, []Problem, error) {
	problems, err := jsonl.Scan(ctx, r, file, want, take)
	if err != nil {
		return nil, problems, err
	}
	return finish(problems), problems, nil
}

// Below is a Kind's Files for transcripts in one folder of the home, see Find.
func Below(folder string, depth int, match func(name string) bool) func(context.Context, string) ([]string, []Problem, error) {
	return func(_ context.Context, home string) ([]string, []Problem, error) {
		files, problems := jsonl.Find(filepath.Join(home, folder), depth, match)
		return files, problems, nil
	}
}

// Source returns the sessions in a home. A file that grew is read again as a whole.
func (k Kind) Source(home string, o Options) Source {
	o.family = k.Family
	return &source{k, home, o}
}

// A source is the home of one agent.
type source struct {
	kind Kind
	home string
	opts Options
}

func (f *source) Name() string { return f.kind.Agent }

func (f *source) Sessions(ctx context.Context, c Cursor, yield func(*Session) error) ([]Problem, error) {
	files, problems, err := f.kind.Files(ctx, f.home)
	if err != nil {
		return problems, err
	}
	more, err := ReadFiles(ctx, files, f.opts, c, func(ctx context.Context, r io.Reader, file string) (*Session, []Problem, error) {
		o := f.opts
		if a, ok := r.(interface{ Again() (io.ReadCloser, error) }); ok {
			o.Again = a.Again
		}
		s, problems, err := f.kind.Transcript(ctx, r, file, o)
		if s != nil && f.kind.Complete != nil {
			f.kind.Complete(s, file)
		}
		return s, problems, err
	}, yield)
	return append(problems, more...), err
}

// A Draft is a session while it is read.
type Draft struct {
	*Session
	Acts     *work.Recorder // what its reader reports
	opts     Options
	secrets  *redact.Session
	doubts   []string // of what was typed
	suspects []string // of what was said
	typed    string   // last, as it was
	kept     string   // of that
}

// NewDraft begins a session.
func NewDraft(agent, id, file string, o Options) *Draft {
	d := &Draft{Session: &Session{ID: id, Agent: agent, Path: file}, opts: o, secrets: redact.NewSession(o.Redactor)}
	d.Acts = work.New(o.Moments, func(text string) (string, int) {
		before := d.Redactions
		text = d.Said(text)
		return text, d.Redactions - before
	}, func(text string) (string, int) { return d.cleanWith(d.secrets.Typed, text) })
	return d
}

// Clean makes a text fit to be kept, see the function Clean, and lets go of the line
// that it is part of. It is for names, paths and commands; see Typed and Said.
func (d *Draft) Clean(text string) string { return d.clean(d.secrets.Redact, text) }

// Peek is what was kept of a text if it is the last that was typed.
func (d *Draft) Peek(text string) (kept string, ok bool) { return d.kept, text == d.typed }

// Skill is a skill's name as it is kept, "" if it is not valid.
func (d *Draft) Skill(name string) string {
	name = SkillName(d.Clean(name))
	if len(name) > MaxName || strings.ContainsAny(name, "\n\r") {
		return ""
	}
	return name
}

// Last is the current turn. It has no prompt if the file begins in the middle of a
// conversation.
func (d *Draft) Last() *Turn {
	if len(d.Turns) == 0 {
		d.Turns = append(d.Turns, Turn{})
	}
	return &d.Turns[len(d.Turns)-1]
}

// During records that the session was active at a time, if the time is known.
func (d *Draft) During(at time.Time) {
	if !at.IsZero() && (d.Started.IsZero() || at.Before(d.Started)) {
		d.Started = at
	}
	if at.After(d.Ended) {
		d.Ended = at
	}
}

// maxTurns is how many turns of a session are kept. No person writes as many messages in one
// session, and what looks at a session goes through its turns more than once.
const maxTurns = 5000

// maxPath is the longest path of a skill that is kept, in bytes.
const maxPath = 4096

// Folder is a skill's folder as it is kept, absolute if that is known.
func (d *Draft) Folder(dir string) string {
	if dir != "" && !path.IsAbs(dir) && !strings.ContainsAny(dir, `:\~$`) && path.IsAbs(d.CWD) {
		dir = path.Join(d.CWD, dir)
	}
	if len(dir) > maxPath {
		return ""
	}
	return d.Clean(dir)
}

// Finish returns the session, assessed, or nil if nobody said anything. loaded, if it
// is not nil, knows names of skills besides Options.Exists; late adds the uses that are
// known only once the typed commands are proved. What was redacted in one text is then
// redacted in all, and so are the words that a person typed and nothing explains: not
// the transcript, which is read once more for them, and no language.
func (d *Draft) Finish(problems []Problem, loaded func(name string) bool, late ...func()) *Session {
	if n := len(d.Turns); n > maxTurns {
		d.Turns = d.Turns[:maxTurns]
		problems = append(problems, Problem{Path: d.Path, Reason: fmt.Sprintf("%d messages of its user, and %d are the limit: the rest is left out", n, maxTurns)})
	}
	d.Prove(func(name string) bool {
		return loaded != nil && loaded(name) || d.opts.Exists != nil && d.opts.Exists(name)
	})
	if len(d.Invocations) == 0 && !slices.ContainsFunc(d.Turns, func(t Turn) bool { return t.Prompt != "" }) {
		return nil
	}
	if d.late() {
		return nil
	}
	d.Problems = problems
	d.In(d.CWD)
	for _, add := range late {
		add()
	}
	d.Invocations = slices.DeleteFunc(d.Invocations, func(v Invocation) bool { return v.Turn >= maxTurns })
	o := d.opts
	if o.MayRead != nil {
		o.Allowed = o.MayRead
	}
	if (o.Moments != work.Off || o.Earlier != nil) && o.Admits(d.Session) {
		for turn, acts := range d.Acts.Finish(d.CWD) {
			if turn >= 0 && turn < len(d.Turns) {
				d.Turns[turn].Work = acts
			}
		}
		if o.Earlier != nil {
			if err := o.Earlier(d.Session); err != nil {
				d.Problems = append(d.Problems, Problem{Path: d.Path, Reason: err.Error()})
			}
		}
	}
	d.resolve()
	Recall(d.Session, d.secrets)
	Assess(d.Session)
	return d.Session
}

// Hash is a text's SHA-256, in hexadecimal.
func Hash(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// When parses a time as agents write it; it is zero if invalid.
func When(stamp string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}
