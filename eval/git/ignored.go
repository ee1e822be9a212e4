package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// A WorkTree is the folder of files that a repository is in.
type WorkTree struct {
	Top    string // without links
	Prefix string // the folder that was looked for, from the top, with slashes; "" is the top

	common string
	limits limits
}

// FindWorkTree finds the working tree that dir is in. The error is ErrNone if there is
// none, and fs.ErrNotExist if dir does not exist.
func FindWorkTree(ctx context.Context, dir string) (*WorkTree, error) {
	return within(ctx, defaults.answer, func(context.Context) (*WorkTree, error) {
		start, gitDir, prefix, err := find(dir)
		if err != nil {
			return nil, err
		}
		common, err := commonDir(gitDir)
		if err != nil {
			return nil, err
		}
		top := start
		if prefix != "" {
			top = filepath.Join(start, strings.Repeat("../", strings.Count(prefix, "/")+1))
		}
		return &WorkTree{Top: top, Prefix: prefix, common: common, limits: defaults}, nil
	}, func(*WorkTree) {})
}

// maxExclude is the longest list of ignored files, in bytes.
const maxExclude = 1 << 20

// Ignored tells which files git ignores: by the .gitignore files of the tree, by the
// repository's info/exclude, and by the user's own list, which ~/.gitconfig may name
// (core.excludesFile) and which is else in ~/.config/git/ignore. Files are paths from the top, with slashes; they need not exist.
// One that was committed although a pattern matches it counts as ignored, and so does one
// behind a symbolic link: its content is somewhere else.
func (t *WorkTree) Ignored(ctx context.Context, files []string) (map[string]bool, error) {
	ignored := map[string]bool{}
	var ask strings.Builder
	folders := map[string]bool{".": false}
	for _, file := range files {
		if ignored[file] = t.linked(folders, path.Dir(path.Clean(file))); !ignored[file] {
			ask.WriteString("./" + file + "\x00")
		}
	}
	if ask.Len() == 0 {
		return ignored, nil
	}
	err := checkIgnore(ctx, t.limits, t.Top, t.lists, ask.String(), ignored)
	return ignored, err
}

// IgnoredBy tells which files git would ignore in a repository whose .gitignore files are
// those below dir, and whose info/exclude is exclude. No other list counts, and only those
// files need to be in dir.
func IgnoredBy(ctx context.Context, dir string, exclude []byte, files []string) (map[string]bool, error) {
	ignored := map[string]bool{}
	var ask strings.Builder
	for _, file := range files {
		ask.WriteString("./" + file + "\x00")
	}
	err := checkIgnore(ctx, defaults, dir, func(context.Context, *Repository) (map[string][]byte, error) {
		return map[string][]byte{"info/exclude": exclude}, nil
	}, ask.String(), ignored)
	return ignored, err
}

// checkIgnore adds to ignored what git ignores of the files that ask names, in a repository of
// nothing but lists.
func checkIgnore(ctx context.Context, l limits, top string, lists func(context.Context, *Repository) (map[string][]byte, error), ask string, ignored map[string]bool) error {
	r, err := empty(l)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := prepare(ctx, r, lists); err != nil {
		return fmt.Errorf("make a folder for git: %w", err)
	}
	out, err := r.answer(ctx, func(cmd *exec.Cmd) {
		cmd.Dir, cmd.Stdin = top, strings.NewReader(ask)
	}, "--work-tree="+top, "check-ignore", "--no-index", "--stdin", "-z")
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 { // it ignores none
		err = nil
	}
	if err != nil {
		return fmt.Errorf("ask which files git ignores: %w", err)
	}
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name = strings.TrimPrefix(name, "./"); name != "" {
			ignored[name] = true
		}
	}
	return nil
}

// prepare makes a repository of nothing but lists of ignored files.
func prepare(ctx context.Context, r *Repository, lists func(context.Context, *Repository) (map[string][]byte, error)) error {
	own := r.own
	var errs []error
	for _, dir := range []string{"objects", "refs", "info", "git"} {
		errs = append(errs, os.Mkdir(filepath.Join(own, dir), 0o700))
	}
	errs = append(errs, os.WriteFile(filepath.Join(own, "HEAD"), []byte("ref: refs/heads/none\n"), 0o600),
		os.WriteFile(filepath.Join(own, "config"), []byte("[core]\n\trepositoryFormatVersion = 0\n"), 0o600))
	texts, err := lists(ctx, r)
	for name, text := range texts {
		errs = append(errs, os.WriteFile(filepath.Join(own, filepath.FromSlash(name)), text, 0o600))
	}
	return errors.Join(append(errs, err)...)
}

// lists are the repository's list of ignored files and the user's. One that cannot be read is
// an error: it might name any file.
func (t *WorkTree) lists(ctx context.Context, r *Repository) (map[string][]byte, error) {
	lists := map[string]string{"info/exclude": filepath.Join(t.common, "info", "exclude")}
	home, err := os.UserHomeDir()
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		lists["git/ignore"] = filepath.Join(dir, "git", "ignore")
	} else if err == nil {
		lists["git/ignore"] = filepath.Join(home, ".config", "git", "ignore")
	}
	if config := filepath.Join(home, ".gitconfig"); err == nil {
		if _, err := os.Stat(config); err == nil {
			// An error is a file without the key.
			out, _ := r.Output(ctx, "config", "--file", config, "--no-includes", "--null", "--get", "core.excludesFile")
			if file := strings.TrimSuffix(string(out), "\x00"); strings.HasPrefix(file, "~/") {
				lists["git/ignore"] = filepath.Join(home, file[2:])
			} else if filepath.IsAbs(file) {
				lists["git/ignore"] = file
			}
		}
	}
	var errs []error
	texts := map[string][]byte{}
	for name, file := range lists {
		text, err := bounded.ReadFile(file, maxExclude)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		errs, texts[name] = append(errs, err), text
	}
	return texts, errors.Join(errs...)
}

// linked reports whether a folder of the tree is a symbolic link, or behind one.
func (t *WorkTree) linked(known map[string]bool, dir string) bool {
	if is, ok := known[dir]; ok || dir == "/" {
		return is
	}
	is := t.linked(known, path.Dir(dir))
	if !is {
		info, err := os.Lstat(filepath.Join(t.Top, filepath.FromSlash(dir)))
		is = err == nil && info.Mode()&fs.ModeSymlink != 0
	}
	known[dir] = is
	return is
}
