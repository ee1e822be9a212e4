package jsonl

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"b/z.jsonl", "b/c/y.jsonl", "b/c/d/deep.jsonl", "a.jsonl", "a.txt", "dir.jsonl/x.txt"} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(root, "b"), filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(root, filepath.Join(root, "b", "loop")); err != nil {
		t.Fatal(err)
	}
	match := func(name string) bool { return strings.HasSuffix(name, ".jsonl") }
	for depth, want := range [][]string{
		{"a.jsonl"},
		{"a.jsonl", "b/z.jsonl", "link/z.jsonl"},
		{"a.jsonl", "b/c/y.jsonl", "b/loop/a.jsonl", "b/z.jsonl", "link/c/y.jsonl", "link/loop/a.jsonl", "link/z.jsonl"},
	} {
		files, problems := Find(root, depth, match)
		for i := range files {
			files[i] = strings.TrimPrefix(filepath.ToSlash(files[i]), filepath.ToSlash(root)+"/")
		}
		if len(problems) > 0 || !slices.Equal(files, want) {
			t.Errorf("depth %d: %q, problems %v; want %q", depth, files, problems, want)
		}
	}
	if files, problems := Find(filepath.Join(root, "none"), 2, match); len(files)+len(problems) > 0 {
		t.Errorf("%q %v", files, problems)
	}
	file := filepath.Join(root, "a.txt")
	if _, problems := Find(file, 0, match); len(problems) != 1 || problems[0].Path != file || strings.Contains(problems[0].Reason, file) {
		t.Errorf("problems %+v", problems)
	}
}
