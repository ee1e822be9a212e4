package jsonl

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Find lists the files below root whose names match accepts, in path order, down to
// depth folders, through symbolic links too. A folder that does not exist holds
// nothing.
func Find(root string, depth int, match func(name string) bool) ([]string, []Problem) {
	var files []string
	var problems []Problem
	var list func(dir string, depth int)
	list = func(dir string, depth int) {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, Problem{Path: dir, Reason: Reason(err)})
		}
		for _, e := range entries {
			name := filepath.Join(dir, e.Name())
			folder := e.IsDir()
			if e.Type()&fs.ModeSymlink != 0 {
				info, err := os.Stat(name)
				folder = err == nil && info.IsDir()
			}
			switch {
			case !folder && match(e.Name()):
				files = append(files, name)
			case folder && depth > 0:
				list(name, depth-1)
			}
		}
	}
	list(root, depth)
	slices.Sort(files)
	return files, problems
}
