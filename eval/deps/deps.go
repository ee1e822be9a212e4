// Package deps prepares the dependencies of recorded trees by a command of their owner's,
// such as `npm ci`: once for each tree of a repository, for all workspaces of it to read.
package deps

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/workspace"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// A Command prepares dependencies. It is the owner's: no model and no session writes one.
type Command struct {
	Line  string   // for sh -c, in the tree's folder
	Hosts []string // that it may reach, as host:port; none: no network
	Bare  bool     // it runs without a sandbox: only the owner may choose that
}

// Registries are the hosts of public packages.
var Registries = []string{
	"registry.npmjs.org:443", "registry.yarnpkg.com:443",
	"proxy.golang.org:443", "sum.golang.org:443",
	"pypi.org:443", "files.pythonhosted.org:443",
	"index.crates.io:443", "static.crates.io:443",
	"rubygems.org:443", "index.rubygems.org:443",
	"repo.maven.apache.org:443", "repo1.maven.org:443",
}

// homes are the folders of a home that hold what a command installs outside of the tree, and
// the variables that lead to them.
var homes = []struct{ dir, variable string }{
	{"go/pkg/mod", "GOMODCACHE"},
	{".local", "PYTHONUSERBASE"},
	{".cargo", "CARGO_HOME"},
}

const (
	maxNote = 32 << 20 // bytes of the note of what a command made
	limit   = 15 * time.Minute
)

// A Cache holds what commands have made, a folder for each. Set the fields before the first
// Prepare; it is safe for concurrent use, also by several processes.
type Cache struct {
	Dir      string        // made when it is first written to
	MaxBytes int64         // of all; what was not used for longest goes first. 0 is 10 GiB
	MaxAge   time.Duration // since it was last used; 0 is 30 days
	Now      func() time.Time

	mu   sync.Mutex
	held []*flock.Flock
}

// A FailedError is a command that did not prepare the dependencies.
type FailedError struct {
	Line string
	Why  string
}

func (e *FailedError) Error() string {
	return fmt.Sprintf("prepare dependencies (%s): %s", e.Line, e.Why)
}

// Prepare runs the command, unless it was run before on the same tree of the repository, and
// keeps the result until Close. fill writes the recorded tree into a folder. The error is a
// *FailedError, ctx's, fill's, or one of this machine's file system.
func (c *Cache) Prepare(ctx context.Context, cmd Command, repo string, fill func(dir string) error) (*workspace.Prepared, error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, err
	}
	probe, err := os.MkdirTemp(c.Dir, "new-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(probe)
	if err := fill(probe); err != nil {
		return nil, err
	}
	key, err := keyOf(cmd, repo, probe)
	if err != nil {
		return nil, fmt.Errorf("read the tree: %w", err)
	}
	root := filepath.Join(c.Dir, key)
	lock := flock.New(root + ".lock")
	p, err := c.made(ctx, cmd, root, probe, lock)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = append(c.held, lock)
	return p, nil
}

// Close lets other processes remove what this one has used.
func (c *Cache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, lock := range c.held {
		errs = append(errs, lock.Close())
	}
	c.held = nil
	return errors.Join(errs...)
}

// made is what is in root, under a lock that others may share, or what the command makes of
// tree there. It runs where the result stays, because programs note where they were
// installed.
func (c *Cache) made(ctx context.Context, cmd Command, root, tree string, lock *flock.Flock) (*workspace.Prepared, error) {
	for {
		if _, err := lock.TryRLockContext(ctx, poll); err != nil {
			return nil, err
		}
		if p, err := c.read(root); err == nil {
			return p, nil
		}
		if err := lock.Unlock(); err != nil {
			return nil, err
		}
		if _, err := lock.TryLockContext(ctx, poll); err != nil {
			return nil, err
		}
		if _, err := c.read(root); err != nil { // no other process was faster
			c.sweep()
			err := errors.Join(workspace.Remove(root), os.Mkdir(root, 0o700))
			if err == nil {
				err = os.Rename(tree, filepath.Join(root, "tree"))
			}
			if err == nil {
				err = run(ctx, cmd, root)
			}
			if err != nil {
				return nil, errors.Join(err, workspace.Remove(root))
			}
		}
		if err := lock.Unlock(); err != nil {
			return nil, err
		}
	}
}

// poll is how often a lock is asked for that another process has.
const poll = 100 * time.Millisecond

