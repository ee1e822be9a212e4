package eval

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
		c := &Case{ID: "1", Skill: "s", Prompt: "p", Checks: []Check{{Type: FileContains, Path: name, Value: "<svg"}}}
		g, err := new(Checks).Grade(t.Context(), c, Attempt{Answer: "a"}, dir)
		if err != nil || g.Quality != want || want == 0 && !strings.Contains(g.Checks[0].Evidence, "larger than 64 MiB") {
			t.Errorf("%s: grade = %+v (%v), want %v", name, g, err, want)
		}
	}
}
