package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// ErrBranch means that a name is not one for a new branch.
var ErrBranch = errors.New("no name for a branch")

// ErrExists means that a branch exists already, or is checked out without a commit.
var ErrExists = errors.New("the branch exists already")

// ErrMoved means that a branch is not, or no longer, at the commit that was expected.
var ErrMoved = errors.New("the branch is at another commit")

// ErrCheckedOut means that a branch is checked out in a working tree.
var ErrCheckedOut = errors.New("the branch is checked out")

// ErrNoAuthor means that the person has not told git who they are.
var ErrNoAuthor = errors.New("git does not know your name and address")

// An Author is who a commit is by.
type Author struct{ Name, Email string }

// Author is the person as git would name them in f's repository. The error is ErrNoAuthor
// if name or address is not configured: git would make them up.
func (f *File) Author(ctx context.Context) (a Author, err error) {
	own, err := f.settings(ctx, `^(user|author)\.(name|email)$`)
	for _, kind := range []string{"user", "author"} { // the latter is the more special one
		if v := own[kind+".name"]; v != "" {
			a.Name = v
		}
		if v := own[kind+".email"]; v != "" {
			a.Email = v
		}
	}
	if err == nil && (strings.Trim(a.Name, " .,:;<>\"\\'") == "" || Address(a.Email) == "") {
		err = ErrNoAuthor
	}
	return a, err
}

// Patch is a patch that puts text in the place of the file at the default branch, for `git
// apply`. Nothing is written to the repository.
func (s *State) Patch(ctx context.Context, text []byte) ([]byte, error) {
	r, err := Open(ctx, s.Top)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	objects := filepath.Join(r.own, "new")
	if err := os.Mkdir(objects, 0o700); err != nil {
		return nil, err
	}
	r.env = []string{"GIT_OBJECT_DIRECTORY=" + objects, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + filepath.Join(r.own, "objects")}
	tree, err := s.tree(ctx, r, text)
	if err != nil {
		return nil, err
	}
	return r.Output(ctx, "diff-tree", "-p", "--full-index", "--text", "--no-ext-diff", "--no-textconv", "--no-renames",
		"--src-prefix=a/", "--dst-prefix=b/", s.Commit, tree)
}

// tree writes the default branch's tree with text in the place of the file, and returns
// its id. The text is stored as it is, without filters and with its own line ends: those
// of the text that it was made from are those of the branch.
func (s *State) tree(ctx context.Context, r *Repository, text []byte) (string, error) {
	if s.Mode == "" {
		return "", fmt.Errorf("%s is not on the default branch", s.Path)
	}
	r.env = append(r.env, "GIT_INDEX_FILE="+filepath.Join(r.own, "new-index"))
	blob, err := r.line(ctx, text, "hash-object", "-w", "--no-filters", "--stdin")
	if err != nil {
		return "", err
	}
	if _, err := r.Output(ctx, "read-tree", s.Commit); err != nil {
		return "", err
	}
	if _, err := r.Output(ctx, "update-index", "--cacheinfo", s.Mode+","+blob+","+s.Path); err != nil {
		return "", err
	}
	return r.line(ctx, nil, "write-tree", "--missing-ok")
}

// line is the line that git prints if it reads input.
func (r *Repository) line(ctx context.Context, input []byte, args ...string) (string, error) {
	out, err := r.answer(ctx, func(cmd *exec.Cmd) { cmd.Stdin = bytes.NewReader(input) }, args...)
	return strings.TrimSpace(string(out)), err
}

