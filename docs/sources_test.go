package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// eachSource calls visit with every Go file of the module that is no test: its name,
// slash-separated from the top, its text and its syntax tree. Folders named in skip are
// left out.
func eachSource(t *testing.T, visit func(name, text string, f *ast.File), skip ...string) {
	t.Helper()
	skip = append(skip, "testdata")
	seen := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains(skip, d.Name()) || strings.HasPrefix(d.Name(), ".") && path != ".."):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		seen++
		visit(filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator))), string(text), f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 100 {
		t.Fatalf("%d files were read: was the tree walked?", seen)
	}
}