// keyOf identifies a command, a repository and a tree of it. Lock files alone do not say what a
// command makes: it may copy or build the sources, and link to them.
func keyOf(cmd Command, repo, tree string) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "setup/2 %q %q %v %q\n", cmd.Line, cmd.Hosts, cmd.Bare, filepath.Clean(repo))
	root, err := os.OpenRoot(tree)
	if err != nil {
		return "", err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == ".git":
			return fs.SkipDir
		case e.Type()&fs.ModeSymlink != 0:
			to, err := root.Readlink(name)
			if err != nil {
				return err
			}
			fmt.Fprintf(h, "%q -> %q\n", name, to)
		case e.Type().IsRegular():
			f, err := bounded.OpenIn(root, name)
			if err != nil {
				return err
			}
			fmt.Fprintf(h, "%q %v %d\n", name, info.Mode().Perm(), info.Size())
			_, err = io.Copy(h, io.LimitReader(f, info.Size()))
			return errors.Join(err, f.Close())
		}
		return nil
	})
	return hex.EncodeToString(h.Sum(nil))[:32], err
}

// run runs the command in root/tree with the home root/home, and notes what it made.
func run(ctx context.Context, cmd Command, root string) error {
	tree, home := filepath.Join(root, "tree"), filepath.Join(root, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		return err
	}
	before, err := list(tree)
	if err != nil {
		return err
	}
	child := process.Command{Path: "/bin/sh", Args: []string{"-c", cmd.Line}, Dir: tree, MaxOutput: 1 << 40, Line: func([]byte) error { return nil }}
	if !cmd.Bare {
		child.Sandbox = &process.Sandbox{Writable: []string{root}, Hosts: cmd.Hosts}
	}
	child.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=/tmp", "LANG=C.UTF-8", "CI=1"}
	for _, h := range homes {
		child.Env = append(child.Env, h.variable+"="+filepath.Join(home, h.dir))
	}
	bound, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	res, err := process.Run(bound, child)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return &FailedError{cmd.Line, fmt.Sprintf("it did not end within %v", limit)}
	case err != nil:
		return &FailedError{cmd.Line, err.Error()}
	case res.Limit != "":
		return &FailedError{cmd.Line, res.Limit}
	case res.Exit != 0:
		why := fmt.Sprintf("exit %d", res.Exit)
		if last := lastLine(res.Stderr); last != "" {
			why += ": " + last
		}
		return &FailedError{cmd.Line, why}
	}
	made, err := news(tree, before)
	if err != nil {
		return &FailedError{cmd.Line, err.Error()}
	}
	note, err := json.Marshal(note{Made: made})
	if err == nil {
		err = os.WriteFile(filepath.Join(root, noteFile), note, 0o600)
	}
	return err
}

// lastLine is the last line of what a command complained of that is not empty.
func lastLine(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	for _, line := range slices.Backward(lines) {
		if line = strings.TrimSpace(line); line != "" {
			return line[:min(len(line), 300)]
		}
	}
	return ""
}

// A note is written when a command has ended well.
type note struct {
	Made []string `json:"made"`
}

const noteFile = "made.json"

// read is what a command made before.
func (c *Cache) read(root string) (*workspace.Prepared, error) {
	text, err := bounded.ReadFile(filepath.Join(root, noteFile), maxNote)
	if err != nil {
		return nil, err
	}
	var n note
	if err := json.Unmarshal(text, &n); err != nil {
		return nil, err
	}
	now := c.now()
	return prepared(root, n.Made), os.Chtimes(filepath.Join(root, noteFile), now, now)
}

func (c *Cache) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}

func prepared(root string, made []string) *workspace.Prepared {
	p := &workspace.Prepared{Root: root, Tree: filepath.Join(root, "tree"), Made: made}
	for _, h := range homes {
		dir := filepath.Join(root, "home", h.dir)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			p.Env = append(p.Env, h.variable+"="+dir)
		}
	}
	return p
}

// list is what is in a tree: every file and folder, slash-separated.
func list(tree string) (map[string]bool, error) {
	names := map[string]bool{}
	err := filepath.WalkDir(tree, func(at string, e fs.DirEntry, err error) error {
		if rel, no := filepath.Rel(tree, at); err == nil && no == nil {
			names[filepath.ToSlash(rel)] = true
		}
		return err
	})
	return names, err
}

// news is what is new in a tree: a folder instead of what is below it.
func news(tree string, before map[string]bool) (made []string, err error) {
	err = filepath.WalkDir(tree, func(at string, e fs.DirEntry, err error) error {
		rel, no := filepath.Rel(tree, at)
		if err = errors.Join(err, no); err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		switch {
		case before[name]:
			return nil
		case strings.Contains(name, "\n"):
			return fmt.Errorf("it made a file whose name git cannot be told: %q", name)
		case e.Name() != ".git":
			if made = append(made, name); len(made) > maxMade {
				return fmt.Errorf("it made files at more than %d places of the tree", maxMade)
			}
		}
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return made, err
}

// maxMade is how many files and folders a command may make that are in no folder of its own.
const maxMade = 200
