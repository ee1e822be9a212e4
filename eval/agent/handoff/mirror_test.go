package handoff

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A sparse file would fill the disk if it were copied.
func TestMirrorOfALargeFile(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "to")
	f, err := os.Create(filepath.Join(from, "sparse"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(15 << 40); err != nil {
		t.Skip(err) // the file system has no such files
	}
	if err := mirror(to, from); err == nil || !strings.Contains(err.Error(), "more than 2 GiB") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(filepath.Join(to, "sparse")); err == nil {
		t.Error("part of it was copied")
	}
}
