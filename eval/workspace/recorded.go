package workspace

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/git"
	"github.com/skill-evolve/evolve/eval/scratch"
)

// Recorded opens folders with the tree in which a case's request was made, and the
// case's Files on top. Nothing is fetched and nothing of the repository runs. Files have
// the bytes that were committed, whatever .gitattributes says: no filter, no line ending
// and no $Id$ is converted, files of LFS stay pointers, and files marked export-ignore are
// included. Submodules stay empty.
//
// The folder is a repository with one commit of these files (git.Plant), because agents,
// and the instructions that they get, use git. Nothing of the recorded repository is in it:
// no history, where the answer may be, no remotes, names, hooks and settings.
//
// A case without a Workspace gets only its Files, in a folder that is no repository: it
// asks about files, and nothing says that these were in one.
//
// A commit's tree is packed once and unpacked for each attempt, so that one attempt
// cannot change another's. Set the fields before the first Open; it is safe for
// concurrent use. Close it when the run is over.
type Recorded struct {
	Parent string // "" is the system's folder for temporary files
	// Base is the folder of a relative Workspace.Repo; "" is the current folder.
	Base     string
	MaxBytes int64 // of one tree, unpacked; 0 is 512 MiB
	// Above are files that agents load from the folders over that in which they work, "**"
	// being any path below a folder. Where only a folder of a repository is restored, it has
	// them at its top.
	Above []string
	// Setup prepares the dependencies of trees; nil: they have none. What cannot be
	// prepared cannot be restored.
	Setup Preparer

	mu    sync.Mutex
	packs map[key]*pack
	laid  map[string]*eval.Prepared // by open folder
}

// A key is what a pack depends on.
type key struct {
	repo, commit string
	files        string // the case's Files: they are in the commit
}

var _ eval.Workspaces = (*Recorded)(nil)

// An UnreplayableError is a case whose recorded tree cannot be restored: the repository
// is gone, lacks the commit, or is too large. It is the case's own fault: such a case
// is left out, and listed, when jobs are prepared (see Check). A job that is begun
// nevertheless is missing with this reason, and does not stop the run.
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

// A pack is one commit's tree as a tar file, and the repository that it becomes.
type pack struct {
	mu       sync.Mutex
	file     string // "" until it is made
	prepared *Prepared
	err      error // why it cannot be
}

// Check tests whether the case's tree can be restored, before anything is spent: the
// error is an *UnreplayableError if it cannot, or ctx's. It packs the tree, for Open to
// unpack.
func (w *Recorded) Check(ctx context.Context, c *eval.Case) error {
	if c.Workspace == nil {
		return nil
	}
	_, _, err := w.pack(ctx, c)
	return err
}

// Open restores the case's tree in a new folder that only this user can read. The error
// is an *UnreplayableError, ctx's, or one of this machine's file system.
func (w *Recorded) Open(ctx context.Context, c *eval.Case) (f eval.Folder, err error) {
	file := ""
	var prepared *Prepared
	if c.Workspace != nil {
		if file, prepared, err = w.pack(ctx, c); err != nil {
			return f, err
		}
	}
	f, err = open(ctx, w.Parent, file, c.Files, prepared)
	if prepared != nil && err == nil {
		f.Prepared = &eval.Prepared{Root: prepared.Root, Env: prepared.Env}
		w.lend(&f)
	}
	return f, err
}

// OpenPacked opens the folder that Recorded.Open does, in the folder parent, of what Packed has
// returned. file must stay until the folder is closed.
func OpenPacked(ctx context.Context, parent, file string, files map[string]string) (eval.Folder, error) {
	return open(ctx, parent, file, files, nil)
}

func open(ctx context.Context, parent, file string, files map[string]string, prepared *Prepared) (f eval.Folder, err error) {
	f.Dir, f.Close, err = openFolder(parent, func(dir string) error {
		if file == "" {
			return Write(dir, files)
		}
		err := fill(ctx, dir, file, files)
		if err == nil && prepared != nil {
			err = prepared.lay(dir)
		}
		return err
	})
	f.Before = func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		if file == "" {
			return nil, fs.ErrNotExist
		}
		return packed(file, name)
	}
	return f, err
}

// ErrPrepared means that a case's tree works on this machine alone: its dependencies were
// prepared here.
var ErrPrepared = errors.New("its dependencies are prepared on this machine")

// Packed is the tar file of the case's tree, for OpenPacked, "" if it has none. The file is
// w's. The error is as for Open, or ErrPrepared.
func (w *Recorded) Packed(ctx context.Context, c *eval.Case) (file string, err error) {
	if c.Workspace == nil {
		return "", nil
	}
	file, prepared, err := w.pack(ctx, c)
	if err == nil && prepared != nil {
		return "", ErrPrepared
	}
	return file, err
}

