package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// A File is a file in a repository's working tree. It need not exist, and git need not
// know it.
type File struct {
	// Root names the repository: the top folder of its main working tree. Linked working
	// trees have that of the main one; a clone is another repository. A linked working tree
	// of a bare repository, of a submodule or of a separate git directory has that git
	// directory instead, because only the configuration would tell its main working tree.
	Root string
	Top  string // of the working tree that the file is in, without links
	Path string // from the top, with slashes

	gitDir, common string
}

// FindFile finds the repository of the file at path. If path is a symbolic link, the file
// is what it leads to. The error is ErrNone if the file is in no working tree.
func FindFile(ctx context.Context, path string) (*File, error) {
	return within(ctx, defaults.answer, func(context.Context) (*File, error) { return findFile(path) }, func(*File) {})
}

func findFile(path string) (*File, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if real, err = filepath.EvalSymlinks(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
			return nil, ErrNone
		}
		real = filepath.Join(real, filepath.Base(path))
	}
	if err != nil {
		return nil, fmt.Errorf("find repository: %w", err)
	}
	dir, gitDir, prefix, err := find(filepath.Dir(real))
	if err != nil {
		return nil, err
	}
	if in, err := filepath.Rel(gitDir, dir); err != nil || filepath.IsLocal(in) { // a bare one, or the inside of .git
		return nil, ErrNone
	}
	common, err := commonDir(gitDir)
	if err == nil {
		common, err = filepath.EvalSymlinks(common)
	}
	if err != nil {
		return nil, err
	}
	f := &File{Top: dir, Path: filepath.Base(real), gitDir: gitDir, common: common}
	if prefix != "" {
		f.Top = filepath.Join(dir, strings.Repeat("../", strings.Count(prefix, "/")+1))
		f.Path = prefix + "/" + f.Path
	}
	switch own, err := filepath.EvalSymlinks(gitDir); {
	case err != nil:
		return nil, err
	case own == common:
		f.Root = f.Top
	case filepath.Base(common) == ".git":
		f.Root = filepath.Dir(common)
	default:
		f.Root = common
	}
	return f, nil
}

// ErrNoBranch means that a repository has no branch that could be the default one.
var ErrNoBranch = errors.New("the repository has no default branch")

// maxFile is the largest file that is read from a repository, in bytes.
const maxFile = 4 << 20

// A State is what git has of a file.
type State struct {
	*File
	Indexed  bool // it is in the index of its working tree
	Unmerged bool // as one of several, in the middle of a merge
	// Default is the default branch, such as "origin/main", and Commit is its commit. Both
	// are "" if there is none.
	Default, Commit string
	// Mode and Text are the file there. Mode is "" if the branch does not have it.
	Mode string
	Text []byte
	// Form is the attribute (filter, ident or working-tree-encoding) by which git stores the
	// file in another form than the one in the working tree, "" for none. Line ends do not
	// count.
	Form string
}

// Tracked reports whether git has the file: others get it, or are about to.
func (s *State) Tracked() bool { return s.Indexed || s.Mode != "" }

// State reads what git has of f. The default branch is where refs/remotes/origin/HEAD
// leads, else the first that exists of origin/NAME and NAME, where NAME is the
// repository's or the person's init.defaultBranch, then main, then master.
func (f *File) State(ctx context.Context) (*State, error) {
	r, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	s := &State{File: f}
	if err := s.readIndex(ctx, r); err != nil {
		return nil, err
	}
	if s.Default, s.Commit, err = f.defaultBranch(ctx, r); errors.Is(err, ErrNoBranch) {
		return s, nil
	} else if err != nil {
		return nil, err
	}
	if err := s.readBase(ctx, r); err != nil || !s.Tracked() {
		return s, err
	}
	return s, s.readForm(ctx, r)
}

// open opens the repository with a copy of the index of f's working tree.
func (f *File) open(ctx context.Context) (*Repository, error) {
	r, err := Open(ctx, f.Top)
	if err != nil {
		return nil, err
	}
	if err := r.copyIndex(f.gitDir); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.env = append(r.env, "GIT_LITERAL_PATHSPECS=1", "GIT_WORK_TREE="+f.Top)
	return r, nil
}

