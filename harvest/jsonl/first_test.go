package jsonl_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/skill-evolve/evolve/harvest/jsonl"
)

func TestFirst(t *testing.T) {
	long := strings.Repeat("x", 300<<10)
	for text, want := range map[string]string{"": "", "a\nb\n": "a", "a": "a", strings.Repeat("y", 5000) + "\nb": strings.Repeat("y", 5000)} {
		var b bytes.Buffer
		w, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		for name, content := range map[string]string{"s.jsonl": text, "s.jsonl.zst": b.String()} {
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := jsonl.First(path); string(got) != want {
				t.Errorf("%s of %d bytes begins with %d, want %d", name, len(text), len(got), len(want))
			}
		}
	}
	path := filepath.Join(t.TempDir(), "long")
	if err := os.WriteFile(path, []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := jsonl.First(path); len(got) < 256<<10 || len(got) >= len(long) {
		t.Errorf("%d bytes of a line of %d", len(got), len(long))
	}
	if jsonl.First(filepath.Join(t.TempDir(), "none")) != nil {
		t.Error("a file that is not there has a line")
	}
}
