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

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// TestLandedData works on a data folder that the program of schema 12 left
// behind: a search, a proof, an installation, a rollback and an installation
// again. Its history is read correctly, and continues both ways from there.
func TestLandedData(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the whole program")
	}
	says, home, v1 := landed(t)
	skillFile := landedSkill(home)
	lives := func(version, sha string) {
		t.Helper()
		says("* "+version+"  "+sha, "log", "dataviz")
		says(`"sha256": "`+sha, "status", "--json")
	}
	const spent = `"rollouts": 261`
	says("dataviz   105  67  64 %   v1 better", "status")
	says("at most 1 time in 59 by chance on 15 cases (8 won, 0 lost, 7 tied)", "log", "dataviz")
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
	says("v1", "promote", "dataviz@v1", "--unproven")
	if got, err := os.ReadFile(skillFile); err != nil || !bytes.Equal(got, v1) {
		t.Fatalf("promote put another text there (%v):\n%s", err, got)
	}
	lives("v1", v1SHA)
}

// TestLandedNight: nights of an evolve that certified versions and proposed to retire
// skills are shown, and one that was at it ends.
func TestLandedNight(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the whole program")
	}
	says, home, v1 := landed(t)
	db, err := sql.Open("sqlite3", filepath.Join(home, "evolve", "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	for file, insert := range map[string]string{"night": "nights (id, began, body) VALUES ('20261122-031700-3', 1795317420000000, ?)", "state": "sleep_states (skill, body) VALUES ('dataviz', ?)"} {
		body, err := os.ReadFile("testdata/landed/" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("INSERT INTO "+insert, strings.ReplaceAll(string(body), v1SHA, skill.HashText(v1))); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	const alarm = "alarm: on simulated/next: worse than the version before it"
	says("dataviz: "+alarm, "sleep", "status")
	says(`"rollouts": 27`, "sleep", "status", "--json")
	says("v1 better", "status")
	says("at most 1 time in 59 by chance", "log", "dataviz")
	says(`"versions"`, "log", "dataviz", "--json")
	says(`"spent"`, "report", "night", "--json")
	says("certify  skipped  no longer done", "sleep", "run", "--max-rollouts", "1")
	says("27 rollouts", "sleep", "status")
}

const v0SHA, v1SHA = "7e4da275e804", "5cabbf3673c7"

func landedSkill(home string) string {
	return filepath.Join(home, ".claude", "skills", "dataviz", "SKILL.md")
}

// landed is a home with the stored database and its live text; says runs a
// command, and fails the test unless its output holds want.
func landed(t *testing.T) (says func(want string, args ...string), home string, v1 []byte) {
	home = t.TempDir()
	v1, err := os.ReadFile("testdata/landed/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	putFile(t, landedSkill(home), v1)
	putFile(t, filepath.Join(home, "evolve", "config.yaml"), []byte("demo: true\nagent: simulated\n"))
	putFile(t, filepath.Join(home, backend.DemoMark), nil)
	unpackLanded(t, filepath.Join(home, "evolve", "evolve.db"), home)
	t.Setenv("LC_ALL", "C.UTF-8")
	t.Setenv("HOME", t.TempDir())
	t.Setenv("EVOLVE_HOME", filepath.Join(home, "evolve"))
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(home, ".claude"))

	says = func(want string, args ...string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), machine{}, args, strings.NewReader(""), &stdout, &stderr); code != 0 {
			t.Fatalf("evolve %s: exit %d\n%s", strings.Join(args, " "), code, stderr.String())
		}
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("evolve %s: no %q in\n%s", strings.Join(args, " "), want, stdout.String())
		}
	}
	return says, home, v1
}

// unpackLanded writes the stored database to path, and replaces the folder in
// which it was made by home.
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