// lend notes that a prepared folder is open.
func (w *Recorded) lend(f *eval.Folder) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.laid == nil {
		w.laid = map[string]*eval.Prepared{}
	}
	dir, done := f.Dir, f.Close
	w.laid[dir] = f.Prepared
	f.Close = func() {
		w.mu.Lock()
		delete(w.laid, dir)
		w.mu.Unlock()
		done()
	}
}

// Close removes what was packed.
func (w *Recorded) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	if w.Setup != nil {
		errs = append(errs, w.Setup.Close())
	}
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

// pack returns the tar file of the case's tree, and what was prepared for it.
func (w *Recorded) pack(ctx context.Context, c *eval.Case) (string, *Prepared, error) {
	at := c.Workspace
	files, err := json.Marshal(c.Files)
	if err != nil {
		return "", nil, err
	}
	k := key{at.Repo, at.Commit, string(files)}
	w.mu.Lock()
	if w.packs == nil {
		w.packs = make(map[key]*pack)
	}
	p := w.packs[k]
	if p == nil {
		p = new(pack)
		w.packs[k] = p
	}
	w.mu.Unlock()

	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == "" && p.err == nil {
		file, prepared, err := w.archive(ctx, at, c.Files)
		if ctx.Err() != nil {
			return "", nil, ctx.Err() // not a fault of the tree
		}
		p.file, p.prepared, p.err = file, prepared, err
	}
	if p.err != nil {
		return "", nil, &UnreplayableError{Case: c.ID, Repo: at.Repo, Commit: at.Commit, Err: p.err}
	}
	return p.file, p.prepared, nil
}

// archive packs one tree. If Repo is a folder within a repository, it packs that
// folder's part of the tree, as the session saw it.
func (w *Recorded) archive(ctx context.Context, at *eval.Workspace, files map[string]string) (file string, prepared *Prepared, err error) {
	commit := strings.ToLower(at.Commit)
	if len(commit) < 7 || strings.Trim(commit, "0123456789abcdef") != "" {
		return "", nil, fmt.Errorf("%q is no commit: what a branch names changes", at.Commit)
	}
	dir := at.Repo
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(w.Base, dir)
	}
	if info, err := os.Stat(dir); err != nil {
		return "", nil, fmt.Errorf("find repository: %w", err)
	} else if !info.IsDir() {
		return "", nil, fmt.Errorf("find repository: %s is no folder", dir)
	}
	repo, err := git.Open(ctx, dir)
	if err != nil {
		return "", nil, fmt.Errorf("the repository does not know the commit (%w)", err)
	}
	defer repo.Close() // what it leaves behind is in the scratch ledger
	objects := repo.Objects(ctx)
	defer objects.Close()
	full, err := objects.Commit(commit)
	if err == nil && !strings.HasPrefix(full, commit) {
		err = errors.New("a branch or a tag has that name")
	}
	if err != nil {
		return "", nil, fmt.Errorf("the repository does not know the commit (%w)", err)
	}
	out, err := scratch.File(w.Parent, "evolve-case-*.tar")
	if err != nil {
		return "", nil, err
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
	tree := tar.NewWriter(out)
	if err := packTree(tree, objects, full+"^{tree}", repo.Prefix, w.Above, limit); errors.Is(err, git.ErrMissing) {
		return "", nil, fmt.Errorf("the commit is not whole here, as in a partial clone: %w", err)
	} else if err != nil {
		return "", nil, fmt.Errorf("pack tree: %w", err)
	}
	if err := tree.Flush(); err != nil {
		return "", nil, err
	}
	if w.Setup != nil {
		prepared, err = w.Setup.Prepare(ctx, at.Repo, func(dir string) error { return fill(ctx, dir, out.Name(), nil) })
		if err != nil {
			return "", nil, err
		}
		if prepared != nil && prepared.taken(files) != "" {
			return "", nil, fmt.Errorf("the case brings %s, where the preparation of its dependencies makes files", prepared.taken(files))
		}
	}
	if err := w.plant(ctx, tree, out.Name(), files, prepared.exclude()); err != nil {
		return "", nil, fmt.Errorf("make repository: %w", err)
	}
	return out.Name(), prepared, tree.Close()
}

// plant adds to a packed tree the repository that it becomes with the case's files.
func (w *Recorded) plant(ctx context.Context, tree *tar.Writer, file string, files map[string]string, exclude []string) error {
	dir, done, err := openFolder(w.Parent, func(dir string) error {
		if err := fill(ctx, dir, file, files); err != nil {
			return err
		}
		return git.Plant(ctx, dir, exclude...)
	})
	if err != nil {
		return err
	}
	defer done()
	return packFolder(tree, dir, ".git")
}

// fill unpacks a tree and writes the case's files on top. Every file has the same time
// whenever that is done: the repository's index counts on it.
func fill(ctx context.Context, dir, file string, files map[string]string) error {
	if err := unpack(ctx, dir, file); err != nil {
		return fmt.Errorf("unpack tree: %w", err)
	}
	if err := Write(dir, files); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for name := range files {
		if err := root.Chtimes(name, committed, committed); err != nil {
			return err
		}
	}
	return nil
}
