//go:build unix

package harvest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
)

// What cannot be a transcript is passed over, and the others are read.
func TestTranscriptsThatAreNone(t *testing.T) {
	f := newFolder(t, "a", "pipe", "zero", "sparse", "z")
	f.write("a", "one\n")
	f.write("z", "two\n")
	sparse, err := os.Create(filepath.Join(f.dir, "sparse"))
	if err == nil {
		err = errors.Join(syscall.Mkfifo(filepath.Join(f.dir, "pipe"), 0o600), os.Symlink("/dev/zero", filepath.Join(f.dir, "zero")))
	}
	if err != nil {
		t.Fatal(err)
	}
	defer sparse.Close()
	if err := sparse.Truncate(15 << 40); err != nil {
		t.Skip(err) // the file system has no such files
	}
	var got, told []string
	problems, err := harvest.ReadFiles(t.Context(), f.files, harvest.Options{}, f.c, lineSession, func(s *harvest.Session) error {
		got = append(got, s.ID)
		return nil
	})
	for _, p := range problems {
		told = append(told, filepath.Base(p.Path)+": "+p.Reason)
	}
	if err != nil || strings.Join(got, " ") != "a z" || strings.Join(told, "\n") != "sparse: larger than 4 GiB" {
		t.Errorf("sessions %q, problems %q, %v", got, told, err)
	}
}
