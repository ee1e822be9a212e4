package docs

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSizes bounds packages and files to what one can read at once.
// Package main has a bound of its own, and packages for tests have none.
func TestSizes(t *testing.T) {
	const packageMost, fileMost = 4000, 450
	lines := map[string]int{} // by folder
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		n := bytes.Count(text, []byte("\n"))
		if n > fileMost {
			t.Errorf("%s has %d lines, more than %d", path, n, fileMost)
		}
		lines[filepath.Dir(path)] += n
		return err
	})
	if err != nil || len(lines) == 0 {
		t.Fatal(err, lines)
	}
	for dir, n := range lines {
		if n > packageMost && !strings.HasSuffix(dir, "test") && dir != filepath.Join("..", "cmd", "evolve") {
			t.Errorf("%s has %d lines, more than %d", dir, n, packageMost)
		}
	}
}

// TestMainIsThin: what all commands share is small, so that a new thing has to find its
// package. The state of a command is at most 8 fields and 25 methods, and package main,
// without tests and its internal packages, at most 6,600 lines.
func TestMainIsThin(t *testing.T) {
	const (
		shared  = "global"
		fields  = 8
		methods = 25
		lines   = 6600
	)
	names, err := filepath.Glob("../cmd/evolve/*.go")
	if err != nil {
		t.Fatal(err)
	}
	total, has, does := 0, -1, 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		n := strings.Count(string(text), "\n")
		total += n
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					continue
				}
				of := d.Recv.List[0].Type
				if s, ok := of.(*ast.StarExpr); ok {
					of = s.X
				}
				if id, ok := of.(*ast.Ident); ok && id.Name == shared {
					does++
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					ts, ok := s.(*ast.TypeSpec)
					if !ok || ts.Name.Name != shared {
						continue
					}
					has = 0
					for _, field := range ts.Type.(*ast.StructType).Fields.List {
						has += max(1, len(field.Names))
					}
				}
			}
		}
	}
	if has < 0 {
		t.Fatalf("cmd/evolve has no type %s", shared)
	}
	if has > fields || does > methods {
		t.Errorf("%s has %d fields and %d methods, at most %d and %d are its own", shared, has, does, fields, methods)
	}
	if total > lines {
		t.Errorf("cmd/evolve has %d lines, at most %d are the command line's", total, lines)
	}
}
