// Package tracked changes files that git tracks. Others get them, so nothing but their
// owner's word changes them, and what leaves the machine with them holds rules, counts and
// dates.
package tracked

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/git"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// Text is the Tracked of a layout.
func Text(l *skill.Layout) func(path string) (tracked bool, theirs []byte, err error) {
	return func(path string) (bool, []byte, error) {
		s, err := of(context.Background(), l, path)
		if s == nil || err != nil {
			return false, nil, err
		}
		return true, s.Text, nil
	}
}

// of is what git has of the file at path, nil if others do not get it: git does not track
// it, or the person keeps their own agents' folders in a repository of theirs alone.
func of(ctx context.Context, l *skill.Layout, path string) (*git.State, error) {
	f, err := git.FindFile(ctx, path)
	if errors.Is(err, git.ErrNone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s, err := f.State(ctx)
	if errors.Is(err, git.ErrMissing) {
		return nil, fmt.Errorf("git has not fetched what %s has (`git -C %s show %[1]s:%[3]s` does): %[4]w", s.Default, f.Top, f.Path, err)
	}
	if err != nil || !s.Tracked() {
		return nil, err
	}
	if own, err := theirOwn(ctx, l, s, path); own || err != nil {
		return nil, err
	}
	return s, nil
}

// theirOwn reports whether a file is in a folder of the person's own agents, as they write
// its path, and nobody else has made a commit there: many people keep these folders in a
// repository. A link from there into a project does not make the project's file theirs. Where
// git does not know of all commits, somebody else may have made one.
func theirOwn(ctx context.Context, l *skill.Layout, s *git.State, path string) (bool, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return false, err
	}
	inside := func(name string) bool {
		t, err := l.Target(name)
		below, no := filepath.Rel(filepath.Dir(t.Dir), path)
		return err == nil && no == nil && filepath.IsLocal(below)
	}
	if !slices.ContainsFunc(skill.TargetNames(), inside) {
		return false, nil
	}
	authors, all, err := s.Authors(ctx)
	if err != nil || !all {
		return false, err
	}
	own := git.Identities(ctx)
	return !slices.ContainsFunc(authors, func(a string) bool { return !slices.Contains(own, a) }), nil
}

// lineEnds returns text with the line ends of like: git may have made those of the working
// tree when it checked the file out. ok reports whether like is base but for line ends.
func lineEnds(base, like, text []byte) (out []byte, ok bool) {
	crlf := strings.ReplaceAll(string(base), "\n", "\r\n")
	switch {
	case string(like) == string(base):
		return text, true
	case strings.Contains(string(base), "\r") || string(like) != crlf:
		return nil, false
	}
	return []byte(strings.ReplaceAll(string(text), "\n", "\r\n")), true
}