// Branch makes a branch with one commit on the default branch, which puts text in the
// place of the file, and returns that commit. It writes objects and that one ref: no hook
// runs, nothing is signed, and index, HEAD and working trees stay as they are. Errors:
// ErrBranch and ErrExists.
func (s *State) Branch(ctx context.Context, name string, text []byte, message string, by Author, at time.Time) (commit string, err error) {
	r, err := Open(ctx, s.Top)
	if err != nil {
		return "", err
	}
	defer r.Close()
	if err := s.nameFor(ctx, r, name); err != nil {
		return "", err
	}
	tree, err := s.tree(ctx, r, text)
	if err != nil {
		return "", err
	}
	date := at.Format("2006-01-02T15:04:05-0700")
	r.env = append(r.env, "GIT_AUTHOR_NAME="+by.Name, "GIT_AUTHOR_EMAIL="+by.Email, "GIT_AUTHOR_DATE="+date,
		"GIT_COMMITTER_NAME="+by.Name, "GIT_COMMITTER_EMAIL="+by.Email, "GIT_COMMITTER_DATE="+date)
	if commit, err = r.line(ctx, []byte(message), "commit-tree", tree, "-p", s.Commit); err != nil {
		return "", err
	}
	// The empty old value: git makes the ref under its lock, and only if there is none.
	if err := s.updateRef(ctx, r, "refs/heads/"+name, commit, ""); err != nil {
		if now, e := r.branch(ctx, name); e == nil && now != "" {
			return "", fmt.Errorf("%s: %w", name, ErrExists)
		}
		return "", err
	}
	return commit, nil
}

// updateRef changes a ref in the repository. Packed refs are linked even if there are
// none: git may pack what another process makes meanwhile.
func (f *File) updateRef(ctx context.Context, r *Repository, args ...string) error {
	err := os.Symlink(filepath.Join(f.common, "packed-refs"), filepath.Join(r.own, "packed-refs"))
	if err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	_, err = r.Output(ctx, append([]string{"update-ref", "--no-deref"}, args...)...)
	return err
}

// nameFor returns an error if a new branch may not have that name.
func (s *State) nameFor(ctx context.Context, r *Repository, name string) error {
	if name == "HEAD" || strings.HasPrefix(name, "-") || strings.HasPrefix(name, "refs/") || strings.ContainsAny(name, "\x00\n") {
		return fmt.Errorf("%q: %w", name, ErrBranch)
	}
	if _, err := r.Output(ctx, "check-ref-format", "refs/heads/"+name); err != nil {
		if ctx.Err() != nil {
			return err
		}
		return fmt.Errorf("%q: %w", name, ErrBranch)
	}
	if now, err := r.branch(ctx, name); err != nil {
		return err
	} else if now != "" || s.checkedOut(name) {
		return fmt.Errorf("%s: %w", name, ErrExists)
	}
	return nil
}

// branch is the commit of a branch, "" if there is none.
func (r *Repository) branch(ctx context.Context, name string) (string, error) {
	known, err := r.refs(ctx, "refs/heads/"+name)
	return known["refs/heads/"+name].id, err
}

// BranchAt is the commit of a branch, "" if there is none.
func (f *File) BranchAt(ctx context.Context, name string) (string, error) {
	r, err := Open(ctx, f.Top)
	if err != nil {
		return "", err
	}
	defer r.Close()
	return r.branch(ctx, name)
}

// checkedOut reports whether a branch is the HEAD of one of the repository's working trees.
// A tree in the middle of a rebase has its branch in a file of its own.
func (f *File) checkedOut(name string) bool {
	trees, _ := filepath.Glob(filepath.Join(globbed(f.common), "worktrees", "*"))
	for _, dir := range append(trees, f.common, f.gitDir) {
		for file, want := range map[string]string{"HEAD": "ref: refs/heads/" + name,
			"rebase-merge/head-name": "refs/heads/" + name, "rebase-apply/head-name": "refs/heads/" + name} {
			if text, err := readSmall(filepath.Join(dir, file)); err == nil && strings.TrimSpace(text) == want {
				return true
			}
		}
	}
	return false
}

// DeleteBranch removes a branch that is at commit and checked out nowhere. Errors:
// ErrMoved, also if there is no such branch, and ErrCheckedOut.
func (f *File) DeleteBranch(ctx context.Context, name, commit string) error {
	r, err := Open(ctx, f.Top)
	if err != nil {
		return err
	}
	defer r.Close()
	if f.checkedOut(name) {
		return fmt.Errorf("%s: %w", name, ErrCheckedOut)
	}
	if now, err := r.branch(ctx, name); err != nil {
		return err
	} else if now != commit {
		return fmt.Errorf("%s: %w", name, ErrMoved)
	}
	if err := f.updateRef(ctx, r, "-d", "refs/heads/"+name, commit); err != nil { // compares again, under its lock
		return fmt.Errorf("%s: %w: %w", name, ErrMoved, err)
	}
	return nil
}
