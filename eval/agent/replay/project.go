package replay

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// ProjectSkills are the folders of the skills that the project has in these folders of its
// tree. Without the owner's set-up there are none.
func (s *Stage) ProjectSkills(in ...string) (dirs []string) {
	if s.layout.Owner == nil {
		return nil
	}
	for _, folder := range in {
		at := filepath.Join(s.Workspace, filepath.FromSlash(folder))
		entries, _ := os.ReadDir(at) // most projects have none
		for _, e := range entries {
			dir := filepath.Join(at, e.Name())
			if info, err := os.Stat(filepath.Join(dir, skill.FileName)); err == nil && info.Mode().IsRegular() {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}

// projectSettings are the files of a project that run commands, set variables or forbid
// tools. Claude Code loads them together with the project's instructions, without a question.
var projectSettings = []string{".claude/settings.json", ".claude/settings.local.json"}

// removeSettings removes them from a workspace whose project loads, and a link that leads to
// others outside. It reports whether there were any.
func (s *Stage) removeSettings() (found bool, err error) {
	if s.layout.Owner == nil {
		return false, nil
	}
	root, err := os.OpenRoot(s.Workspace)
	if err != nil {
		return false, err
	}
	defer root.Close()
	for _, name := range projectSettings {
		err := root.Remove(name)
		if dir := path.Dir(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			switch info, lerr := root.Lstat(dir); {
			case lerr != nil:
			case info.Mode()&fs.ModeSymlink != 0:
				err = root.Remove(dir)
			case info.IsDir(): // it is a folder that holds something
				err = root.RemoveAll(name)
			default: // a file, in which nothing can be
				continue
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return found, err
		}
		found = found || err == nil
	}
	return found, nil
}
