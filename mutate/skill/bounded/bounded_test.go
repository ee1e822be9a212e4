package bounded

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "four"), []byte("four"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "folder"), 0o700), os.Symlink("four", filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "outside")
	if err := errors.Join(os.WriteFile(outside, []byte("out"), 0o600), os.Symlink(outside, filepath.Join(dir, "out"))); err != nil {
		t.Fatal(err)
	}
	sparse, err := os.Create(filepath.Join(dir, "sparse"))
	if err == nil {
		err = errors.Join(sparse.Truncate(1<<40), sparse.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, c := range []struct {
		name  string
		limit int64
		want  string // "" for an error
		is    error
		large bool
	}{
		{"four", 4, "four", nil, false},
		{"four", 5, "four", nil, false},
		{"link", 4, "four", nil, false},
		{"four", 3, "", nil, true},
		{"sparse", 1 << 20, "", nil, true},
		{"folder", 4, "", ErrNotRegular, false},
		{"none", 4, "", fs.ErrNotExist, false},
	} {
		for how, read := range map[string]func() ([]byte, error){
			"path": func() ([]byte, error) { return ReadFile(filepath.Join(dir, c.name), c.limit) },
			"root": func() ([]byte, error) { return ReadFileIn(root, c.name, c.limit) },
		} {
			got, err := read()
			_, large := errors.AsType[*TooLargeError](err)
			if string(got) != c.want || (err == nil) != (c.want != "") || large != c.large || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%s of %d by its %s: %q, %v", c.name, c.limit, how, got, err)
			}
			if _, ok := errors.AsType[*fs.PathError](err); err != nil && !ok {
				t.Errorf("%s by its %s: %T", c.name, how, err)
			}
		}
	}
	if _, err := ReadFileIn(root, "out", 10); err == nil {
		t.Error("a link that leads out was followed")
	}
	if _, err := ReadFile(filepath.Join(dir, "sparse"), 1<<20); err == nil || !strings.HasSuffix(err.Error(), "sparse: larger than 1 MiB") {
		t.Errorf("error %v", err)
	}
}

// endless never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestReadAll(t *testing.T) {
	if text, err := ReadAll(strings.NewReader("four"), 4); string(text) != "four" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	var large *TooLargeError
	if _, err := ReadAll(endless{}, 1000); !errors.As(err, &large) || err.Error() != "larger than 1000 bytes" {
		t.Errorf("endless: %v", err)
	}
	for limit, want := range map[int64]string{1 << 30: "larger than 1 GiB", 256 << 20: "larger than 256 MiB", 1500 << 10: "larger than 1500 KiB", 1<<20 + 1: "larger than 1048577 bytes"} {
		if got := (&TooLargeError{limit}).Error(); got != want {
			t.Errorf("%d: %s, want %s", limit, got, want)
		}
	}
}
