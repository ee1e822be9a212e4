package skill

import (
	"os"
	"path/filepath"
	"testing"
)

// TestIsScript: a path without an ending of a script is a hook's if its file is one.
func TestIsScript(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"rules.json": {`{"version": 1, "rules": []}`, true},
		"other.json": {`{"hooks": {}}`, false},
		"guard":      {"#!/usr/bin/env python3\n", true},
		"notes":      {"no script\n", false},
		"x.txt":      {"#!/bin/sh\n", false},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if IsScript(path) != c.want {
			t.Errorf("%s: not %v", name, c.want)
		}
	}
	for typed, want := range map[string]bool{filepath.Join(dir, "gone.json"): false, filepath.Join(dir, "gone.sh"): true, dir + "/": false, "rules.json": false, "hook:~:rules.json": true} {
		if IsScript(typed) != want {
			t.Errorf("%s: not %v", typed, want)
		}
	}
}
