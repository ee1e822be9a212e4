package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMainIsThin: what all commands share is small, so that a new thing has to find its
// package. The state of a command is at most 8 fields and 25 methods, and package main,
// without tests and its internal packages, at most 6,600 lines.
func TestMainIsThin(t *testing.T) {
	const (
		shared   = "global"
		fields   = 8
		methods  = 25
		lines    = 6600
		fileMost = 450
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
		if total += n; n > fileMost {
			t.Errorf("%s has %d lines, more than %d", name, n, fileMost)
		}
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
