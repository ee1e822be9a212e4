package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"sync"
)

var errOverflow = errors.New("too much output")

// streams are a child's three pipes. They are the system's own, and read by us, because
// os/exec waits for every process that holds one open.
type streams struct {
	trouble chan error // the first error of stdout's reader that is no end of file
	stdout  splitter
	stderr  tail

	ours, theirs []*os.File // ends that are open
	readers      []*os.File
	in           *os.File
	work         sync.WaitGroup
	caught       *LinePanic // nil for none
}

func newStreams(cmd *exec.Cmd, c *Command) (s *streams, err error) {
	s = &streams{trouble: make(chan error, 1), stderr: tail{most: stderrKept}}
	s.stdout = splitter{line: s.shielded(c.Line), left: c.MaxOutput}
	if c.MaxOutput <= 0 {
		s.stdout.left = defaultOutput
	}
	defer func() {
		if err != nil {
			s.started()
			s.close()
		}
	}()
	if len(c.Stdin) > 0 {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		cmd.Stdin, s.in = r, w
		s.theirs, s.ours = append(s.theirs, r), append(s.ours, w)
		s.work.Go(func() {
			_, _ = w.Write(c.Stdin) // a child need not read it
			_ = w.Close()
		})
	}
	for _, sink := range []struct {
		to   *io.Writer
		into func([]byte) error
	}{{&cmd.Stdout, s.stdout.write}, {&cmd.Stderr, s.stderr.write}} {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		*sink.to = w
		s.theirs, s.ours, s.readers = append(s.theirs, w), append(s.ours, r), append(s.readers, r)
		s.work.Go(func() { s.read(r, sink.into) })
	}
	return s, nil
}

// Run panics with a LinePanic if Command.Line panicked, in the caller's own goroutine
// and after cleaning up.
type LinePanic struct {
	Value any
	Stack []byte // where Line was called
}

func (p *LinePanic) String() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// errPanicked ends a child whose output made Line panic.
var errPanicked = errors.New("panic while its output was read")

// shielded is line for a goroutine of its own, in which a panic would end the process.
func (s *streams) shielded(line func([]byte) error) func([]byte) error {
	if line == nil {
		return nil
	}
	return func(p []byte) (err error) {
		defer func() {
			if v := recover(); v != nil {
				s.caught, err = &LinePanic{v, debug.Stack()}, errPanicked
			}
		}()
		return line(p)
	}
}

// read passes on what comes through r. After an error it continues to read and discards
// the data: a child that is asked to end must not hang in a full pipe.
func (s *streams) read(r *os.File, into func([]byte) error) {
	var failed error
	feed := func(p []byte) {
		if failed != nil {
			return
		}
		if failed = into(p); failed != nil {
			select {
			case s.trouble <- failed:
			default:
			}
		}
	}
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		feed(buf[:n])
		if err == nil {
			continue
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			drain(r, buf, feed)
		}
		return
	}
}

// started closes the child's ends in this process.
func (s *streams) started() {
	for _, f := range s.theirs {
		_ = f.Close()
	}
	s.theirs = nil
}

// close closes everything.
func (s *streams) close() {
	for _, f := range s.ours {
		_ = f.Close()
	}
	s.work.Wait()
}

// finish reads what is in the pipes once the child has ended, and no more: other
// processes may keep them open for ever.
func (s *streams) finish(res *Result) error {
	if s.in != nil {
		_ = s.in.Close()
	}
	for _, r := range s.readers {
		interrupt(r)
	}
	s.work.Wait()
	s.close()
	err := s.stdout.end()
	res.Stdout, res.Cut, res.Stderr = s.stdout.all.Bytes(), s.stdout.cut, s.stderr.String()
	return err
}

// A splitter turns a stream into lines, or keeps it.
type splitter struct {
	line func([]byte) error
	left int64 // bytes that may still come
	all  bytes.Buffer
	part []byte // of a line whose end has not come
	long bool   // part is full, and the line continues
	cut  int
	err  error // the first one; nothing is delivered after it
}

// write adds the next bytes. It must not be called after an error.
func (s *splitter) write(p []byte) error {
	s.err = s.take(p)
	return s.err
}

func (s *splitter) take(p []byte) error {
	over := int64(len(p)) > s.left
	if over {
		p = p[:s.left]
	}
	s.left -= int64(len(p))
	if s.line == nil {
		s.all.Write(p)
	} else if err := s.split(p); err != nil {
		return err
	}
	if over {
		return errOverflow
	}
	return nil
}

func (s *splitter) split(p []byte) error {
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			s.add(p)
			return nil
		}
		line := p[:i]
		if len(s.part) > 0 {
			s.add(line)
			line = s.part
		}
		if s.long {
			s.cut++
		}
		// A line in one piece is shorter than the buffer, and so than MaxLine.
		if err := s.line(line); err != nil {
			return err
		}
		s.part, s.long = s.part[:0], false
		p = p[i+1:]
	}
}

func (s *splitter) add(p []byte) {
	if room := MaxLine - len(s.part); len(p) > room {
		p, s.long = p[:room], true
	}
	s.part = append(s.part, p...)
}

// end delivers a last line without LF, and returns the first error of all.
func (s *splitter) end() error {
	if s.err != nil || s.line == nil || len(s.part) == 0 {
		return s.err
	}
	if s.long {
		s.cut++
	}
	return s.line(s.part)
}

// A tail keeps the last bytes that are written to it. It holds up to twice as many, so
// that short writes are cheap.
type tail struct {
	most int
	b    []byte
}

func (t *tail) write(p []byte) error {
	if over := len(p) - t.most; over > 0 {
		p = p[over:]
	}
	if len(t.b)+len(p) > 2*t.most {
		t.b = append(t.b[:0], t.bytes()...)
	}
	t.b = append(t.b, p...)
	return nil
}

func (t *tail) bytes() []byte { return t.b[max(0, len(t.b)-t.most):] }

func (t *tail) String() string { return string(bytes.ToValidUTF8(t.bytes(), nil)) }
