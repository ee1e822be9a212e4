package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest/ingest"
)

// No byte of a secret in source.session or source.turn gets into the database.
func TestImportSource(t *testing.T) {
	claude, home := person(t), t.TempDir()
	secret := "ghp_" + strings.Repeat("9zY8xW7vU6", 4)
	file := filepath.Join(t.TempDir(), "cases.jsonl")
	line := `{"id":"c-1","skill":"dataviz","prompt":"p","checks":[{"type":"contains","value":"x"}],"split":"","source":{"agent":"claude","session":"` + secret + `","turn":"t ` + secret + `"}}`
	if err := os.WriteFile(file, []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := runHere(t, home, "cases", "import", file, "--json", "--claude-home", claude)
	var r ingest.Import
	if err := json.Unmarshal([]byte(out), &r); code != exitDone || err != nil || r.Redacted != 2 || r.Added != 1 {
		t.Fatalf("exit %d, %v: %s%s", code, err, out, errs)
	}
	if where := bytesUnder(t, home, []string{secret}); len(where) != 0 {
		t.Errorf("the secret stands in %v", where)
	}
}
