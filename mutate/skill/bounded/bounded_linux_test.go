package bounded

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// The kernel makes up the files of /proc and /sys as they are read, and keeps a
// reader of some waiting (/proc/kmsg, trace_pipe): the test would never end.
func TestFilesOfTheKernel(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot("/proc/self")
	if err != nil {
		t.Skip(err)
	}
	defer root.Close()
	for _, target := range []string{"/proc/kmsg", "/proc/self/status", "/proc/version", "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/kernel/uevent_seqnum"} {
		if info, err := os.Stat(target); err != nil || !info.Mode().IsRegular() {
			continue
		}
		link := filepath.Join(dir, filepath.Base(target))
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		if text, err := ReadFile(link, 1<<20); !errors.Is(err, ErrNotRegular) && !errors.Is(err, os.ErrPermission) {
			t.Errorf("%s: %q, %v", target, text, err)
		}
		if f, err := Open(link); err == nil {
			t.Errorf("%s opens", target)
			f.Close()
		}
	}
	if _, err := ReadFileIn(root, "status", 1<<20); !errors.Is(err, ErrNotRegular) {
		t.Errorf("below a root: %v", err)
	}
	if _, err := ReadFile(os.Args[0], 1<<30); err != nil {
		t.Errorf("a file of a disk: %v", err)
	}
}
