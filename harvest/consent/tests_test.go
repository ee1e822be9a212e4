package consent

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestArgv(t *testing.T) {
	for command, want := range map[string]string{
		"go test ./...":                  "go|test|./...",
		"CGO_ENABLED=0 A=b go test":      "env|CGO_ENABLED=0|A=b|go|test",
		`pytest -k "a and b" --tb=short`: "pytest|-k|a and b|--tb=short",
		`npm run 'test:ci'`:              "npm|run|test:ci",
		`make\ x test`:                   "make x|test",
		`go test -run 'A|B'`:             "go|test|-run|A|B",
	} {
		got, err := Argv(command)
		if err != nil || strings.Join(got, "|") != want {
			t.Errorf("%s: %q, %v", command, got, err)
		}
	}
	for _, command := range []string{"", "A=1", "go test | tail", "go test; rm -rf /", "go test && true", "! go test", "go test &", "(go test)", "go test > x", "go test 2>&1",
		"go test $X", "go test *_test.go", "go test `x`", "go test {a,b}", "~/test.sh", "bash -c 'go test'", "cd x\ngo test", "go 'test", "time go test", "f() { go test; }", "go test # all"} {
		if got, err := Argv(command); err == nil {
			t.Errorf("%s: %q", command, got)
		}
	}
}

// What is confirmed is a repository's, from whichever of its folders and worktrees it is
// asked for, and is kept beside the other decisions, of which it is none.
func TestTests(t *testing.T) {
	top := t.TempDir()
	shop, blog := filepath.Join(top, "shop"), filepath.Join(top, "blog")
	for _, dir := range []string{filepath.Join(shop, ".git"), filepath.Join(shop, "api"), blog} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(top, "data", "projects.yaml")
	if err := Update(file, func(d *Decisions) error {
		d.Confirm(filepath.Join(shop, "api"), "go test ./...")
		d.Confirm(shop, "go test ./...")
		d.Confirm(shop, "make test")
		d.Confirm(blog, "npm test")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	d, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if d.Asked() || d.MayRead([]string{shop}) {
		t.Error("test commands decide which projects may be read")
	}
	if got := d.Tests(shop); !slices.Equal(got, []string{"go test ./...", "make test"}) || !slices.Equal(got, d.Tests(filepath.Join(shop, "api"))) {
		t.Errorf("%q", got)
	}
	if got := d.Tests(top); got != nil || d.Tests("") != nil || d.Tests("shop") != nil {
		t.Errorf("%q of a folder above", got)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if !d.Drop(blog, "npm test") || d.Drop(blog, "npm test") || len(d.Suites) != 1 || d.Drop(shop, "npm test") {
		t.Errorf("%+v", d.Suites)
	}
	if err := os.WriteFile(file, []byte("tests:\n- folder: "+shop+"\n  commands: ['go test | tee x']\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(file); !errors.Is(err, errNotSimple) {
		t.Errorf("%v", err)
	}
}
