// Package git reads git repositories of unknown origin: a session's folder may be an
// unpacked archive, or one whose .git/config an agent has changed. Such a configuration
// can name programs for git to run (filters, hooks, a file system monitor, the
// transport of a promisor remote), so git does not read it: it works in a private folder
// with a configuration of evolve's own, which only links to the repository's objects
// and refs. The exception is `git config` itself, which starts none of these programs, and
// is asked for the author of a commit and the name of the default branch. Nothing is ever
// fetched or pushed; all that is written is a new branch of one commit, at its owner's word.
//
// Every call of git in evolve goes through this package.
package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/skill-evolve/evolve/eval/scratch"
)

// A Repository gives access to the objects and refs of a repository. Close it.
type Repository struct {
	// Prefix is the folder that was opened, slash-separated and relative to the
	// top of the working tree; "" is the top, and the inside of a repository.
	Prefix string
	// Dirs are the folders of the repository: the one that was opened, without links,
	// its git directory, and the one that this shares with other worktrees.
	Dirs []string

	limits  limits
	own     string // the GIT_DIR that git works in
	program string
	env     []string // for git, besides what it always gets
	notes   string   // possible causes of git's errors
}

// linked are the parts of a repository that git may read. None of them can name a
// program: refs/, packed-refs and reftable/ hold names and object ids, shallow lists
// commits whose parents are absent. objects/info/alternates may lead to any other
// folder of objects; of those, git reads only what is asked for by id.
var linked = []string{"objects", "refs", "packed-refs", "reftable", "shallow"}

// empty is a repository without anything in its private folder. It must be closed.
func empty(l limits) (*Repository, error) {
	program, err := lookPath("git")
	if err != nil {
		return nil, err
	}
	own, err := scratch.Dir("", "evolve-git-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for git: %w", err)
	}
	return &Repository{limits: l, own: own, program: program}, nil
}

// Open opens the repository that dir is, or is in.
func Open(ctx context.Context, dir string) (*Repository, error) {
	return within(ctx, defaults.answer, func(context.Context) (*Repository, error) { return open(dir) }, func(r *Repository) {
		if r != nil {
			r.Close() // what it leaves behind is in the scratch ledger
		}
	})
}

func open(dir string) (*Repository, error) {
	start, gitDir, prefix, err := find(dir)
	if err != nil {
		return nil, err
	}
	common, err := commonDir(gitDir)
	if err != nil {
		return nil, err
	}
	format, err := readFormat(common)
	if err != nil {
		return nil, err
	}
	r, err := empty(defaults)
	if err != nil {
		return nil, err
	}
	own := r.own
	r.Prefix, r.Dirs = prefix, []string{start, gitDir, filepath.Clean(common)}
	head := "ref: refs/heads/none\n"
	if format.refs == "reftable" {
		head = "ref: refs/heads/.invalid\n"
		r.notes = " (the repository keeps its refs in a reftable, for which git 2.45 or later is needed)"
	}
	err = errors.Join(
		os.WriteFile(filepath.Join(own, "HEAD"), []byte(head), 0o600),
		os.WriteFile(filepath.Join(own, "config"), []byte(format.config()), 0o600))
	for _, name := range linked {
		theirs := filepath.Join(common, name)
		info, no := os.Stat(theirs)
		switch {
		case err != nil || no != nil: // these parts are optional
		case info.IsDir():
			if err = onlyFiles(theirs); err == nil {
				err = os.Symlink(theirs, filepath.Join(own, name))
			}
		case info.Mode().IsRegular():
			err = os.Symlink(theirs, filepath.Join(own, name))
		default: // a FIFO, for which git would wait
			err = fmt.Errorf("%s is no file", theirs)
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a folder for git: %w", err), r.Close())
	}
	return r, nil
}

// onlyFiles returns an error if anything below dir is neither a file nor a folder: git
// would open a pipe, as a ref or an object, and wait for a writer.
func onlyFiles(dir string) error {
	return filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		mode := fs.FileMode(0)
		switch {
		case err != nil:
			return nil // git will report what it cannot read
		case d.Type()&fs.ModeSymlink != 0:
			if info, err := os.Stat(at); err == nil {
				mode = info.Mode().Type()
			}
		default:
			mode = d.Type()
		}
		if mode&^fs.ModeDir != 0 {
			return fmt.Errorf("%s is no file", at)
		}
		return nil
	})
}

// Close removes what Open made.
func (r *Repository) Close() error { return os.RemoveAll(r.own) }

// Output runs git and returns what it prints. The error holds the first line of git's
// error message, or is ctx's, ErrSlow or ErrOutput; with the last, the output is what
// was printed up to the limit.
func (r *Repository) Output(ctx context.Context, args ...string) ([]byte, error) {
	return r.answer(ctx, func(*exec.Cmd) {}, args...)
}

// answer is Output of a command that set has prepared.
func (r *Repository) answer(ctx context.Context, set func(*exec.Cmd), args ...string) ([]byte, error) {
	out, err := within(ctx, r.limits.answer, func(ctx context.Context) ([]byte, error) {
		cmd := r.command(ctx, args...)
		set(cmd)
		out, stderr := &capped{limit: r.limits.output, stop: true}, &capped{limit: maxComplaint}
		cmd.Stdout, cmd.Stderr = out, stderr
		err := r.start(cmd)
		if err == nil {
			err = cmd.Wait()
		}
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case out.full:
			return out.bytes, fmt.Errorf("%w (%d MiB)", ErrOutput, r.limits.output>>20)
		case err != nil && len(stderr.bytes) > 0:
			return nil, complaint(stderr)
		}
		return out.bytes, err
	}, func([]byte) {})
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("git %s: %w%s", args[0], err, r.notes)
	}
	return out, err
}

// start starts git with a limit on its memory.
func (r *Repository) start(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	limitMemory(cmd.Process.Pid, r.limits.data)
	return nil
}

// maxComplaint is how much of git's error messages is kept, in bytes.
const maxComplaint = 4 << 10

// complaint is the first line of git's error message.
func complaint(stderr *capped) error {
	line, _, _ := strings.Cut(strings.TrimSpace(string(stderr.bytes)), "\n")
	return errors.New(line)
}

// command prepares git without the caller's variables, configuration and folder.
func (r *Repository) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, r.program, args...)
	cmd.WaitDelay = grace
	cmd.Dir = r.own
	cmd.Env = []string{
		"GIT_DIR=" + r.own,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ATTR_NOSYSTEM=1",
		"HOME=" + r.own, "XDG_CONFIG_HOME=" + r.own, // for a git that does not know GIT_CONFIG_GLOBAL
		"GIT_ALLOW_PROTOCOL=", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C",
		fmt.Sprint("GIT_ALLOC_LIMIT=", r.limits.alloc),
		"PATH=" + strings.Join(absolutePath(), string(os.PathListSeparator)),
	}
	for _, name := range []string{"TMPDIR", "SYSTEMROOT"} {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	cmd.Env = append(cmd.Env, r.env...)
	return cmd
}

// absolutePath is PATH without entries that depend on the current folder, which may be
// the repository.
func absolutePath() (dirs []string) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func lookPath(program string) (string, error) {
	for _, dir := range absolutePath() {
		if at, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return at, nil
		}
	}
	return "", &exec.Error{Name: program, Err: exec.ErrNotFound}
}
