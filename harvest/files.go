package harvest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/harvest/jsonl"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// maxText is how much of one prompt or answer is kept, in bytes: a pasted log is
// no more telling for being whole.
const maxText = 64 << 10

// maxTranscript is the largest file that is read as a transcript, in bytes. They are
// read line by line; one that is larger was not written by an agent.
const maxTranscript = 4 << 30

// Check returns an error for a pattern that is none.
func (o Options) Check() error {
	for _, pattern := range o.Exclude {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("read sessions: exclude %q: %w", pattern, err)
		}
	}
	return nil
}

// Excludes reports whether sessions of the folder cwd must not be read. Those of
// evolve's own replays (see OwnReplay) never are.
func (o Options) Excludes(cwd string) bool {
	if inOwnFolder(cwd) {
		return true
	}
	for dir := filepath.ToSlash(cwd); dir != "" && dir != "." && dir != "/"; dir = path.Dir(dir) {
		for _, pattern := range o.Exclude {
			if ok, _ := path.Match(pattern, dir); ok {
				return true
			}
			if ok, _ := path.Match(pattern, path.Base(dir)); ok {
				return true
			}
		}
	}
	return false
}

// ReadFiles is Source.Sessions for an agent that keeps one session a file: it
// hands the files that pass o and that c has not seen to read, and what that
// makes of them to yield, in their order and one at a time. Several files are
// read at once. Compressed ones are handed on unpacked, under their names without
// .zst. A file is marked in c after yield accepted its session. c may be
// nil. The error of read can only be ctx's.
func ReadFiles(ctx context.Context, files []string, o Options, c Cursor,
	read func(ctx context.Context, r io.Reader, file string) (*Session, []Problem, error),
	yield func(*Session) error) ([]Problem, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	var problems []Problem
	err := readAhead(ctx, unread(files, o, c), read, func(r *reading) error {
		problems = append(problems, r.problems...)
		if r.err != nil {
			return r.err
		}
		if r.session != nil && !o.Excludes(r.session.CWD) && !OwnReplay(r.session) {
			Scrub(r.session, redact.Detector{})
			if err := yield(r.session); err != nil {
				return err
			}
		}
		if r.read {
			mark(c, r.file, r.state)
		}
		return nil
	})
	return problems, err
}

// readFile reads r.file, and notes the state in which it was opened: what is
// written meanwhile shows next time.
func (r *reading) readFile(ctx context.Context, read readFunc) {
	f, err := bounded.Open(r.path)
	if err != nil {
		r.problems = []Problem{{Path: r.file, Reason: Reason(err)}}
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.Size() > maxTranscript {
		err = &bounded.TooLargeError{Limit: maxTranscript}
	}
	if err == nil {
		r.state = StateOf(info)
		err = r.state.sign(f)
	}
	if err != nil {
		r.problems = []Problem{{Path: r.file, Reason: Reason(err)}}
		return
	}
	in := io.Reader(f)
	if jsonl.Packed(r.path) {
		u := jsonl.Unpack(f)
		defer u.Close()
		in = u
	}
	r.session, r.problems, r.err = read(ctx, in, r.file)
	r.read = true
}

// Reason is err as it stands in a Problem: without the path, which that has.
func Reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Op + ": " + e.Err.Error()
	}
	return err.Error()
}

// Clean makes a text of a transcript fit to be kept: valid, redacted, and at
// most 64 KiB long. It is redacted whole, before it is cut: half a secret would
// not be recognised. n counts the secrets.
func Clean(red redact.Redactor, text string) (clean string, n int) {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\ufffd")
	text, n = red.Redact(text)
	return Clip(text), n
}

// Clip cuts a text to what is kept of one.
func Clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	end := maxText
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "\n[…]"
}
