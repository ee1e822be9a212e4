package handoff

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// Names in the folder of all requests. An open request is a folder of its own
// beside them, an answered one a folder in answered.
const (
	answered  = "answered"
	indexName = "OPEN.md"
	lockName  = ".lock"
	newPrefix = ".new-"
)

// A box is the folder of all requests. Requests appear and move by renames, so that
// they are never seen half written; a process that moves them or writes the index holds
// the lock.
type box struct{ dir string }

func (b box) open(id string) string { return filepath.Join(b.dir, id) }
func (b box) away(id string) string { return filepath.Join(b.dir, answered, id) }

// missing reports whether a request was never put, or is gone.
func (b box) missing(id string) bool {
	for _, dir := range []string{b.open(id), b.away(id)} {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

// add makes a prepared folder the open request id, unless another process was faster:
// then the request may even be answered already.
func (b box) add(id, prepared string) error {
	unlock, err := b.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if !b.missing(id) {
		return nil
	}
	if err := os.Rename(prepared, b.open(id)); err != nil {
		return err
	}
	return b.writeIndex()
}

// look returns the answer to a request, nil if there is none yet. The error is
// fs.ErrNotExist if there is no such request, unusable if the answer is faulty.
func (b box) look(id string) (*answer, stamp, error) {
	// Open first: a request that moves between the two looks is then still found.
	got, at, err := read(b.open(id), id)
	if !errors.Is(err, fs.ErrNotExist) {
		return got, at, err
	}
	if got, at, err = read(b.away(id), id); got != nil {
		got.taken = true
	}
	if err == nil && got == nil {
		// Its answer was removed by hand: ask again.
		if err := os.RemoveAll(b.away(id)); err != nil {
			return nil, at, err
		}
		return nil, at, fs.ErrNotExist
	}
	return got, at, err
}

// putAway moves an answered request out of the way.
func (b box) putAway(got *answer) error {
	unlock, err := b.lock()
	if err != nil {
		return err
	}
	defer unlock()
	err = os.Rename(got.dir, b.away(got.id))
	if _, none := os.Lstat(b.away(got.id)); err != nil && none != nil {
		return err // else another process was faster
	}
	got.dir, got.taken = b.away(got.id), true
	return b.writeIndex()
}

// A Request waits for its answer.
type Request struct {
	ID      string
	Kind    string // "task" or "complete"
	Run     string // Config.Run of the run that asked
	Asked   time.Time
	Path    string // of its request.md, absolute
	Title   string // the beginning of what it asks, one line
	Problem string // what is wrong with the answer; "" if nothing is
	// Answered: the answer is there, and was not taken yet.
	Answered bool
}

// Open lists the requests that wait in a folder, oldest first. A folder that
// does not exist has none.
func Open(dir string) ([]Request, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("list requests: %w", err)
	}
	all, err := requests(dir)
	if err != nil {
		return nil, fmt.Errorf("list requests: %w", err)
	}
	out := make([]Request, 0, len(all))
	for _, r := range all {
		got, _, err := read(filepath.Join(dir, r.ID), r.ID)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // taken meanwhile
		case err != nil && !errors.As(err, new(unusable)):
			return nil, fmt.Errorf("list requests: %w", err)
		}
		out = append(out, Request{ID: r.ID, Kind: r.Kind, Run: r.Run, Asked: r.Asked, Title: r.Title,
			Path: filepath.Join(dir, r.ID, requestText), Problem: complaint(err), Answered: got != nil})
	}
	slices.SortFunc(out, func(x, y Request) int {
		if c := x.Asked.Compare(y.Asked); c != 0 {
			return c
		}
		return strings.Compare(x.ID, y.ID)
	})
	return out, nil
}

// maxRequest is the longest request.json that is read, in bytes.
const maxRequest = 64 << 20

