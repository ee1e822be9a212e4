package git

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// ErrMissing means that an object is not in the repository, as in a partial clone.
var ErrMissing = errors.New("the object is missing")

// ErrTree means that a tree object is malformed.
var ErrTree = errors.New("malformed tree")

// ErrLarge means that an object is larger than any that a person makes.
var ErrLarge = errors.New("the object is too large")

const (
	maxTree = 16 << 20 // bytes of the largest tree object that is read: some 300,000 names
	maxHead = 1 << 20  // bytes of a commit that are read to find its author
	// maxSkip is how much of an object that the caller left unread is skipped, in
	// bytes; beyond it a new git is cheaper, as a small object can unpack to terabytes.
	maxSkip = 4 << 20
)

// Objects reads objects through one `git cat-file --batch`, which applies no filters
// and no attributes. A corrupt object ends that process; the next object starts
// another. It is for one goroutine.
type Objects struct {
	repo *Repository
	ctx  context.Context

	cmd    *exec.Cmd
	end    context.CancelCauseFunc // kills git
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *capped
	left   int64 // unread bytes of the open object, with its line feed

	waited time.Duration // for git, in all
	slow   error         // git did not answer: no more requests are sent
}

// Objects returns a reader of r's objects. Close it before r.
func (r *Repository) Objects(ctx context.Context) *Objects { return &Objects{repo: r, ctx: ctx} }

// A Blob is the content of a file. It is valid until the next call of its
// Objects.
type Blob struct {
	io.Reader
	Size int64
}

// Blob opens the blob with the id.
func (o *Objects) Blob(id string) (*Blob, error) {
	_, size, err := o.open(id, "blob")
	return &Blob{content{o}, size}, err
}

// Commit returns the full id of the commit that an id, or its beginning, names.
func (o *Objects) Commit(id string) (string, error) {
	full, _, err := o.open(id+"^{commit}", "commit")
	return full, err
}

// A Commit is the head of a commit object, without its message.
type Commit struct {
	ID                string
	Parents           []string
	Author, Committer Stamped
}

// Stamped is who did something, and when.
type Stamped struct {
	Name, Email string // Email is normalised by Address
	At          time.Time
}

// Header returns the head of the commit that an id, or its beginning, names. What a
// malformed one lacks is zero.
func (o *Objects) Header(id string) (*Commit, error) {
	full, _, err := o.open(id+"^{commit}", "commit")
	if err != nil {
		return nil, err
	}
	head, err := io.ReadAll(io.LimitReader(content{o}, maxHead))
	if err != nil {
		return nil, err
	}
	c := &Commit{ID: full}
	for line := range strings.Lines(string(head)) {
		switch key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); {
		case line == "\n":
			return c, nil
		case key == "parent":
			c.Parents = append(c.Parents, value)
		case key == "author" && c.Author == Stamped{}:
			c.Author = stamped(value)
		case key == "committer" && c.Committer == Stamped{}:
			c.Committer = stamped(value)
		}
	}
	return c, nil
}

// stamped parses "Name <address> SECONDS ZONE".
func stamped(text string) (s Stamped) {
	name, rest, _ := strings.Cut(text, "<")
	email, date, _ := strings.Cut(rest, ">")
	s.Name, s.Email = strings.TrimSpace(name), Address(email)
	if seconds, _, _ := strings.Cut(strings.TrimSpace(date), " "); seconds != "" {
		if n, err := strconv.ParseInt(seconds, 10, 64); err == nil && n >= 0 && n <= maxSeconds {
			s.At = time.Unix(n, 0).UTC()
		}
	}
	return s
}

// Author returns the address of a commit's author, normalised by Address.
func (o *Objects) Author(id string) (email string, err error) {
	c, err := o.Header(id)
	if err != nil {
		return "", err
	}
	return c.Author.Email, nil
}

// An Entry is a file, a folder, a link or a submodule in a tree.
type Entry struct {
	Mode string // "100644", "100755", "40000", "120000", "160000"
	Name string
	ID   string
}

// Tree reads a tree by its id, or by a commit's id and "^{tree}". If there is an error,
// it returns the entries before it.
func (o *Objects) Tree(id string) ([]Entry, error) {
	left := int64(maxTree)
	return o.TreeWithin(id, &left)
}

// TreeWithin is Tree, and subtracts the tree's size from left. If the tree is larger
// than left, the error is ErrLarge.
func (o *Objects) TreeWithin(id string, left *int64) (entries []Entry, err error) {
	full, size, err := o.open(id, "tree")
	if err != nil {
		return nil, err
	}
	if size > maxTree {
		return nil, fmt.Errorf("%w: a tree of %d MiB", ErrLarge, size>>20)
	}
	if *left -= size; *left < 0 {
		return nil, ErrLarge
	}
	data, err := bounded.ReadAll(content{o}, maxTree)
	if err != nil {
		return nil, err
	}
	return parseTree(data, len(full)/2)
}

