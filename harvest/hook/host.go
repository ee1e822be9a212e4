package hook

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/redact"
	"go.yaml.in/yaml/v3"
)

// Exit codes, as agents read them.
const (
	Go     = 0 // also for invalid input
	Failed = 1 // logged; the agent continues
	Block  = 2 // the agent must not do it; only for a Guarded text
)

// Event names, as Claude Code gives them.
const (
	SessionStart        = "SessionStart"
	UserPromptSubmit    = "UserPromptSubmit"
	UserPromptExpansion = "UserPromptExpansion"
	PreToolUse          = "PreToolUse"
	PostToolUse         = "PostToolUse"
	PostToolBatch       = "PostToolBatch"
	SubagentStop        = "SubagentStop"
	Stop                = "Stop"
	SessionEnd          = "SessionEnd"
)

// Events are those that Run handles, in the order in which they occur.
var Events = []string{SessionStart, UserPromptSubmit, UserPromptExpansion, PreToolUse, PostToolUse, PostToolBatch, SubagentStop, Stop, SessionEnd}

// A Host is the environment of hooks: the skills that they know, and where they write.
type Host struct {
	Home   string // evolve's own data
	Claude string // Claude Code's folder, with skills/ and settings.json
	Skills string // folder of the user's skills; "" is Claude/skills
	// Unattended: no person is in the session, so notes wait for a session with one.
	Unattended bool
	// Allowed reports whether something may be written down of a session that works in
	// these folders; nil: of every session. Guards hold in all of them.
	Allowed func(folders []string) bool
	// Harvest starts a process that harvests the sessions in the queue that have ended,
	// and does not wait for it; nil: they wait for the next harvest.
	Harvest  func() error
	Now      func() time.Time // nil is time.Now
	Redactor redact.Redactor  // for all that is written; nil: redact.Detector
}

// Config is `hooks:` in config.yaml.
type Config struct {
	// RecordPrompts puts the prompt of a typed skill on the bus, redacted. Without it
	// no prompt is written anywhere.
	RecordPrompts bool `yaml:"record_prompts"`
}

// config reads the part of the configuration that hooks use. Errors in the rest of the
// file are reported by the commands.
func (h *Host) config() (Config, error) {
	var file struct {
		Hooks Config `yaml:"hooks"`
	}
	text, err := readFile(filepath.Join(h.Home, "config.yaml"))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return Config{}, nil
	case err != nil:
		return Config{}, fmt.Errorf("read configuration: %w", err)
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		return Config{}, fmt.Errorf("read configuration: %w", err)
	}
	return file.Hooks, nil
}

// notes reports whether something may be written down of the session.
func (h *Host) notes(in *input) bool {
	var s harvest.Session
	s.In(in.cwd)
	return h.Allowed == nil || h.Allowed(s.Folders)
}

func (h *Host) now() time.Time {
	if h.Now != nil {
		return h.Now()
	}
	return time.Now()
}

// clean is text with its secrets redacted.
func (h *Host) clean(text string) string {
	text, _ = h.redactor().Redact(text)
	return text
}

func (h *Host) redactor() redact.Redactor {
	if h.Redactor == nil {
		return redact.Detector{}
	}
	return h.Redactor
}

// A reply is a hook's answer.
type reply struct {
	message string   // for the person
	context string   // for the model
	guard   *Guarded // the agent must not continue
}

// Run answers one event: it reads the input that the agent writes to stdin, and returns
// the exit code. It never returns Block because of a failure, not even of a panic, for
// which Go would exit with that very code.
func (h *Host) Run(event string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	defer func() {
		if p := recover(); p != nil {
			h.log(event, fmt.Sprintf("panic: %v", p))
			code = Failed
		}
	}()
	if !slices.Contains(Events, event) {
		h.log(event, "no hook is for this event")
		return Go
	}
	in, err := readInput(event, stdin)
	if err != nil {
		h.log(event, err.Error())
		return Go
	}
	r, err := h.handle(in)
	if err != nil {
		h.log(event, err.Error())
		if !bySystem(err) {
			fmt.Fprintf(stderr, "evolve hook %s: %s\n", event, h.clean(err.Error()))
			code = Failed
		}
	}
	if r.guard != nil {
		fmt.Fprintf(stderr, "evolve: %v\n", r.guard)
		return Block
	}
	if err := r.write(event, stdout); err != nil {
		h.log(event, err.Error())
		return Failed
	}
	return code
}

// bySystem reports whether the system refused something: a disk is full, or a folder
// may not be written. The user of a session cannot fix that there and would see it at
// every event, so only `evolve hooks status` reports it.
func bySystem(err error) bool {
	var path *fs.PathError
	var link *os.LinkError
	return errors.As(err, &path) || errors.As(err, &link)
}

// handle does the work of an event. A reply may come with an error: if something could
// not be written, the answer is still given.
func (h *Host) handle(in *input) (reply, error) {
	switch in.event {
	case SessionStart:
		r, err := h.announce(in)
		if h.notes(in) {
			err = errors.Join(err, h.head(in))
		}
		return r, err
	case UserPromptSubmit:
		return h.mention(in)
	case UserPromptExpansion:
		return h.typed(in)
	case PreToolUse, PostToolUse, PostToolBatch:
		return h.tools(in)
	case SubagentStop, Stop, SessionEnd:
		if !h.notes(in) {
			return reply{}, nil
		}
		err := h.enqueue(in)
		switch {
		case in.event == Stop:
			err = errors.Join(err, h.head(in))
		case in.event == SessionEnd && err == nil:
			err = h.harvest(in)
		}
		return reply{}, err
	}
	return reply{}, nil
}
