// Package workspace makes the folders that agents work in: a case's files, or the recorded
// tree of a commit.
package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/skill-evolve/evolve/eval/git"
	"github.com/skill-evolve/evolve/eval/scratch"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// openFolder makes a folder for one attempt and fills it.
func openFolder(parent string, fill func(dir string) error) (dir string, done func(), err error) {
	if dir, err = scratch.Dir(parent, "evolve-case-"); err != nil {
		return "", nil, err
	}
	// What cannot be removed is no reason to lose the rollout.
	done = func() { _ = Remove(dir) }
	if err := fill(dir); err != nil {
		done()
		return "", nil, err
	}
	return dir, done, nil
}

// Write writes a case's Files below dir, never outside of it.
func Write(dir string, files map[string]string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for name, text := range files {
		if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
			return fmt.Errorf("make folder of %s: %w", name, err)
		}
		if err := root.WriteFile(name, []byte(text), 0o600); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

// Recommit makes the repository that dir is anew, with one commit of the files as they are
// now but for those that it excludes. A folder that git.Plant made no repository stays as it
// is.
func Recommit(dir string) error {
	exclude, err := bounded.ReadFile(filepath.Join(dir, ".git", "info", "exclude"), maxExclude)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return git.Plant(context.Background(), dir, strings.FieldsFunc(string(exclude), func(r rune) bool { return r == '\n' })...) // which bounds its time itself
}

const maxExclude = 1 << 20 // bytes

// Remove removes dir and everything below it, even if an agent has removed the right to
// write. It follows no symlink. A dir that does not exist is no error.
func Remove(dir string) error {
	if dir == "" || os.RemoveAll(dir) == nil {
		return nil
	}
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return os.RemoveAll(dir)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir) // keeps the walk from being led elsewhere
	if err != nil {
		return err
	}
	unlock(root, ".")
	if err := root.Close(); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// unlock gives this user all rights to the folders below dir. If that fails, removing
// them will report it.
func unlock(root *os.Root, dir string) {
	_ = root.Chmod(dir, 0o700)
	entries, _ := fs.ReadDir(root.FS(), dir)
	for _, e := range entries {
		if e.IsDir() {
			unlock(root, path.Join(dir, e.Name()))
		}
	}
}
