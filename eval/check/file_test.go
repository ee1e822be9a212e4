package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What an agent leaves is of any size: a sparse file costs it nothing.
func TestFileCheckOfALargeFile(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int64{"sparse.svg": 15 << 40, "most.svg": maxChecked, "more.svg": maxChecked + 1} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = f.WriteString("<svg/>"); err == nil {
			err = f.Truncate(size)
		}
		if err != nil {
			t.Skip(err) // the file system has no such files
		}
		f.Close()
	}
	for name, want := range map[string]float64{"sparse.svg": 0, "most.svg": 1, "more.svg": 0} {
		r, err := (&Check{Type: FileContains, Path: name, Value: "<svg"}).Grade(t.Context(), &Subject{Workspace: dir})
		if err != nil || r.Score != want || want == 0 && !strings.Contains(r.Evidence, "larger than 64 MiB") {
			t.Errorf("%s: %+v (%v), want %v", name, r, err, want)
		}
	}
}
