//go:build unix

package bounded

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Nothing is waited for: the test would never end.
func TestPipesAndDevices(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600), os.Symlink("/dev/zero", filepath.Join(dir, "zero"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pipe", "zero"} {
		if _, err := ReadFile(filepath.Join(dir, name), 10); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A pipe that takes the place of a file just before it is opened.
	stat := func(string) (os.FileInfo, error) { return os.Stat(os.Args[0]) }
	if _, err := open(filepath.Join(dir, "pipe"), stat, os.OpenFile); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a pipe that was a file: %v", err)
	}
}
