package harvest

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A file that makes a reader panic is reported, without its content; all others are
// read.
func TestReaderThatPanics(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for _, name := range []string{"a", "b", "c"} {
		path := filepath.Join(dir, name+".jsonl")
		if err := os.WriteFile(path, []byte("the secret of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	var read []string
	cur := map[string]bool{}
	problems, err := ReadFiles(t.Context(), files, Options{}, cursorOf(cur), func(_ context.Context, r io.Reader, file string) (*Session, []Problem, error) {
		text, err := io.ReadAll(r)
		if strings.HasSuffix(string(text), "b") {
			panic(string(text))
		}
		return &Session{ID: filepath.Base(file), Path: file}, nil, err
	}, func(s *Session) error {
		read = append(read, s.ID)
		return nil
	})
	if err != nil || strings.Join(read, " ") != "a.jsonl c.jsonl" {
		t.Errorf("read %v, %v", read, err)
	}
	if len(problems) != 1 || problems[0].Path != files[1] || !strings.Contains(problems[0].Reason, "readahead_panic_test.go") || strings.Contains(problems[0].Reason, "secret") {
		t.Errorf("problems %+v", problems)
	}
	if cur[files[1]] || !cur[files[0]] || !cur[files[2]] {
		t.Errorf("marked as read: %v", cur)
	}
}

// A cursorOf remembers which files were marked.
type cursorOf map[string]bool

func (c cursorOf) Seen(path string, _ int64, _ time.Time) bool { return c[path] }

func (c cursorOf) Mark(path string, _ int64, _ time.Time) { c[path] = true }
