package applies

import (
	"context"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/git"
)

// enough is how many names are listed of a tree, the ones nearest to the top.
const enough = 4 * maxNames

// Recorded returns a function that lists the files of a case's recorded tree, and those that
// the case brings. Of a tree that cannot be read it lists nothing: a request says more than
// names of files. It is not safe for concurrent use.
func Recorded() func(context.Context, *eval.Case) ([]string, error) {
	known := map[eval.Workspace][]string{}
	return func(ctx context.Context, c *eval.Case) ([]string, error) {
		own := slices.Sorted(maps.Keys(c.Files))
		if c.Workspace == nil || !filepath.IsAbs(c.Workspace.Repo) {
			return own, nil
		}
		at := eval.Workspace{Repo: c.Workspace.Repo, Commit: c.Workspace.Commit}
		if _, ok := known[at]; !ok {
			known[at] = tree(ctx, at)
		}
		return slices.Concat(own, known[at]), ctx.Err()
	}
}

// tree lists the files of a commit, folder by folder from the top.
func tree(ctx context.Context, at eval.Workspace) (names []string) {
	repo, err := git.Open(ctx, at.Repo)
	if err != nil {
		return nil
	}
	defer repo.Close()
	objects := repo.Objects(ctx)
	defer objects.Close()
	type folder struct{ id, dir string }
	for open := []folder{{at.Commit + "^{tree}", ""}}; len(open) > 0 && len(names) < enough; open = open[1:] {
		entries, err := objects.Tree(open[0].id)
		if err != nil {
			continue
		}
		for _, e := range entries {
			name := path.Join(open[0].dir, e.Name)
			if e.Mode == "40000" {
				open = append(open, folder{e.ID, name})
			} else {
				names = append(names, name)
			}
		}
	}
	return names
}
