package harvest

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/harvest/jsonl"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// maxText is how much of one prompt or answer is kept, in bytes: the rest of a long
// pasted log adds nothing.
const maxText = 64 << 10

// maxTranscript is the largest transcript that is read, in bytes. Transcripts are read
// line by line; a larger file was not written by an agent.
const maxTranscript = 4 << 30

// ReadFiles is Source.Sessions for an agent that keeps one session per file. It calls
// read for the files that pass o and that c does not hold, several at once, and passes
// the results to yield one at a time, in the order of files. Compressed files are
// unpacked, and named without .zst. A file is marked in c after yield accepted its
// session. c may be nil. The error of read can only be ctx's, or
// ErrSlow: its file is then reported, and not marked, with its session and subagents. A session and its subagents
// are passed on together or not at all, each with the folders of all; one that c holds is
// passed on again if it worked in more folders now.
func ReadFiles(ctx context.Context, files []string, o Options, c Cursor, read readFunc, yield func(*Session) error) ([]Problem, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	var problems []Problem
	var family []*reading // of the file that was read last
	err := readAhead(ctx, unread(files, o, c), read, func(r *reading) error {
		if r.err != nil {
			return r.err
		}
		if family = append(family, new(*r)); !r.last { // r is emptied
			return nil
		}
		if slow := slices.IndexFunc(family, func(r *reading) bool { return r.slow }); slow >= 0 {
			problems = append(problems, family[slow].problems...) // whose folders nobody knows
			family = nil
			return nil
		}
		worked, admitted := new(Session), false
		for _, r := range family {
			if r.session != nil {
				worked.In(r.session.CWD)
				worked.In(r.session.Folders...)
			}
		}
		slices.SortStableFunc(family, func(a, b *reading) int { return strings.Compare(a.aside, b.aside) })
		for _, r := range family {
			s, more := r.session, false
			if s != nil {
				n := len(s.Folders)
				s.In(worked.Folders...)
				more = len(s.Folders) > n
			}
			if r.aside != "" && (r.aside == old || !more || !admitted) {
				continue // it is stored as it is, or not to be
			}
			refused := s != nil && r.aside == "" && !o.Admits(s)
			if !refused {
				problems = append(problems, r.problems...)
			}
			if s != nil && !refused {
				admitted = true
				Scrub(s, redact.Detector{})
				if err := yield(s); err != nil {
					return err
				}
			}
			if r.read {
				mark(c, r.file, r.state)
			}
			if r.read && refused {
				Refuse(c, r.file)
			}
		}
		family = nil
		return nil
	})
	return problems, err
}

// readFile reads r.file. It records the state in which the file was opened, so that
// later writes are noticed next time.
func (r *reading) readFile(ctx context.Context, read readFunc) {
	f, err := bounded.Open(r.path)
	if err != nil {
		r.problems = []Problem{{Path: r.file, Reason: jsonl.Reason(err)}}
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
		r.problems = []Problem{{Path: r.file, Reason: jsonl.Reason(err)}}
		return
	}
	in := io.Reader(opened{f, r.path})
	if jsonl.Packed(r.path) {
		u := jsonl.Unpack(f)
		defer u.Close()
		in = opened{u, r.path}
	}
	r.session, r.problems, r.err = read(ctx, in, r.file)
	r.read, r.slow = true, errors.Is(r.err, ErrSlow)
	if r.slow {
		r.problems, r.err = []Problem{{Path: r.file, Reason: r.err.Error()}}, nil
	}
}

// An opened file is a transcript that can be opened again.
type opened struct {
	io.Reader
	path string
}

// Again opens the transcript from its beginning.
func (o opened) Again() (io.ReadCloser, error) {
	f, err := bounded.Open(o.path)
	if err != nil || !jsonl.Packed(o.path) {
		return f, err
	}
	return packed{jsonl.Unpack(f), f}, nil
}

// Open opens a transcript that was read before.
func Open(path string) (io.ReadCloser, error) { return opened{path: path}.Again() }

// packed closes a file with what unpacks it.
type packed struct {
	io.ReadCloser
	file io.Closer
}

func (p packed) Close() error { return errors.Join(p.ReadCloser.Close(), p.file.Close()) }

// Clean makes a text of a transcript fit to be kept: valid, redacted, and at most 64
// KiB long. It is redacted before it is cut, because half a secret would not be
// recognised. n counts the secrets.
func Clean(red redact.Redactor, text string) (clean string, n int) {
	return CleanWith(red.Redact, text)
}

// CleanWith is Clean with a method of a redact.Session.
func CleanWith(red func(string) (string, int), text string) (clean string, n int) {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\ufffd")
	text, n = red(text)
	return Clip(text), n
}

// Clip cuts a text to the length that is kept.
func Clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	end := maxText
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + cutMark
}

// cutMark is at the end of a text of which no more is kept.
const cutMark = "\n[…]"
