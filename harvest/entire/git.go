package entire

import (
	"context"
	"errors"
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

// all reads a blob of at most limit bytes.
func (o *objects) all(oid string, limit int64) ([]byte, error) {
	b, err := o.Blob(oid)
	if err != nil {
		return nil, err
	}
	if b.Size > limit {
		return nil, fmt.Errorf("larger than %d KiB", limit>>10)
	}
	return io.ReadAll(io.LimitReader(b, limit))
}

// A budget is divided among refs: one that holds more than its share is cut. A share is
// an equal part of what is left, or what a large checkpoint needs if that is more; but
// half of the whole is divided equally, so that large refs always leave something for
// the others.
type budget struct {
	left int64 // bytes
	refs int   // that have had no share yet
	sure int64 // bytes that each ref may read, whatever the others hold
}

func newBudget(total int64, refs int) *budget {
	return &budget{total, refs, total / 2 / int64(max(1, refs))}
}

// large is what one checkpoint may need, in bytes.
const large = 1 << 20

// share is what the next ref may read.
func (b *budget) share() int64 {
	even := b.left / int64(max(1, b.refs))
	b.refs--
	return max(even, min(large, b.left-b.sure*int64(b.refs)))
}

// Limits on the trees and the metadata of all refs that are branches, and of all that
// are single checkpoints, in bytes. 600 checkpoints have 0.2 MB of trees and 1.5 MB of
// metadata; trees that share subtrees can pretend to any number.
const (
	maxTrees       = 32 << 20
	maxAllMetadata = 256 << 20
)

// errShare reports a ref that holds more than its share.
var errShare = errors.New("it holds more than is read: the rest is left out")

// walk visits the files of a tree, at most depth folders deep, and subtracts the size
// of the trees from left. It reads trees through the same process as blobs, because an
// `ls-tree` for each of a thousand refs takes seconds. A folder that cannot be read is
// left out; the error is the first of these.
func (o *objects) walk(tree, prefix string, depth int, left *int64, visit func(file, oid string)) error {
	entries, first := o.TreeWithin(tree, left)
	if *left < 0 {
		return errShare
	}
	if first != nil {
		first = fmt.Errorf("read tree %q: %w", prefix, first)
	}
	for _, e := range entries {
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
