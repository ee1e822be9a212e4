package deps

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/skill-evolve/evolve/eval/workspace"
)

// Repositories says by which command the trees of each repository are prepared.
type Repositories struct {
	Cache *Cache
	Line  string            // of all that Lines does not name; "" for none
	Lines map[string]string // by folder; it is also that of the folders below
	Hosts []string          // see Command
	Bare  bool
	Look  bool // nothing is prepared: no attempt follows
}

var _ workspace.Preparer = (*Repositories)(nil)

// command is that of a repository.
func (r *Repositories) command(repo string) Command {
	cmd := Command{Line: r.Line, Hosts: r.Hosts, Bare: r.Bare}
	for dir := filepath.Clean(repo); ; dir = filepath.Dir(dir) {
		if line, ok := r.Lines[dir]; ok {
			cmd.Line = line
			break
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	cmd.Line = strings.TrimSpace(cmd.Line)
	return cmd
}

// Identity implements workspace.Preparer.
func (r *Repositories) Identity(repo string) string {
	if cmd := r.command(repo); cmd.Line != "" {
		return fmt.Sprintf("%q %q %v", cmd.Line, cmd.Hosts, cmd.Bare)
	}
	return ""
}

// Prepare implements workspace.Preparer.
func (r *Repositories) Prepare(ctx context.Context, repo string, fill func(dir string) error) (*workspace.Prepared, error) {
	cmd := r.command(repo)
	if cmd.Line == "" || r.Look {
		return nil, nil
	}
	return r.Cache.Prepare(ctx, cmd, repo, fill)
}

// Close implements workspace.Preparer.
func (r *Repositories) Close() error {
	if r.Cache == nil {
		return nil
	}
	return r.Cache.Close()
}
