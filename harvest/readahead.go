package harvest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest/family"
	"github.com/skill-evolve/evolve/harvest/jsonl"
)

// A readFunc reads one transcript; its error can only be ctx's, or ErrSlow.
type readFunc func(ctx context.Context, r io.Reader, file string) (*Session, []Problem, error)

// A reading is one file to be read.
type reading struct {
	file string // unpacked, as sessions, problems and cursors name it
	path string // what is opened
	info fs.FileInfo
	last bool // of its family: a session and its subagents
	// aside is why the file is read for its folders alone, "" if it is not: held, by the
	// cursor, or old, see Options.Since.
	aside string
	done  chan struct{} // closed when the fields below are set

	read     bool
	slow     bool      // see ErrSlow
	state    FileState // when it was opened
	session  *Session
	problems []Problem
	err      error
}

const held, old = "held", "old"

// unread lists the files that have to be read, without those that cannot pass o or that
// c holds already, unless they belong to the session of another one.
func unread(files []string, o Options, c Cursor) []reading {
	var todo []reading
	for _, path := range files {
		file := jsonl.Unpacked(path)
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) { // deleted between listing and reading
			continue
		}
		if err != nil {
			r := reading{file: file, problems: []Problem{{Path: file, Reason: jsonl.Reason(err)}}, last: true, done: make(chan struct{})}
			close(r.done)
			todo = append(todo, r)
			continue
		}
		if !info.Mode().IsRegular() {
			continue
		}
		r := reading{file: file, path: path, info: info, last: true, done: make(chan struct{})}
		if info.ModTime().Before(o.Since) {
			r.aside = old
		} else if seen(c, file, path, info) {
			r.aside = held
		}
		todo = append(todo, r)
	}
	isNew := func(r reading) bool { return r.aside == "" }
	if o.family == nil || !slices.ContainsFunc(todo, isNew) { // no file is opened
		return slices.DeleteFunc(todo, func(r reading) bool { return !isNew(r) })
	}
	all := family.Group(todo, func(r *reading) (string, string) {
		return o.family(r.file, func() []byte { return jsonl.First(r.path) })
	})
	for _, f := range all {
		for i := range f {
			f[i].last = i == len(f)-1
		}
	}
	return slices.Concat(slices.DeleteFunc(all, func(f []reading) bool { return !slices.ContainsFunc(f, isNew) })...)
}

// readAhead reads the files of todo, as many at once as there are processors, and calls
// take with each in order. Few sessions are held in memory at a time. It returns after
// all its goroutines have ended.
func readAhead(ctx context.Context, todo []reading, read readFunc, take func(*reading) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	workers := min(runtime.GOMAXPROCS(0), len(todo))
	// A worker takes a slot before it takes the next file in order, so the file that
	// take waits for always has one.
	slots := make(chan struct{}, 4*workers)
	var next atomic.Int64
	for range workers {
		wg.Go(func() {
			for {
				select {
				case slots <- struct{}{}:
				case <-ctx.Done():
					return
				}
				i := int(next.Add(1)) - 1
				if i >= len(todo) {
					return
				}
				if r := &todo[i]; r.info != nil {
					// A panic on one file must not stop the reading of all others.
					if bug := eval.Shielded(func() error { r.readFile(ctx, read); return nil }); bug != nil {
						r.problems = append(r.problems, Problem{Path: r.file, Reason: bug.Error()})
					}
					close(r.done)
				}
			}
		})
	}
	for i := range todo {
		if err := ctx.Err(); err != nil {
			return err
		}
		select {
		case <-todo[i].done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := take(&todo[i]); err != nil {
			return err
		}
		todo[i] = reading{}
		select {
		case <-slots:
		case <-ctx.Done():
		}
	}
	return nil
}