// parseTree parses a tree object. Its ids have size bytes each.
func parseTree(data []byte, size int) (entries []Entry, err error) {
	for len(data) > 0 { // mode, blank, name, NUL, id
		head, rest, ok := bytes.Cut(data, []byte{0})
		mode, name, named := strings.Cut(string(head), " ")
		if !ok || !named || name == "" || len(rest) < size {
			return entries, ErrTree
		}
		entries = append(entries, Entry{mode, name, hex.EncodeToString(rest[:size])})
		data = rest[size:]
	}
	return entries, nil
}

// open requests an object, whose content is read next.
func (o *Objects) open(name, kind string) (id string, size int64, err error) {
	if o.slow != nil {
		return "", 0, o.slow
	}
	if o.cmd != nil && o.left > 0 {
		if o.left > maxSkip {
			o.Close()
		} else if err := o.wait(func() error { _, err := o.out.Discard(int(o.left)); return err }); o.slow != nil {
			return "", 0, err
		}
	}
	o.left = 0
	if o.cmd == nil {
		if err := o.start(); err != nil {
			return "", 0, err
		}
	}
	var head string
	err = o.wait(func() (err error) {
		if _, err = io.WriteString(o.in, name+"\n"); err == nil {
			head, err = o.out.ReadString('\n')
		}
		return err
	})
	if err != nil {
		return "", 0, err
	}
	fields := strings.Fields(head)
	if len(fields) != 3 {
		return "", 0, ErrMissing // "<name> missing"
	}
	size, err = strconv.ParseInt(fields[2], 10, 64)
	if err != nil || size < 0 {
		return "", 0, o.died(fmt.Errorf("unexpected answer %q", strings.TrimSpace(head)))
	}
	o.left = size + 1
	if fields[1] != kind {
		return "", 0, fmt.Errorf("%s is a %s, not a %s", fields[0], fields[1], kind)
	}
	return fields[0], size, nil
}

func (o *Objects) start() error {
	ctx, end := context.WithCancelCause(o.ctx)
	cmd := o.repo.command(ctx, "cat-file", "--batch")
	stderr := &capped{limit: maxComplaint}
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	var out io.ReadCloser
	if err == nil {
		out, err = cmd.StdoutPipe()
	}
	if err == nil {
		kill := cmd.Cancel
		cmd.Cancel = func() error { return errors.Join(kill(), out.Close()) } // a git that cannot be killed holds the pipe
		err = o.repo.start(cmd)
	}
	if err != nil {
		end(err)
		return err
	}
	o.cmd, o.end, o.in, o.stderr = cmd, end, in, stderr
	if o.out == nil {
		o.out = bufio.NewReaderSize(out, 256<<10)
	} else {
		o.out.Reset(out)
	}
	return nil
}

// wait runs f, which waits for git, and ends git if that takes too long. If there is an
// error, git has ended.
func (o *Objects) wait(f func() error) error {
	limit := min(o.repo.limits.answer, o.repo.limits.total-o.waited)
	end, slow := o.end, fmt.Errorf("git cat-file: %w", ErrSlow)
	began, alarm := time.Now(), time.AfterFunc(limit, func() { end(slow) })
	err := f()
	o.waited += time.Since(began)
	if !alarm.Stop() {
		o.slow = slow
		err = cmp.Or(err, slow)
	}
	if err != nil {
		return o.died(err)
	}
	return nil
}

// died ends the process and returns why it could not answer.
func (o *Objects) died(err error) error {
	stderr := o.stderr
	o.Close()
	switch {
	case o.ctx.Err() != nil:
		return o.ctx.Err()
	case o.slow != nil:
		return o.slow
	case len(stderr.bytes) > 0:
		err = complaint(stderr)
	}
	return fmt.Errorf("git cat-file: %w%s", err, o.repo.notes)
}

// Close ends git. Another object starts it again.
func (o *Objects) Close() {
	if o.cmd == nil {
		return
	}
	o.in.Close()
	patience := o.repo.limits.answer
	if o.left > 0 || o.slow != nil { // it waits for a reader of its answer, or does not answer
		o.end(nil)
		patience = grace
	}
	ended := make(chan error, 1)
	go func(cmd *exec.Cmd) { ended <- cmd.Wait() }(o.cmd) // its error message is in stderr
	late := time.NewTimer(patience)
	select {
	case <-ended:
	case <-late.C:
		o.slow = fmt.Errorf("git cat-file: %w", ErrSlow)
	}
	late.Stop()
	o.end(nil)
	o.cmd, o.left = nil, 0
}

// content is the content of the object that was opened last.
type content struct{ *Objects }

func (o content) Read(p []byte) (n int, err error) {
	if o.left <= 1 { // the line feed behind it is not content
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), o.left-1)]
	if o.out.Buffered() > 0 { // nothing to wait for
		n, err = o.out.Read(p)
	} else {
		err = o.wait(func() error { n, err = o.out.Read(p); return err })
	}
	o.left -= int64(n)
	if err != nil {
		o.left = 0
	}
	return n, err
}
