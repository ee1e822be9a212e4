package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kept fails unless the program has kept something of each kind that is made of what the
// server said or a session holds, with a placeholder where a canary was.
func (l *leaky) kept(t *testing.T, data string) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(data, "evolve.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for what, query := range map[string]string{
		"commands":                   `SELECT count(*) FROM acts WHERE instr(body, '"ran"') AND instr(body, '[redacted:')`,
		"changed lines":              `SELECT count(*) FROM acts WHERE instr(body, '"added":"') AND instr(body, '[redacted:')`,
		"refusals":                   `SELECT count(*) FROM acts WHERE instr(body, '"said":"') AND instr(body, '[redacted:')`,
		"cases of hooks":             `SELECT count(*) FROM hook_cases WHERE instr(input, '[redacted:')`,
		"readings":                   `SELECT count(*) FROM readings WHERE instr(body, CAST('[redacted:' AS BLOB))`,
		"replies":                    `SELECT count(*) FROM completions WHERE instr(body, '[redacted:')`,
		"the second reader's reply":  `SELECT count(*) FROM completions WHERE instr(body, '1 | yes | ') AND instr(body, '[redacted:')`,
		"candidates with its reason": `SELECT count(*) FROM candidates WHERE instr(body, 'second-reader') AND instr(body, '[redacted:')`,
		"trial installs":             `SELECT count(*) FROM installs WHERE outcome <> ''`,
	} {
		var n int
		if err := db.QueryRow(query).Scan(&n); err != nil || n == 0 {
			t.Errorf("%s: %d, %v: this test shows less than it says", what, n, err)
		}
	}
	probes, err := filepath.Glob(filepath.Join(data, "probes", "*", "approved.json"))
	if err != nil || len(probes) != 1 {
		t.Fatalf("probes in %q, %v", probes, err)
	}
	text, err := os.ReadFile(probes[0])
	if err != nil || strings.Count(string(text), "[redacted:") < 4 {
		t.Errorf("probes without placeholders, %v: %s", err, text)
	}
	if l.second == 0 {
		t.Error("the second reader was asked about nothing")
	}
}
