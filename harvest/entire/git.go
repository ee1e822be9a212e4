package entire

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/skill-evolve/evolve/eval/git"
)

// objects reads a repository's checkpoints.
type objects struct {
	*git.Objects
	ctx context.Context
}

// open opens a blob. Its reader is valid until the next call.
func (o *objects) open(oid string) (io.Reader, error) { return o.Blob(oid) }

// all reads a small blob, at most limit bytes of it.
func (o *objects) all(oid string, limit int64) ([]byte, error) {
	r, err := o.open(oid)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, limit))
}

// maxEntries are the files of one ref: trees that share subtrees can pretend to
// any number.
const maxEntries = 2_000_000

// walk visits the files of a tree, at most depth folders deep. It reads trees
// through the same process as blobs: an `ls-tree` for each of a thousand refs
// takes seconds. A folder that cannot be read is left out; the error is the
// first of them.
func (o *objects) walk(tree, prefix string, depth int, left *int, visit func(file, oid string)) error {
	entries, first := o.Tree(tree)
	if first != nil {
		first = fmt.Errorf("read tree %q: %w", prefix, first)
	}
	for _, e := range entries {
		if *left--; *left < 0 {
			return fmt.Errorf("read tree %q: %w", prefix, git.ErrTree)
		}
		switch {
		case e.Mode == "40000" && depth > 0:
			if err := o.walk(e.ID, prefix+e.Name+"/", depth-1, left, visit); err != nil {
				if o.ctx.Err() != nil || *left < 0 {
					return err
				}
				if first == nil {
					first = err
				}
			}
		case strings.HasPrefix(e.Mode, "100"): // a regular file: no link, no submodule
			visit(prefix+e.Name, e.ID)
		}
	}
	return first
}
