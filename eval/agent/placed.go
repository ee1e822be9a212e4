package agent

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/git"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"github.com/skill-evolve/evolve/mutate/standing"
	"github.com/skill-evolve/evolve/mutate/subject"
)

// A placed is a file of instructions of a repository, which replays write into recorded trees.
type placed struct {
	root, path string
	base       string // of relative repositories
	committed  bool   // else it is only in the owner's working tree, and no recorded tree has it
	blobs      map[[3]string]blob
}

// place is the file that is tried; nil if it is none, or a person's.
func (b *Backends) place(ctx context.Context, key string) *placed {
	root, name := subject.Parse(key).Place()
	if b.Spaces == nil || name == "" || root == "~" {
		return nil
	}
	p := &placed{root: root, path: name, base: b.Spaces.Base, blobs: map[[3]string]blob{}}
	if head, err := git.Head(root); err == nil {
		p.committed = p.mode(ctx, root, head, name) != ""
	}
	return p
}

// overwrites reports whether the file would be written over another one: over that of a
// repository below the file's, or of a folder between it and the one in which the session
// worked.
func (p *placed) overwrites(ctx context.Context, c *eval.Case) bool {
	dir, top := p.folder(c)
	if top == "" {
		return false
	}
	if strings.HasPrefix(top, strings.TrimSuffix(p.root, "/")+"/") && skill.MainTree(top) != p.root {
		return true
	}
	within, err := filepath.Rel(top, dir)
	if err != nil || within == "." {
		return false
	}
	within = filepath.ToSlash(within)
	rest, left := p.path, within
	for left != "" { // as replay.Path
		folder, more, _ := strings.Cut(left, "/")
		below, ok := strings.CutPrefix(rest, folder+"/")
		if !ok {
			above := path.Clean(strings.TrimSuffix(within, left))
			for dir := within; dir != above; dir = path.Dir(dir) {
				if p.mode(ctx, top, c.Workspace.Commit, path.Join(dir, rest)) != "" {
					return true
				}
			}
			return false
		}
		rest, left = below, more
	}
	return false
}

// replaced reports whether the agent loads another file of the recorded tree in the place of
// this one. A link and a file that imports others may lead to it.
func (p *placed) replaced(ctx context.Context, agent string, c *eval.Case) bool {
	dir, top := p.folder(c)
	within, err := filepath.Rel(top, dir)
	if top == "" || err != nil {
		return false
	}
	within = filepath.ToSlash(within)
	of, rivals := standing.Rivals(agent, p.path)
	of = path.Clean(of)
	for _, r := range rivals {
		until := of
		if r.Anywhere {
			until = "."
		}
		for at := within; ; at = path.Dir(at) {
			if at != until && at == "." {
				at, until = of, of // the session is not below the file
			}
			b := p.read(ctx, top, c.Workspace.Commit, path.Join(at, r.File))
			if strings.HasPrefix(b.mode, "100") && !standing.Imports(agent, b.text) {
				return true
			}
			if at == until {
				break
			}
		}
	}
	return false
}

// lacks reports whether a recorded tree does not have the file, or has a link in its place.
func (p *placed) lacks(ctx context.Context, c *eval.Case) bool {
	_, top := p.folder(c)
	return p.committed && top != "" && !strings.HasPrefix(p.mode(ctx, top, c.Workspace.Commit, p.path), "100")
}

// folder is the folder of a case's recorded tree, and the top of its repository; "" and "" if
// there is none.
func (p *placed) folder(c *eval.Case) (dir, top string) {
	if c.Workspace == nil {
		return "", ""
	}
	dir = c.Workspace.Repo
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.base, dir)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return dir, skill.Repository(dir)
}

// mode is git's mode of a file of a commit; "" if the commit does not have it.
func (p *placed) mode(ctx context.Context, top, commit, name string) string {
	return p.read(ctx, top, commit, name).mode
}

// A blob is a file of a commit.
type blob struct {
	mode string
	text []byte // of a regular file that is not too large for instructions
}

func (p *placed) read(ctx context.Context, top, commit, name string) blob {
	k := [3]string{top, commit, path.Clean(name)}
	b, ok := p.blobs[k]
	if !ok {
		b = blobOf(ctx, top, commit, k[2])
		p.blobs[k] = b
	}
	return b
}

func blobOf(ctx context.Context, top, commit, name string) (b blob) {
	repo, err := git.Open(ctx, top)
	if err != nil {
		return b
	}
	defer repo.Close()
	objects := repo.Objects(ctx)
	defer objects.Close()
	id := commit + "^{tree}"
	for part := range strings.SplitSeq(name, "/") {
		entries, err := objects.Tree(id)
		if err != nil {
			return blob{}
		}
		b.mode = ""
		for _, e := range entries {
			if e.Name == part {
				id, b.mode = e.ID, e.Mode
			}
		}
		if b.mode == "" {
			return b
		}
	}
	if !strings.HasPrefix(b.mode, "100") {
		return b
	}
	if f, err := objects.Blob(id); err == nil && f.Size <= skill.MaxFile {
		b.text, _ = bounded.ReadAll(f, skill.MaxFile) // what cannot be read imports nothing
	}
	return b
}
