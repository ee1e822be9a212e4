package guard

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// An order is what the runner in a sandbox gets first, before the events.
type order struct {
	Command string
	Project string
	Agent   string
	Timeout time.Duration
}

const (
	maxStdout = 1 << 20 // bytes of a guard's answer
	maxReason = 400     // characters
	maxHashed = 1 << 20 // bytes of a file of state whose content is compared
	maxNamed  = 3       // files that a second delivery changed
)

// Serve is the runner: it reads an order and the events of one session, and writes an answer a
// line. It starts a process for each delivery, which costs a fraction of a sandbox.
func Serve(ctx context.Context, in io.Reader, out io.Writer) (err error) {
	dec, enc := json.NewDecoder(in), json.NewEncoder(out)
	var o order
	var events []Event
	if err := errors.Join(dec.Decode(&o), dec.Decode(&events)); err != nil {
		return fmt.Errorf("serve events: %w", err)
	}
	s, err := o.open()
	if err != nil {
		return fmt.Errorf("serve events: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.dir)) }()
	for _, e := range events {
		a, err := s.twice(ctx, e)
		if err == nil {
			err = enc.Encode(a)
		}
		if err != nil {
			return fmt.Errorf("serve events: %w", err)
		}
	}
	return nil
}

// A state is the folder that a guard has for one session.
type state struct {
	order
	dir    string // with home, tmp and the working folder in it
	watch  string // what may hold state: dir, or all of /tmp
	env    []string
	hashes map[string]hashed
}

func (o order) open() (*state, error) {
	s := &state{order: o, hashes: map[string]hashed{}}
	var err error
	if s.dir, err = os.MkdirTemp("", "session-"); err != nil {
		return nil, err
	}
	s.watch = s.dir
	if runtime.GOOS == "linux" { // where a sandbox has a /tmp of its own
		s.watch = os.TempDir()
	}
	for _, name := range []string{"home", "tmp", "work"} {
		if err := os.Mkdir(filepath.Join(s.dir, name), 0o700); err != nil {
			return nil, err
		}
	}
	s.env = []string{"PATH=" + os.Getenv("PATH"), "LANG=" + os.Getenv("LANG"), "HOME=" + filepath.Join(s.dir, "home"), "TMPDIR=" + filepath.Join(s.dir, "tmp"),
		"CLAUDE_PROJECT_DIR=" + o.Project, "COPILOT_PROJECT_DIR=" + o.Project, "PYTHONDONTWRITEBYTECODE=1"}
	return s, nil
}

// twice delivers an event, and delivers it again.
func (s *state) twice(ctx context.Context, e Event) (Answer, error) {
	a, ms, err := s.deliver(ctx, e)
	if err != nil {
		return a, err
	}
	before, err := s.files()
	if err != nil {
		return a, err
	}
	again, ms2, err := s.deliver(ctx, e)
	if err != nil {
		return a, err
	}
	after, err := s.files()
	a.Millis, a.CPU = [2]float64{ms, ms2}, a.CPU+again.CPU
	if a.Decision != again.Decision {
		a.Second = fmt.Sprintf("decided %q, and the first time %q", again.Decision, a.Decision)
	} else if names := differ(before, after); len(names) > 0 {
		a.Second = "changed " + strings.Join(names[:min(len(names), maxNamed)], ", ")
	}
	return a, err
}

// deliver runs the guard once.
func (s *state) deliver(ctx context.Context, e Event) (a Answer, ms float64, err error) {
	limited, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	begun := time.Now()
	r, err := process.Run(limited, process.Command{Path: "/bin/sh", Args: []string{"-c", s.Command}, Dir: filepath.Join(s.dir, "work"), Env: s.env,
		Stdin: e.Input, MaxOutput: maxStdout, Grace: 100 * time.Millisecond})
	ms = float64(time.Since(begun).Microseconds()) / 1000
	switch {
	case ctx.Err() != nil:
		return a, ms, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return Answer{Decision: GoOn, Late: true}, ms, nil
	case err != nil:
		return a, ms, err
	}
	if s.Agent == Copilot {
		a = readCopilot(e.Name, r.Exit, r.Stdout, r.Stderr)
	} else {
		a = read(r.Exit, r.Stdout, r.Stderr)
	}
	a.CPU = float64(r.CPU.Microseconds()) / 1000
	return a, ms, nil
}

// said is what JSON on stdout says.
type said struct {
	Continue                                     *bool
	Decision, Reason                             string
	StopReason                                   string
	PermissionDecision, PermissionDecisionReason string // Copilot's
	HookSpecificOutput                           struct{ PermissionDecision, PermissionDecisionReason string }
}

func parse(stdout []byte) (s said, ok bool) {
	stdout = bytes.TrimSpace(stdout)
	ok = len(stdout) > 0 && stdout[0] == '{' && json.Unmarshal(stdout, &s) == nil
	return s, ok
}

// read is what an agent makes of a hook's end: 2 blocks, and so does JSON of a hook that ended
// well; anything else goes on.
func read(exit int, stdout []byte, stderr string) Answer {
	switch {
	case exit == 2:
		return Answer{Decision: Block, Reason: clip(stderr)}
	case exit != 0:
		return Answer{Decision: GoOn, Failed: true, Reason: clip(stderr)}
	}
	said, ok := parse(stdout)
	if !ok {
		return Answer{Decision: GoOn}
	}
	own := said.HookSpecificOutput
	switch {
	case said.Continue != nil && !*said.Continue:
		return Answer{Decision: Block, Reason: clip(said.StopReason)}
	case own.PermissionDecision == "deny":
		return Answer{Decision: Block, Reason: clip(own.PermissionDecisionReason)}
	case own.PermissionDecision == "ask":
		return Answer{Decision: Ask, Reason: clip(own.PermissionDecisionReason)}
	case own.PermissionDecision == "" && said.Decision == "block":
		return Answer{Decision: Block, Reason: clip(said.Reason)}
	}
	return Answer{Decision: GoOn}
}

// Copilot is the name of Copilot CLI in sessions.
const Copilot = "copilot-cli"

// readCopilot is what Copilot CLI 1.0.102 makes of a hook's end. Before a tool, a hook that
// fails stops the call; at any other event nothing but JSON of one that ended well does. What
// stands in hookSpecificOutput counts for hooks at events that are spelled as Claude Code does.
func readCopilot(event string, exit int, stdout []byte, stderr string) Answer {
	before := strings.EqualFold(event, "PreToolUse")
	said, _ := parse(stdout)
	decision, reason := said.PermissionDecision, said.PermissionDecisionReason
	if own := said.HookSpecificOutput; event == "PreToolUse" && own.PermissionDecision != "" {
		decision, reason = own.PermissionDecision, own.PermissionDecisionReason
	}
	switch {
	case exit == 2 && before:
		return Answer{Decision: Block, Reason: clip(cmp.Or(reason, stderr))}
	case exit != 0 && before:
		return Answer{Decision: Block, Failed: true, Reason: clip(stderr)}
	case exit != 0:
		return Answer{Decision: GoOn, Failed: exit != 2, Reason: clip(stderr)}
	case before && decision == "deny":
		return Answer{Decision: Block, Reason: clip(reason)}
	case before && decision == "ask":
		return Answer{Decision: Ask, Reason: clip(reason)}
	case !before && said.Decision == "block":
		return Answer{Decision: Block, Reason: clip(said.Reason)}
	}
	return Answer{Decision: GoOn}
}

func clip(text string) string { return plain.Excerpt(text, maxReason) }

// A hashed file is its content while it has a size, a time and a place.
type hashed struct {
	info fs.FileInfo
	sum  string
}

// files are those that hold state, by name, with what is in them.
func (s *state) files() (map[string]string, error) {
	found := map[string]string{}
	err := filepath.WalkDir(s.watch, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == s.watch {
			return skipGone(err)
		}
		info, err := d.Info()
		if err != nil {
			return skipGone(err)
		}
		name, _ := filepath.Rel(s.dir, path)
		found[name], err = s.content(path, info)
		return skipGone(err)
	})
	return found, err
}

// skipGone passes over what was removed meanwhile, or closed to us.
func skipGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

func (s *state) content(path string, info fs.FileInfo) (string, error) {
	kind := info.Mode().String()
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(path)
		return kind + to, err
	case !info.Mode().IsRegular():
		return kind, nil
	case info.Size() > maxHashed:
		return fmt.Sprint(kind, info.Size(), info.ModTime().UnixNano()), nil
	}
	if was, ok := s.hashes[path]; ok && was.info.Size() == info.Size() && was.info.ModTime().Equal(info.ModTime()) && os.SameFile(was.info, info) {
		return kind + was.sum, nil
	}
	text, err := bounded.ReadFile(path, maxHashed)
	if err != nil { // it grew, or is closed to us
		return kind, nil
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(text))
	s.hashes[path] = hashed{info, sum}
	return kind + sum, nil
}

// differ names what two states do not share, in order.
func differ(a, b map[string]string) (names []string) {
	for name := range maps.Keys(a) {
		if is, ok := b[name]; !ok || is != a[name] {
			names = append(names, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
