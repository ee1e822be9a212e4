package pi

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// script writes a program into dir.
func script(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// The program's first line asks for whatever node comes first on PATH; the one
// beside it is its own.
func TestNodeBesideTheProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no shell scripts")
	}
	tell := "#!/bin/sh\ncase $1 in --version) echo v%;; *) echo 9.9.9;; esac\n"
	node := func(major string) string { return strings.Replace(tell, "%", major, 1) }
	for name, c := range map[string]struct {
		beside, onPath string // versions; "" is none
		err            string
	}{
		"beside":         {beside: "22.1.0", onPath: "20.1.0"},
		"on PATH":        {onPath: "24.0.0"},
		"too old":        {onPath: "20.1.0", err: "needs Node 22"},
		"too old beside": {beside: "18.0.0", onPath: "24.0.0", err: "needs Node 22"},
		"none":           {err: "needs Node 22"},
	} {
		t.Run(name, func(t *testing.T) {
			bin, path := t.TempDir(), t.TempDir()
			t.Setenv("PATH", path+":/usr/bin:/bin")
			if c.onPath == "" {
				t.Setenv("PATH", path)
			} else {
				script(t, path, "node", node(c.onPath))
			}
			if c.beside != "" {
				script(t, bin, "node", node(c.beside))
			}
			file := script(t, bin, "pi", "#!/usr/bin/env node\n")
			p, err := find(t.Context(), replay.Config{Path: file})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("err = %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if p.version != "9.9.9" || filepath.Base(p.exec) != "node" || len(p.args("x")) != 2 {
				t.Errorf("program = %+v", p)
			}
		})
	}
}

func TestFindProgram(t *testing.T) {
	dir := t.TempDir()
	native := script(t, dir, "pi", "#!/bin/sh\necho 1.2.3\necho more\n")
	broken := script(t, dir, "broken", "#!/bin/sh\necho no >&2\nexit 3\n")
	silent := script(t, dir, "silent", "#!/bin/sh\n")
	p, err := find(t.Context(), replay.Config{Path: native})
	if err != nil || p.version != "1.2.3" || len(p.prefix) > 0 {
		t.Errorf("program = %+v, %v", p, err)
	}
	t.Setenv("PATH", t.TempDir())
	for path, want := range map[string]string{
		"":                           Install,
		filepath.Join(dir, "nosuch"): Install,
		broken:                       "code 3: no",
		silent:                       "does not say",
	} {
		if _, err := find(t.Context(), replay.Config{Path: path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: err = %v, want %q", path, err, want)
		}
	}
}

func TestIdentityShowsNoSecret(t *testing.T) {
	native := script(t, t.TempDir(), "pi", "#!/bin/sh\necho 1.2.3\n")
	made := func(value string) string {
		a, err := New(t.Context(), replay.Config{Path: native, Model: "m", BaseURL: "http://127.0.0.1:1/v1",
			Credentials: []string{"OPENAI_API_KEY=sk-0123456789"}, Env: []string{"EXTRA=" + value}})
		if err != nil {
			t.Fatal(err)
		}
		id := a.Identity()
		if id.Backend != "pi" || id.Version != "1.2.3" || id.Model != "m" || strings.Contains(id.Params, "sk-") || strings.Contains(id.Params, value) {
			t.Errorf("identity = %+v", id)
		}
		if err := a.Ping(t.Context()); err == nil || strings.Contains(err.Error(), "sk-") {
			t.Errorf("ping = %v, want that nothing listens there", err)
		}
		return id.Params
	}
	if made("password-one") == made("password-two") {
		t.Error("another variable is the same identity")
	}
}
