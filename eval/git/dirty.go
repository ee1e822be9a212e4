package git

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
)

// maxIndex is the largest index that is read, in bytes.
const maxIndex = 256 << 20

// Dirty reports whether the working tree that dir is in differs from the commit that is
// checked out, in files that git knows. Submodules are not looked into, because git reads
// their configuration. Without the filters that the repository's configuration names, a
// file that was touched and is stored in another form, as by Git LFS, counts as changed.
func Dirty(ctx context.Context, dir string) (bool, error) {
	commit, err := Head(dir)
	if err != nil {
		return false, err
	}
	r, err := Open(ctx, dir)
	if err != nil {
		return false, err
	}
	defer r.Close()
	gitDir := r.Dirs[1]
	top, found := strings.CutSuffix(r.Dirs[0], filepath.FromSlash(r.Prefix))
	if !found || filepath.Clean(top) == filepath.Clean(gitDir) {
		return false, errors.New("the repository has no working tree")
	}
	if err := r.copyIndex(gitDir); err != nil {
		return false, err
	}
	r.env = append(r.env, "GIT_WORK_TREE="+filepath.Clean(top))
	if _, err := r.Output(ctx, "update-index", "-q", "--ignore-submodules", "--refresh"); err != nil && ctx.Err() != nil {
		return false, err // else files differ, or the comparison fails likewise
	}
	out, err := r.Output(ctx, "diff-index", "--name-only", "-z", "--ignore-submodules=all", "--no-ext-diff", commit, "--")
	return len(out) > 0, err
}
