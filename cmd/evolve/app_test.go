package main

import (
	"bytes"
	"path/filepath"
	"testing"
)

// testApp is an app with a home of its own and the sessions of testdata/home.
func testApp(t *testing.T) *global {
	t.Helper()
	home := t.TempDir()
	env := map[string]string{"EVOLVE_HOME": filepath.Join(home, "data"), "CLAUDE_CONFIG_DIR": "testdata/home/.claude"}
	allowEverything(t, env["EVOLVE_HOME"])
	a := newGlobal(bytes.NewReader(nil), new(bytes.Buffer), new(bytes.Buffer))
	a.Getenv = func(k string) string { return env[k] }
	t.Cleanup(func() {
		if err := a.close(); err != nil {
			t.Error(err)
		}
	})
	return a
}
