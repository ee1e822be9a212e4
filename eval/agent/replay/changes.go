package replay

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

const (
	// maxChanged is how many files Changed names.
	maxChanged = 1000
	// maxHashed is how much of a workspace is hashed, in bytes; files beyond are
	// compared by size and time.
	maxHashed = 4 << 20
	// racy is how long after a file's last change its time alone proves nothing,
	// because file systems have coarse clocks.
	racy = 2 * time.Second
)

// A snapshot is the state of a folder: slash path → file.
type snapshot struct {
	at    time.Time
	files map[string]state
}

// A state is what shows that a file has changed.
type state struct {
	mode   fs.FileMode // type and permissions
	size   int64
	time   time.Time
	target string // of a symlink
	hashed bool
	sum    [sha256.Size]byte
}

// take reads every file below dir. Folders count by their content; repositories (.git)
// do not count. Links are not followed.
func take(dir string) (snapshot, error) {
	s := snapshot{at: time.Now(), files: make(map[string]state)}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return s, err
	}
	defer root.Close()
	budget, buf := int64(maxHashed), make([]byte, 32<<10)
	err = walk(root, ".", func(name string, st state) error {
		if st.mode.IsRegular() && st.size <= budget {
			budget -= st.size
			st.sum, st.hashed = sum(root, name, buf)
		}
		s.files[name] = st
		return nil
	})
	return s, err
}

// Changed returns the files of the workspace that were created, changed or removed
// since Open: slash-separated, sorted, the first 1000. Files in .git do not count, and
// neither do folders as such. A file that was written again with the same content has
// not changed.
func (s *Stage) Changed() ([]string, error) {
	root, err := os.OpenRoot(s.Workspace)
	if err != nil {
		return nil, fmt.Errorf("look at workspace: %w", err)
	}
	defer root.Close()
	var names []string
	seen := make(map[string]bool, len(s.before.files))
	buf := make([]byte, 32<<10)
	err = walk(root, ".", func(name string, now state) error {
		seen[name] = true
		if was, known := s.before.files[name]; !known || s.before.differs(root, name, was, now, buf) {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look at workspace: %w", err)
	}
	for name := range s.before.files {
		if !seen[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names[:min(len(names), maxChanged)], nil
}

func (s *snapshot) differs(root *os.Root, name string, was, now state, buf []byte) bool {
	if was.mode != now.mode || was.size != now.size || was.target != now.target {
		return true
	}
	if !was.mode.IsRegular() {
		return false
	}
	if was.time.Equal(now.time) && s.at.Sub(was.time) > racy {
		return false
	}
	if !was.hashed {
		return !was.time.Equal(now.time)
	}
	h, ok := sum(root, name, buf)
	return !ok || h != was.sum
}

func sum(root *os.Root, name string, buf []byte) (h [sha256.Size]byte, ok bool) {
	f, err := bounded.OpenIn(root, name)
	if err != nil {
		return h, false
	}
	defer f.Close()
	w := sha256.New()
	// Without its WriteTo, which would not take buf.
	if _, err := io.CopyBuffer(w, struct{ io.Reader }{io.LimitReader(f, maxHashed)}, buf); err != nil {
		return h, false
	}
	w.Sum(h[:0])
	return h, true
}

// walk calls f for every file below dir that is no folder. Files that the agent made
// unreadable are skipped.
func walk(root *os.Root, dir string, f func(name string, st state) error) error {
	entries, err := fs.ReadDir(root.FS(), dir)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == ".git" {
			continue
		}
		name := path.Join(dir, e.Name())
		if e.IsDir() {
			if err := walk(root, name, f); err != nil {
				return err
			}
			continue
		}
		info, err := root.Lstat(name)
		if err != nil {
			continue // gone meanwhile
		}
		st := state{mode: info.Mode(), size: info.Size(), time: info.ModTime()}
		if info.Mode()&fs.ModeSymlink != 0 {
			st.target, _ = root.Readlink(name)
			st.time, st.size = time.Time{}, 0
		}
		if err := f(name, st); err != nil {
			return err
		}
	}
	return nil
}
