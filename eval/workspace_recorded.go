package eval

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/skill-evolve/evolve/eval/scratch"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// RecordedWorkspaces opens folders that hold the tree in which a case's request
// was made, with the case's Files on top. A case without a Workspace gets its
// Files alone. Nothing is fetched and nothing of the repository runs: submodules
// stay empty, files of LFS stay pointers, its filters are off. There is no .git
// in the folder.
//
// A commit's tree is packed once and unpacked for each attempt, so that one
// attempt cannot change another's. Set the fields before the first Open; it is
// safe for concurrent use. Close it when the run is over.
type RecordedWorkspaces struct {
	Parent string // "" is the system's folder for temporary files
	// Base is what a relative Workspace.Repo begins with; "" is the current
	// folder.
	Base     string
	MaxBytes int64 // of one tree, unpacked; 0 is 512 MiB

	mu    sync.Mutex
	packs map[Workspace]*pack
}

var _ Workspaces = (*RecordedWorkspaces)(nil)

// An UnreplayableError is a case whose recorded tree cannot be brought back: the
// repository is gone, does not know the commit, or is too large. It is the
// case's own fault: such a case is to be left out, and listed, when jobs are
// prepared (see Check). A job that is begun all the same is missing with this
// reason, and does not stop the run.
type UnreplayableError struct {
	Case   string // its id
	Repo   string
	Commit string
	Err    error
}

func (e *UnreplayableError) Error() string {
	return fmt.Sprintf("bring back the tree of case %s (%s at %s): %v", e.Case, e.Repo, e.Commit, e.Err)
}

func (e *UnreplayableError) Unwrap() error { return e.Err }

// A pack is one commit's tree as a tar file.
type pack struct {
	mu   sync.Mutex
	file string // "" until it is made
	err  error  // why it cannot be
}

// Check says whether the case's tree can be brought back, before anything is
// spent: an *UnreplayableError where it cannot, or ctx's error. It packs the
// tree, for Open to unpack.
func (w *RecordedWorkspaces) Check(ctx context.Context, c *Case) error {
	if c.Workspace == nil {
		return nil
	}
	_, err := w.pack(ctx, c)
	return err
}

// Open brings back the case's tree in a new folder that only this user can read.
// The error is an *UnreplayableError, ctx's, or of this machine's files.
func (w *RecordedWorkspaces) Open(ctx context.Context, c *Case) (dir string, done func(), err error) {
	file := ""
	if c.Workspace != nil {
		if file, err = w.pack(ctx, c); err != nil {
			return "", nil, err
		}
	}
	return openFolder(w.Parent, func(dir string) error {
		if file != "" {
			if err := unpack(ctx, dir, file); err != nil {
				return fmt.Errorf("unpack tree: %w", err)
			}
		}
		return WriteFiles(dir, c.Files)
	})
}

// Close removes what was packed.
func (w *RecordedWorkspaces) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	for _, p := range w.packs {
		p.mu.Lock()
		if p.file != "" {
			errs = append(errs, os.Remove(p.file))
		}
		p.file, p.err = "", errors.New("the workspaces are closed")
		p.mu.Unlock()
	}
	return errors.Join(errs...)
}

// pack returns the tar file of the case's tree.
func (w *RecordedWorkspaces) pack(ctx context.Context, c *Case) (string, error) {
	at := *c.Workspace
	w.mu.Lock()
	if w.packs == nil {
		w.packs = make(map[Workspace]*pack)
	}
	p := w.packs[at]
	if p == nil {
		p = new(pack)
		w.packs[at] = p
	}
	w.mu.Unlock()

	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == "" && p.err == nil {
		file, err := w.archive(ctx, at)
		if ctx.Err() != nil {
			return "", ctx.Err() // says nothing about the tree
		}
		p.file, p.err = file, err
	}
	if p.err != nil {
		return "", &UnreplayableError{Case: c.ID, Repo: at.Repo, Commit: at.Commit, Err: p.err}
	}
	return p.file, nil
}

var fullCommit = lazyregexp.New(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// archive packs one tree. Repo may be a folder within a repository: then it is
// that folder's part of the tree, as the session saw it.
func (w *RecordedWorkspaces) archive(ctx context.Context, at Workspace) (file string, err error) {
	commit := strings.ToLower(at.Commit)
	if len(commit) < 7 || strings.Trim(commit, "0123456789abcdef") != "" {
		return "", fmt.Errorf("%q is no commit: what a branch names changes", at.Commit)
	}
	repo := at.Repo
	if !filepath.IsAbs(repo) {
		repo = filepath.Join(w.Base, repo)
	}
	if info, err := os.Stat(repo); err != nil {
		return "", fmt.Errorf("find repository: %w", err)
	} else if !info.IsDir() {
		return "", fmt.Errorf("find repository: %s is no folder", repo)
	}
	found, err := git(ctx, repo, "rev-parse", "--verify", "--quiet", "--end-of-options", commit+"^{commit}")
	full := strings.TrimSpace(string(found))
	if err != nil || !fullCommit.MatchString(full) || !strings.HasPrefix(full, commit) {
		return "", fmt.Errorf("the repository does not know the commit (%w)", orUnknown(err))
	}
	// Filters would run programs that the owner's configuration names, and some
	// of them fetch.
	names, _ := git(ctx, repo, "config", "--name-only", "--get-regexp", `^filter\.`)
	var args []string
	for name := range strings.FieldsSeq(string(names)) {
		value := "="
		if strings.HasSuffix(name, ".required") {
			value = "=false"
		}
		args = append(args, "-c", name+value)
	}
	out, err := scratch.File(w.Parent, "evolve-case-*.tar")
	if err != nil {
		return "", err
	}
	defer func() {
		err = errors.Join(err, out.Close())
		if err != nil {
			err = errors.Join(err, os.Remove(out.Name()))
			file = ""
		}
	}()
	limit := w.MaxBytes
	if limit <= 0 {
		limit = 512 << 20
	}
	cmd := gitCommand(ctx, repo, append(args, "archive", "--format=tar", full)...)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	var diag bytes.Buffer
	cmd.Stderr = &diag
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("pack tree: %w", err)
	}
	err = filterTree(out, pipe, limit)
	if err != nil {
		_ = cmd.Process.Kill() // it may wait for its reader
	}
	if werr := cmd.Wait(); err == nil && werr != nil {
		err = fmt.Errorf("pack tree: git archive: %w: %s", werr, strings.TrimSpace(diag.String()))
	}
	return out.Name(), err
}

func orUnknown(err error) error {
	if err == nil {
		return errors.New("another object has that name")
	}
	return err
}

// git runs git and returns what it prints.
func git(ctx context.Context, repo string, args ...string) ([]byte, error) {
	out, err := gitCommand(ctx, repo, args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		err = fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
	}
	return out, err
}

// gitCommand is git without the owner's configuration, hooks, questions and
// network.
func gitCommand(ctx context.Context, repo string, args ...string) *exec.Cmd {
	args = append([]string{"-C", repo, "-c", "protocol.allow=never", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"}, args...)
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = []string{"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C"}
	for _, name := range []string{"PATH", "TMPDIR"} {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	return cmd
}
