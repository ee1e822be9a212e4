package harvest

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// Check returns an error for a pattern that is none.
func (o Options) Check() error {
	for _, pattern := range o.Exclude {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("read sessions: exclude %q: %w", pattern, err)
		}
	}
	return nil
}

// Admits reports whether a session may be kept: none of its folders is excluded, evolve
// itself did not drive it, and its owner allows it.
func (o Options) Admits(s *Session) bool {
	s.In(s.CWD)
	return !o.Excludes(s.Folders...) && !OwnReplay(s) && (o.Allowed == nil || o.Allowed(s.Folders))
}

// Excludes reports whether sessions must not be read that worked in these folders: one
// of them is excluded, by its path as it was recorded or by its real one. Without a
// folder, or with "", it cannot be known that none is, so any pattern excludes it.
// Sessions of evolve's own replays (see OwnReplay) are always excluded.
func (o Options) Excludes(folders ...string) bool {
	return len(folders) == 0 && len(o.Exclude) > 0 || slices.ContainsFunc(folders, o.excludes)
}

func (o Options) excludes(folder string) bool {
	if inOwnFolder(folder) || folder == "" {
		return inOwnFolder(folder) || len(o.Exclude) > 0
	}
	if len(o.Exclude) == 0 {
		return false
	}
	paths := []string{filepath.Clean(folder)}
	if filepath.IsAbs(folder) {
		if real, err := skill.RealPath(folder); err == nil && real != paths[0] {
			paths = append(paths, real)
		}
	}
	matches := o.excluded()
	for _, p := range paths {
		for dir := p; dir != "." && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			info, err := os.Stat(dir)
			if err == nil && slices.ContainsFunc(matches, func(x fs.FileInfo) bool { return os.SameFile(x, info) }) {
				return true
			}
			if o.named(filepath.ToSlash(dir), err == nil && anyCase(dir, info)) {
				return true
			}
		}
	}
	return false
}

// excluded are the files and folders that patterns with a whole path match now.
func (o Options) excluded() (out []fs.FileInfo) {
	for _, pattern := range o.Exclude {
		if !filepath.IsAbs(pattern) {
			continue
		}
		found, _ := filepath.Glob(pattern) // Check has refused what is no pattern
		for _, f := range found {
			if info, err := os.Stat(f); err == nil {
				out = append(out, info)
			}
		}
	}
	return out
}

// named reports whether a pattern matches a folder's path or name.
func (o Options) named(dir string, anyCase bool) bool {
	return slices.ContainsFunc(o.Exclude, func(pattern string) bool {
		if pattern = path.Clean(filepath.ToSlash(pattern)); anyCase {
			pattern, dir = strings.ToLower(pattern), strings.ToLower(dir)
		}
		whole, _ := path.Match(pattern, dir)
		name, _ := path.Match(pattern, path.Base(dir))
		return whole || name
	})
}

// anyCase reports whether the file system finds a folder in other letters, too.
func anyCase(dir string, info fs.FileInfo) bool {
	other := strings.Map(func(r rune) rune {
		if up := unicode.ToUpper(r); up != r {
			return up
		}
		return unicode.ToLower(r)
	}, filepath.Base(dir))
	found, err := os.Stat(filepath.Join(filepath.Dir(dir), other))
	return other != filepath.Base(dir) && err == nil && os.SameFile(info, found)
}
