package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// ErrNoCommit means that a name is not one of a commit.
var ErrNoCommit = errors.New("no commit has this name")

// A Side is a file as another commit has it.
type Side struct {
	Commit string
	Text   []byte // nil if the commit does not have it
	// Base is the file where the commit's history left that of the default branch; nil if it
	// was not there, or the two have no commit in common.
	Base []byte
}

// At reads f in the commit that a person calls rev: a branch, a tag, an id, HEAD or
// FETCH_HEAD. The error is ErrNoCommit if there is none.
func (f *File) At(ctx context.Context, rev string) (*Side, error) {
	s, err := f.State(ctx)
	if err != nil {
		return nil, err
	}
	r, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	name, err := f.own(rev)
	if err != nil {
		return nil, err
	}
	commit, err := r.line(ctx, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil && ctx.Err() == nil || err == nil && commit == "" {
		return nil, fmt.Errorf("%s: %w", rev, ErrNoCommit)
	}
	if err != nil {
		return nil, err
	}
	side := &Side{Commit: commit}
	if _, side.Text, err = f.in(ctx, r, commit, rev); err != nil || s.Commit == "" {
		return side, err
	}
	if base, err := r.line(ctx, nil, "merge-base", s.Commit, commit); err == nil { // else they have none in common
		if _, side.Base, err = f.in(ctx, r, base, "the commit where "+rev+" begins"); err != nil {
			return nil, err
		}
	}
	return side, nil
}

// own puts the commit in the place of those names that git looks for in its own folder, which
// is a private one here.
func (f *File) own(rev string) (string, error) {
	switch head, at, _ := cutRev(rev); head {
	case "HEAD", "@":
		commit, err := Head(f.Top)
		if err == nil && commit == "" {
			err = fmt.Errorf("%s: %w", rev, ErrNoCommit)
		}
		return commit + at, err
	case "FETCH_HEAD":
		text, err := readSmall(filepath.Join(f.gitDir, "FETCH_HEAD"))
		if err != nil || len(strings.Fields(text)) == 0 {
			return "", fmt.Errorf("%s: %w", rev, ErrNoCommit)
		}
		return strings.Fields(text)[0] + at, nil
	}
	return rev, nil
}

// cutRev cuts what git goes back from a commit, such as ~2, off its name.
func cutRev(rev string) (name, back string, found bool) {
	if i := strings.IndexAny(rev, "~^"); i >= 0 {
		return rev[:i], rev[i:], true
	}
	return rev, "", false
}
