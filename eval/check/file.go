package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// maxChecked is the largest file that is searched, in bytes.
const maxChecked = 64 << 20

// A file type checks Path below the workspace.
type file struct {
	spec  Spec
	fails string // Explain, with %q for Path and Value
}

var (
	fileExists   = file{Spec{Name: FileExists, Fields: []string{"path"}, Files: true}, "The file %q was not made."}
	fileContains = file{Spec{Name: FileContains, Fields: []string{"path", "value"}, Files: true, Text: "text"}, "The file %q does not contain %q."}
)

func (t file) Spec() Spec { return t.spec }

func (t file) Validate(k *Check) error { return ValidPath(k.Path) }

func (t file) Explain(k *Check) string {
	if t.spec.Name == FileExists {
		return fmt.Sprintf(t.fails, k.Path)
	}
	return fmt.Sprintf(t.fails, k.Path, k.Value)
}

// Grade does not follow symbolic links that lead out of the workspace: an agent may
// have made them.
func (t file) Grade(_ context.Context, k *Check, s *Subject) (Result, error) {
	text, err := t.read(k.Path, s.Workspace)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return k.pass(false), nil
	case err != nil:
		return Result{Feedback: k.Blame(), Evidence: err.Error()}, nil
	}
	return k.pass(t.spec.Name == FileExists || bytes.Contains(text, []byte(k.Value))), nil
}

func (t file) read(path, workspace string) ([]byte, error) {
	if workspace == "" {
		return nil, errors.New("there is no workspace to look into")
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, errors.New(err.Error()) // that the workspace is gone is evidence
	}
	defer root.Close()
	info, err := root.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New(path + " is not a regular file")
	case t.spec.Name == FileExists:
		return nil, nil
	}
	return bounded.ReadFileIn(root, path, maxChecked)
}

// ValidPath accepts slash-separated paths that stay inside a workspace on every system.
// It also refuses paths into a repository: git runs programs that its configuration
// names.
func ValidPath(path string) error {
	if !fs.ValidPath(path) || path == "." || strings.ContainsAny(path, "\\:\x00") {
		return fmt.Errorf("path %q does not stay inside the workspace", path)
	}
	for part := range strings.SplitSeq(path, "/") {
		if strings.EqualFold(part, ".git") {
			return fmt.Errorf("path %q: .git is not for cases to write", path)
		}
	}
	return nil
}
