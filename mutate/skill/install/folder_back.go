package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// Uproot removes what Plant put at dir, as long as it is unchanged: the
// SKILL.md, which must have the SHA-256 want or be gone already (else the
// error is a *DriftError, and nothing is removed), then those of files that
// are as they were copied, then the folders that are empty. It returns what
// stays: files that were changed or added since. dir must be a path without
// symlinks. For agents the skill is gone in one step, with its SKILL.md;
// after a crash in between, Uproot again removes the rest.
func Uproot(dir, want string, files []FolderFile) (kept []string, err error) {
	if kept, err = uproot(dir, want, files, func(step) {}); err != nil {
		return kept, named(filepath.Join(dir, skill.FileName), err)
	}
	return kept, nil
}

func uproot(dir, want string, files []FolderFile, at func(step)) (kept []string, err error) {
	target := filepath.Join(dir, skill.FileName)
	folder, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	p := site{path: target, name: skill.FileName, folder: folder}
	at(resolved)
	unlock, err := lockFolder(dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := p.moved(); err != nil {
		return nil, err
	}
	at(locked)
	p.clean()
	live, err := p.read()
	if err != nil {
		return nil, err
	}
	if live.hash != "" {
		if live.hash != want {
			return nil, &DriftError{Path: target, Want: want, Live: live.hash}
		}
		at(compared)
		if err := folder.Remove(skill.FileName); err != nil {
			return nil, err
		}
		if err := p.sync(); err != nil {
			return nil, fmt.Errorf("sync folder after the text was removed: %w", err)
		}
		at(renamed)
	}
	for i, f := range files {
		if now, err := survey(folder, f.Path); err == nil && now == f {
			if err := folder.Remove(f.Path); err != nil {
				return nil, err
			}
		}
		if i == 0 {
			at(halfway)
		}
	}
	if kept, err = emptied(folder, files); err != nil || len(kept) > 0 {
		return kept, err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err // something was put into it just now
	}
	above, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	defer above.Close()
	return nil, syncFolder(above)
}

// Others lists what Uproot would leave in dir: everything but files as they
// were copied there, their folders and the remains of killed installers.
// Nothing is changed.
func Others(dir string, files []FolderFile) (others []string, err error) {
	folder, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	ours := folders(files)
	err = fs.WalkDir(folder.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || name == "." || e.IsDir() && ours[name] || isTemp(name) && e.Type().IsRegular():
			return err
		case e.IsDir():
			others = append(others, name)
			return fs.SkipDir
		}
		if now, err := survey(folder, name); err != nil || !slices.Contains(files, now) {
			others = append(others, name)
		}
		return nil
	})
	return others, err
}

// folders are those that contain files, below the one that contains all.
func folders(files []FolderFile) map[string]bool {
	ours := map[string]bool{}
	for _, f := range files {
		for d := path.Dir(f.Path); d != "."; d = path.Dir(d) {
			ours[d] = true
		}
	}
	return ours
}

// emptied removes the folders of files that are empty by now, and lists what is
// left.
func emptied(folder *os.Root, files []FolderFile) (left []string, err error) {
	ours := folders(files)
	var dirs []string
	for d := range ours {
		dirs = append(dirs, d)
	}
	slices.SortFunc(dirs, func(a, b string) int { return strings.Count(b, "/") - strings.Count(a, "/") })
	for _, d := range dirs {
		if info, err := folder.Lstat(d); err == nil && info.IsDir() {
			_ = folder.Remove(d) // fails if something is in it
		}
	}
	err = fs.WalkDir(folder.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && name != "." && (!e.IsDir() || !ours[name]) {
			left = append(left, name)
			if e.IsDir() {
				return fs.SkipDir
			}
		}
		return err
	})
	return left, err
}
