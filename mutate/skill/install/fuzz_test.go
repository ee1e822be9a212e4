package install

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// FuzzInstall: for any live and expected text, the file holds either the old
// or the new text, and the result reports which; nothing is left beside it.
func FuzzInstall(f *testing.F) {
	f.Add([]byte("---\nname: x\n---\n# A\n"), []byte("# B\n"), true)
	f.Add([]byte(""), []byte("x"), false)
	f.Add([]byte("\x00"), []byte("\r\n"), true)
	dir, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, live, text []byte, expected bool) {
		path := filepath.Join(dir, skill.FileName)
		if err := os.WriteFile(path, live, 0o640); err != nil {
			t.Fatal(err)
		}
		want := skill.HashText(live)
		if !expected {
			want = skill.HashText(append([]byte("another "), live...))
		}
		err := Install(path, want, text)
		got, rerr := os.ReadFile(path)
		if rerr != nil {
			t.Fatal(rerr)
		}
		var drift *DriftError
		switch {
		case err == nil && !bytes.Equal(got, text), err != nil && !bytes.Equal(got, live):
			t.Fatalf("error %v, and the file holds %q", err, got)
		case err != nil && (expected || !errors.As(err, &drift)), err == nil && !expected && !bytes.Equal(live, text):
			t.Fatalf("expected %t, error %v", expected, err)
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 1 {
			t.Fatalf("left behind: %v", entries)
		}
	})
}