// requests reads the request.json of every folder in dir that is a request's.
func requests(dir string) ([]*request, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []*request
	for _, e := range entries {
		if !e.IsDir() || len(e.Name()) != idLength || strings.Trim(e.Name(), "0123456789abcdef") != "" {
			continue
		}
		text, err := bounded.ReadFile(filepath.Join(dir, e.Name(), requestData), maxRequest)
		var r request
		if err == nil && json.Unmarshal(text, &r) == nil && r.ID == e.Name() {
			all = append(all, &r)
		}
	}
	return all, err
}

// title is the beginning of a text on one line, for a list.
func title(text string) string {
	line := strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "`", "'")
	if utf8.RuneCountInString(line) > 72 {
		line = string([]rune(line)[:71]) + "…"
	}
	return line
}

// index writes OPEN.md anew.
func (b box) index() error {
	unlock, err := b.lock()
	if err != nil {
		return err
	}
	defer unlock()
	return b.writeIndex()
}

// lock is held by the process that writes the index, over all processes.
func (b box) lock() (unlock func(), err error) {
	l := flock.New(filepath.Join(b.dir, lockName), flock.SetPermissions(0o600))
	if err := l.Lock(); err != nil {
		return nil, fmt.Errorf("lock the folder for requests: %w", err)
	}
	return func() { _ = l.Unlock() }, nil
}

func (b box) writeIndex() error {
	open, err := Open(b.dir)
	if err != nil {
		return err
	}
	var s strings.Builder
	fmt.Fprintf(&s, "# Open requests: %d\n\n", len(open))
	if len(open) == 0 {
		s.WriteString("Nothing waits for an answer.\n")
	} else {
		s.WriteString("Each is a folder with a request.md that says what is wanted, and where the answer goes. Oldest first.\n\n")
	}
	for _, r := range open {
		fmt.Fprintf(&s, "- [%s](%s/%s) %s, asked %s: `%s`\n", r.ID, r.ID, requestText, r.Kind, r.Asked.Format(time.DateTime), r.Title)
		switch {
		case r.Problem != "":
			fmt.Fprintf(&s, "  **The answer that stands there cannot be used: %s**\n", strings.Join(strings.Fields(r.Problem), " "))
		case r.Answered:
			s.WriteString("  Answered, and not taken yet.\n")
		}
	}
	if err := renameio.WriteFile(filepath.Join(b.dir, indexName), []byte(s.String()), 0o600); err != nil {
		return fmt.Errorf("write the list of open requests: %w", err)
	}
	return nil
}

// Clean removes the requests, answered or not, that are over, by the run that asked and
// the time, and what a crash left half made. It returns how many requests it removed.
func Clean(dir string, over func(run string, asked time.Time) bool) (int, error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	b := box{dir}
	unlock, err := b.lock()
	if err != nil {
		return 0, fmt.Errorf("clean up requests: %w", err)
	}
	defer unlock()
	n := 0
	for _, in := range []string{dir, filepath.Join(dir, answered)} {
		all, err := requests(in)
		if err != nil {
			return n, fmt.Errorf("clean up requests: %w", err)
		}
		for _, r := range all {
			if !over(r.Run, r.Asked) {
				continue
			}
			if err := os.RemoveAll(filepath.Join(in, r.ID)); err != nil {
				return n, fmt.Errorf("clean up requests: %w", err)
			}
			n++
		}
	}
	if err := b.sweep(); err != nil {
		return n, fmt.Errorf("clean up requests: %w", err)
	}
	return n, b.writeIndex()
}

// sweep removes what was begun more than an hour ago and never became a request.
func (b box) sweep() error {
	entries, err := os.ReadDir(b.dir)
	for _, e := range entries {
		info, ierr := e.Info()
		if ierr == nil && strings.HasPrefix(e.Name(), newPrefix) && time.Since(info.ModTime()) > time.Hour {
			err = errors.Join(err, os.RemoveAll(filepath.Join(b.dir, e.Name())))
		}
	}
	return err
}
