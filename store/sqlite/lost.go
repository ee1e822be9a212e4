package sqlite

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A LostError means that a database which was in use is gone: the file is empty or
// missing, and beside it are files that only a used one leaves. No new one was made,
// because its versions, trials and rejections would be lost silently.
type LostError struct {
	Path   string
	Empty  bool     // the file is there, with 0 bytes
	Beside []string // names of files that a used store has left
}

func (e *LostError) Error() string {
	how := "is missing"
	if e.Empty {
		how = "is empty"
	}
	return fmt.Sprintf("%s %s, but was in use: %s beside it", e.Path, how, strings.Join(e.Beside, " and "))
}

// leavings are the files beside a used database: each is made only after something was
// saved in it. (Hooks, notes and the configuration may exist before the first use.)
var leavings = []string{"staged", "reports"}

// Lost is a *LostError if the database at path was in use and is now empty or missing,
// else nil. An empty file with nothing beside it is left by a crash at the very
// beginning, and harmless.
func Lost(path string) error {
	lost := lostNow(path)
	// If another process makes it at this moment, its log exists first.
	for began := time.Now(); lost != nil && lost.onlyLog(path) && time.Since(began) < making; {
		time.Sleep(making / 20)
		lost = lostNow(path)
	}
	if lost == nil {
		return nil
	}
	return lost
}

// making is how long the log of a new database may exist before the database does.
const making = 200 * time.Millisecond

// onlyLog reports whether a log is the only sign of a database.
func (e *LostError) onlyLog(path string) bool {
	return len(e.Beside) == 1 && e.Beside[0] == filepath.Base(path)+"-wal"
}

func lostNow(path string) *LostError {
	info, err := os.Stat(path)
	if err == nil && info.Size() > 0 || err != nil && !os.IsNotExist(err) {
		return nil // whole, or it has another fault, which opening it reports
	}
	lost := &LostError{Path: path, Empty: err == nil}
	if present(path + "-wal") {
		lost.Beside = append(lost.Beside, filepath.Base(path)+"-wal")
	}
	for _, name := range leavings {
		if holdsFile(filepath.Join(filepath.Dir(path), name)) {
			lost.Beside = append(lost.Beside, name+string(filepath.Separator))
		}
	}
	if copies, _ := filepath.Glob(path + ".damaged-*"); lost.Empty && len(copies) > 0 {
		lost.Beside = append(lost.Beside, filepath.Base(slices.Max(copies)))
	}
	if len(lost.Beside) == 0 {
		return nil
	}
	return lost
}

// holdsFile reports whether a folder has a file somewhere below it.
func holdsFile(dir string) (found bool) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			found = true
			return filepath.SkipAll
		}
		return nil
	})
	return found
}

func present(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() > 0
}
