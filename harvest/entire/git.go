package entire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// errMissing is an object that the repository names and does not hold, as in a
// partial clone.
var errMissing = errors.New("the object is missing")

// hardened keeps a repository's own configuration from running or fetching
// anything: reading one must be safe whoever wrote it.
var hardened = []string{"--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never",
	"-c", "log.showSignature=false", "-c", "core.quotePath=false"}

// command prepares git in repo.
func command(ctx context.Context, repo string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append(append([]string{"-C", repo}, hardened...), args...)...)
	for _, v := range os.Environ() {
		// Inside a hook, git's variables point to another repository.
		if !strings.HasPrefix(v, "GIT_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1", "LC_ALL=C")
	return cmd
}

// output runs git and returns what it printed; an error says what git said.
func output(ctx context.Context, repo string, args ...string) ([]byte, error) {
	cmd := command(ctx, repo, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("git %s: %w", args[0], said(stderr.String(), err))
	}
	return out, nil
}

// said is the first line of git's complaint, or err where it made none.
func said(stderr string, err error) error {
	if line, _, _ := strings.Cut(strings.TrimSpace(stderr), "\n"); line != "" {
		return errors.New(line)
	}
	return err
}

// objects reads blobs through one `git cat-file --batch`. A corrupt object ends
// that process; the next blob starts another.
type objects struct {
	ctx  context.Context
	repo string

	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
	left   int64 // bytes of the open blob that were not read, its line feed included
}

// open asks for a blob. Its reader is valid until the next call.
func (o *objects) open(oid string) (io.Reader, error) {
	if o.cmd != nil && o.left > 0 {
		if _, err := io.CopyN(io.Discard, o.out, o.left); err != nil {
			o.close()
		}
	}
	o.left = 0
	if o.cmd == nil {
		if err := o.start(); err != nil {
			return nil, err
		}
	}
	if _, err := io.WriteString(o.in, oid+"\n"); err != nil {
		return nil, o.died(err)
	}
	head, err := o.out.ReadString('\n')
	if err != nil {
		return nil, o.died(err)
	}
	fields := strings.Fields(head)
	if len(fields) != 3 {
		return nil, errMissing // "<oid> missing"
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil || size < 0 {
		return nil, o.died(fmt.Errorf("unexpected answer %q", strings.TrimSpace(head)))
	}
	o.left = size + 1
	return &blob{o}, nil
}

func (o *objects) start() error {
	cmd := command(o.ctx, o.repo, "cat-file", "--batch")
	o.stderr.Reset()
	cmd.Stderr = &o.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	o.cmd, o.in = cmd, in
	if o.out == nil {
		o.out = bufio.NewReaderSize(out, 256<<10)
	} else {
		o.out.Reset(out)
	}
	return nil
}

// died ends the process and says why it could not answer.
func (o *objects) died(err error) error {
	o.close()
	if o.ctx.Err() != nil {
		return o.ctx.Err()
	}
	return fmt.Errorf("git cat-file: %w", said(o.stderr.String(), err))
}

func (o *objects) close() {
	if o.cmd == nil {
		return
	}
	o.in.Close()
	// An answer that nobody reads would keep it waiting.
	_, _ = io.Copy(io.Discard, o.out)
	_ = o.cmd.Wait() // its complaint is in stderr
	o.cmd, o.left = nil, 0
}

// maxTree is the largest tree that is read, in bytes; maxEntries are the files of
// one ref: trees that share subtrees can pretend to any number.
const (
	maxTree    = 64 << 20
	maxEntries = 2_000_000
)

// errTree is a tree that is none, or that no checkpoint can have.
var errTree = errors.New("malformed or oversized tree")

// walk visits the files of a tree, at most depth folders deep. It reads trees
// through the same process as blobs: an `ls-tree` for each of a thousand refs
// takes seconds. A folder that cannot be read is left out; the error is the
// first of them.
func (o *objects) walk(tree, prefix string, depth int, left *int, visit func(file, oid string)) error {
	data, err := o.all(tree, maxTree)
	if err != nil {
		return fmt.Errorf("read tree %q: %w", prefix, err)
	}
	size := 20 // bytes of an object's id
	if id, _, _ := strings.Cut(tree, "^"); len(id) == 64 {
		size = 32
	}
	var first error
	for len(data) > 0 {
		mode, name, oid, rest, ok := entry(data, size)
		if *left--; !ok || *left < 0 {
			return fmt.Errorf("read tree %q: %w", prefix, errTree)
		}
		data = rest
		switch {
		case mode == "40000" && depth > 0:
			if err := o.walk(oid, prefix+name+"/", depth-1, left, visit); err != nil {
				if o.ctx.Err() != nil || *left < 0 {
					return err
				}
				if first == nil {
					first = err
				}
			}
		case strings.HasPrefix(mode, "100"): // a regular file: no link, no submodule
			visit(prefix+name, oid)
		}
	}
	return first
}

// entry takes the first entry off a tree object whose ids have size bytes: mode,
// blank, name, NUL, id.
func entry(tree []byte, size int) (mode, name, oid string, rest []byte, ok bool) {
	head, rest, ok := bytes.Cut(tree, []byte{0})
	mode, name, named := strings.Cut(string(head), " ")
	if !ok || !named || name == "" || len(rest) < size {
		return "", "", "", nil, false
	}
	return mode, name, hex.EncodeToString(rest[:size]), rest[size:], true
}

// all reads a small blob, at most limit bytes of it.
func (o *objects) all(oid string, limit int64) ([]byte, error) {
	r, err := o.open(oid)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, limit))
}

// blob is the content of the object that was opened last.
type blob struct{ o *objects }

func (b *blob) Read(p []byte) (int, error) {
	if b.o.left <= 1 { // the line feed behind it is not content
		return 0, io.EOF
	}
	n, err := b.o.out.Read(p[:min(int64(len(p)), b.o.left-1)])
	b.o.left -= int64(n)
	if err != nil {
		b.o.left = 0
		return n, b.o.died(err)
	}
	return n, nil
}
