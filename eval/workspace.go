package eval

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
)

// FileWorkspaces opens folders that hold a case's Files and nothing else. It
// cannot bring back a recorded tree: a case with a Workspace stops the run.
type FileWorkspaces struct {
	Parent string // "" is the system's folder for temporary files
}

var _ Workspaces = FileWorkspaces{}

// Open writes the case's files into a new folder that only this user can read.
func (w FileWorkspaces) Open(_ context.Context, c *Case) (dir string, done func(), err error) {
	if c.Workspace != nil {
		return "", nil, &InfraError{Kind: BadRequest, Err: errors.New("a recorded tree cannot be brought back here")}
	}
	if dir, err = os.MkdirTemp(w.Parent, "evolve-case-"); err != nil {
		return "", nil, err
	}
	// What an agent made read-only may stay behind; that is no reason to lose
	// the rollout.
	done = func() { _ = os.RemoveAll(dir) }
	if err := WriteFiles(dir, c.Files); err != nil {
		done()
		return "", nil, err
	}
	return dir, done, nil
}

// WriteFiles writes a case's Files below dir, never outside of it.
func WriteFiles(dir string, files map[string]string) error {
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