// copyIndex gives git a copy of the index in gitDir, because git rewrites an index that it
// has read. Parts that the index shares with others are linked. The copy keeps the time of
// the index: git compares the content of files that are not older than it, so a file that
// was edited in the second of its commit would count as unchanged beside a newer copy.
func (r *Repository) copyIndex(gitDir string) error {
	own, theirs := filepath.Join(r.own, "index"), filepath.Join(gitDir, "index")
	info, err := os.Stat(theirs)
	var index []byte
	if err == nil { // the older time, if the index is written meanwhile: more is compared
		index, err = bounded.ReadFile(theirs, maxIndex)
	}
	if err == nil {
		err = errors.Join(os.WriteFile(own, index, 0o600), os.Chtimes(own, time.Time{}, info.ModTime()))
	} else if errors.Is(err, fs.ErrNotExist) { // nothing was ever added, or checked out
		err = nil
	}
	shared, _ := filepath.Glob(filepath.Join(globbed(gitDir), "sharedindex.*"))
	for _, name := range shared {
		err = errors.Join(err, os.Symlink(name, filepath.Join(r.own, filepath.Base(name))))
	}
	r.env = append(r.env, "GIT_INDEX_FILE="+own)
	return err
}

// globbed is a folder as a pattern that matches it alone.
func globbed(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

func (s *State) readIndex(ctx context.Context, r *Repository) error {
	out, err := r.Output(ctx, "ls-files", "--stage", "-z", "--", s.Path)
	for entry := range strings.SplitSeq(string(out), "\x00") { // mode, blank, id, blank, stage, tab, path
		head, path, _ := strings.Cut(entry, "\t")
		if path == s.Path {
			s.Indexed = true
			s.Unmerged = s.Unmerged || !strings.HasSuffix(head, " 0")
		}
	}
	return err
}

// defaultBranch returns the default branch as people write it, and its commit.
func (f *File) defaultBranch(ctx context.Context, r *Repository) (name, commit string, err error) {
	const remote, local = "refs/remotes/origin/", "refs/heads/"
	known, err := r.refs(ctx, remote+"HEAD")
	if err != nil {
		return "", "", err
	}
	if head, ok := known[remote+"HEAD"]; ok {
		return strings.TrimPrefix(head.to, "refs/remotes/"), head.id, nil
	}
	own, err := f.settings(ctx, `^init\.defaultbranch$`)
	if err != nil {
		return "", "", err
	}
	var order []string
	for _, n := range []string{own["init.defaultbranch"], "main", "master"} {
		if n != "" {
			order = append(order, remote+n, local+n)
		}
	}
	if known, err = r.refs(ctx, order...); err != nil {
		return "", "", err
	}
	for _, ref := range order {
		if at, ok := known[ref]; ok {
			return strings.TrimPrefix(strings.TrimPrefix(ref, "refs/remotes/"), local), at.id, nil
		}
	}
	return "", "", ErrNoBranch
}

// A ref is the object that it names, and the other ref that it leads to, if any.
type ref struct{ id, to string }

// refs reads those of the named refs that exist.
func (r *Repository) refs(ctx context.Context, names ...string) (map[string]ref, error) {
	out, err := r.Output(ctx, append([]string{"for-each-ref", "--format=%(refname) %(objectname) %(symref)"}, names...)...)
	known := map[string]ref{}
	for line := range strings.Lines(string(out)) {
		if fields := append(strings.Fields(line), ""); len(fields) > 2 && slices.Contains(names, fields[0]) {
			known[fields[0]] = ref{fields[1], fields[2]}
		}
	}
	return known, err
}

// readBase reads the file at the default branch.
func (s *State) readBase(ctx context.Context, r *Repository) (err error) {
	s.Mode, s.Text, err = s.in(ctx, r, s.Commit, s.Default)
	return err
}

// in reads the file in a commit, whose name in messages is called. mode is "" if the commit
// does not have it.
func (f *File) in(ctx context.Context, r *Repository, commit, called string) (mode string, text []byte, err error) {
	out, err := r.Output(ctx, "ls-tree", "-z", commit, "--", f.Path)
	if err != nil || len(out) == 0 {
		return "", nil, err
	}
	head, _, _ := strings.Cut(string(out), "\t") // mode, type, id
	fields := strings.Fields(head)
	if len(fields) != 3 {
		return "", nil, ErrTree
	}
	if mode = fields[0]; mode != "100644" && mode != "100755" {
		return mode, nil, fmt.Errorf("%s is no file on %s", f.Path, called)
	}
	o := r.Objects(ctx)
	defer o.Close()
	blob, err := o.Blob(fields[2])
	if err == nil {
		text, err = bounded.ReadAll(blob, maxFile)
	}
	if err != nil {
		err = fmt.Errorf("read %s on %s: %w", f.Path, called, err)
	}
	return mode, text, err
}

// readForm asks for the attributes by which git would store the file in another form.
func (s *State) readForm(ctx context.Context, r *Repository) error {
	theirs, err := bounded.ReadFile(filepath.Join(s.common, "info", "attributes"), 1<<20)
	if err == nil {
		err = errors.Join(os.Mkdir(filepath.Join(r.own, "info"), 0o700), os.WriteFile(filepath.Join(r.own, "info", "attributes"), theirs, 0o600))
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return err
	}
	out, err := r.answer(ctx, func(cmd *exec.Cmd) { cmd.Dir = s.Top },
		"check-attr", "-z", "filter", "ident", "working-tree-encoding", "--", s.Path)
	fields := strings.Split(string(out), "\x00") // path, attribute and value of each
	for i := 0; i+2 < len(fields); i += 3 {
		if v := fields[i+2]; v != "unspecified" && v != "unset" {
			s.Form = fields[i+1]
		}
	}
	return err
}

// settings are the person's settings whose names match pattern, in lower case: those of
// the system, of the person and of this repository, the last one that is set. It is the
// one place at which git reads a repository's configuration: `git config` itself starts
// no program that is named there, and what it prints is data here.
func (f *File) settings(ctx context.Context, pattern string) (map[string]string, error) {
	program, err := lookPath("git")
	if err != nil {
		return nil, err
	}
	r := &Repository{own: f.gitDir, program: program, limits: defaults}
	out, err := r.answer(ctx, func(cmd *exec.Cmd) {
		cmd.Dir = f.gitDir
		cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool {
			name, _, _ := strings.Cut(v, "=")
			return slices.Contains([]string{"HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"}, name)
		})
		for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"} {
			if v, ok := os.LookupEnv(name); ok {
				cmd.Env = append(cmd.Env, name+"="+v)
			}
		}
	}, "config", "--includes", "--null", "--get-regexp", pattern)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 { // none is set
		err = nil
	}
	found := map[string]string{}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if key, value, ok := strings.Cut(entry, "\n"); ok {
			found[key] = value
		}
	}
	return found, err
}

// maxAuthors is how many commits are searched for authors.
const maxAuthors = 20_000

// Authors are the addresses of those who made the commits of the default branch, normalised
// by Address. all reports whether none is missing: there is a default branch, and the
// repository has its whole history, in no more than maxAuthors commits.
func (s *State) Authors(ctx context.Context) (who []string, all bool, err error) {
	if s.Commit == "" {
		return nil, false, nil
	}
	r, err := Open(ctx, s.Top)
	if err != nil {
		return nil, false, err
	}
	defer r.Close()
	out, err := r.Output(ctx, "log", "--format=%ae", fmt.Sprint("-", maxAuthors+1), s.Commit)
	if err != nil {
		return nil, false, err
	}
	for line := range strings.Lines(string(out)) {
		who = append(who, Address(line))
	}
	_, err = os.Lstat(filepath.Join(s.common, "shallow")) // git removes it from a clone that has everything
	if all = errors.Is(err, fs.ErrNotExist) && len(who) <= maxAuthors; all {
		err = nil
	}
	slices.Sort(who)
	return slices.Compact(who), all, err
}
