package workspace

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/skill-evolve/evolve/eval"
)

// A Preparer prepares the dependencies of recorded trees.
type Preparer interface {
	// Identity identifies how trees of a repository are prepared; "" if they are not.
	Identity(repo string) string
	// Prepare prepares a tree, which fill writes into a folder; nil if trees of the
	// repository are not prepared.
	Prepare(ctx context.Context, repo string, fill func(dir string) error) (*Prepared, error)
	// Close ends the use of what was prepared.
	Close() error
}

// A Prepared is what the preparation of a tree has made. No workspace may change it.
type Prepared struct {
	Root string   // the folder that must be readable
	Tree string   // a folder in Root that has what was made
	Made []string // files and folders in Tree that are new, slash-separated
	Env  []string // KEY=VALUE: where programs find the rest
}

// lay puts what was made into a workspace: a link for each. They lead out of it, to the one
// copy that all workspaces share.
func (p *Prepared) lay(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range p.Made {
		if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
			return err
		}
		if err := root.Symlink(filepath.Join(p.Tree, filepath.FromSlash(name)), name); err != nil {
			return fmt.Errorf("lay %s: %w", name, err)
		}
	}
	return nil
}

// taken is a file of a case's that is where something was made; "" for none.
func (p *Prepared) taken(files map[string]string) string {
	for name := range files {
		for _, made := range p.Made {
			if name == made || strings.HasPrefix(name, made+"/") || strings.HasPrefix(made, name+"/") {
				return name
			}
		}
	}
	return ""
}

// exclude are the lines by which git does not see what was made.
func (p *Prepared) exclude() (lines []string) {
	if p != nil {
		for _, name := range p.Made {
			lines = append(lines, "/"+name)
		}
	}
	return lines
}

var _ eval.Preparer = (*Recorded)(nil)

// Prepared implements eval.Preparer.
func (w *Recorded) Prepared(c *eval.Case) string {
	if c.Workspace == nil {
		return ""
	}
	id := w.loadsAbove(c)
	if w.Setup != nil {
		id = strings.TrimSpace(w.Setup.Identity(c.Workspace.Repo) + " " + id)
	}
	return id
}

// PreparedIn is what was prepared for an open folder; nil for nothing.
func (w *Recorded) PreparedIn(dir string) *eval.Prepared {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.laid[dir]
}
