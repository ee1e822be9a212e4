package main

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLandedData works on a data folder that the program of schema 12 left behind:
// a search, a proof, an installation, a rollback and an installation again. Its
// history is told as it was, and goes both ways from there.
func TestLandedData(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the whole program")
	}
	home := t.TempDir()
	skillFile := filepath.Join(home, ".claude", "skills", "dataviz", "SKILL.md")
	v1, err := os.ReadFile("testdata/landed/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	putFile(t, skillFile, v1)
	putFile(t, filepath.Join(home, "evolve", "config.yaml"), []byte("demo: true\nagent: simulated\n"))
	unpackLanded(t, filepath.Join(home, "evolve", "evolve.db"), home)
	t.Setenv("LC_ALL", "C.UTF-8")
	t.Setenv("HOME", home)
	t.Setenv("EVOLVE_HOME", filepath.Join(home, "evolve"))
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(home, ".claude"))

	says := func(want string, args ...string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, strings.NewReader(""), &stdout, &stderr); code != 0 {
			t.Fatalf("evolve %s: exit %d\n%s", strings.Join(args, " "), code, stderr.String())
		}
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("evolve %s: no %q in\n%s", strings.Join(args, " "), want, stdout.String())
		}
	}
	lives := func(version, sha string) {
		t.Helper()
		says("● "+version+"  "+sha, "log", "dataviz")
		says(`"sha256": "`+sha, "status", "--json")
	}
	const spent = `"rollouts": 261`
	says("dataviz   105  67  64%    v1 proven", "status")
	says("e = 59.2 on 15 cases (8 won, 0 lost, 7 tied)", "log", "dataviz")
	says(spent, "report", "last", "--json")
	says("101", "cases", "list", "dataviz")
	says("Charts have a long history", "show", "dataviz@v0")
	says("+", "diff", "dataviz@v0", "dataviz@v1")
	lives("v1", v1SHA)

	says("v0", "rollback", "dataviz")
	v0, err := os.ReadFile(skillFile)
	if err != nil || bytes.Equal(v0, v1) {
		t.Fatalf("rollback left the newer text (%v)", err)
	}
	lives("v0", v0SHA)
	says("v1", "promote", "dataviz@v1", "--yes")
	if got, err := os.ReadFile(skillFile); err != nil || !bytes.Equal(got, v1) {
		t.Fatalf("promote put another text there (%v):\n%s", err, got)
	}
	lives("v1", v1SHA)
}

const v0SHA, v1SHA = "7e4da275e804", "5cabbf3673c7"

// unpackLanded writes the stored database to path, with home in the place of the
// folder where it was made.
func unpackLanded(t *testing.T, path, home string) {
	t.Helper()
	packed, err := os.ReadFile("testdata/landed/evolve.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	putFile(t, path, raw)
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, column := range []string{"sessions.path", "sessions.head", "invocations.path", "cursors.path", "installs.path", "installed.path", "homes.link", "homes.path"} {
		table, name, _ := strings.Cut(column, ".")
		if _, err := db.Exec("UPDATE "+table+" SET "+name+" = replace("+name+", '/home/you/demo', ?)", home); err != nil {
			t.Fatal(err)
		}
	}
}

// putFile writes a file and the folders above it.
func putFile(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
