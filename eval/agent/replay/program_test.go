package replay

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

func TestFind(t *testing.T) {
	script := "#!/usr/bin/env node\n"
	npm := tree(t, map[string]string{
		"node_modules/@vendor/cli/bin/cli.js*": script, "node_modules/.bin/cli@": "../@vendor/cli/bin/cli.js",
		"node_modules/node-linux/bin/node*": "\x7fELF", "node_modules/.bin/node@": "../node-linux/bin/node",
		"native/cli*": "\x7fELF", "native/data": "x", "bin/cli*": "\x7fELF", "bin/other*": "x", "link@": "native/cli", "plain": "x",
		"nvm/v22/bin/node*": "\x7fELF", "nvm/v22/include/node/node.h": "x", "nvm/v22/lib/node_modules/cli/cli.js*": script,
		"nvm/v22/bin/cli@": "../lib/node_modules/cli/cli.js", "sh/cli*": "#!/bin/sh\n",
	})
	npm, err := filepath.EvalSymlinks(npm)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(npm, "nvm/v22/bin"))
	at := func(names ...string) (paths []string) {
		for _, n := range names {
			paths = append(paths, filepath.Join(npm, n))
		}
		return paths
	}
	for _, c := range []struct {
		given, name, path string
		dirs, readable    []string
	}{
		{"node_modules/.bin/cli", "", "node_modules/@vendor/cli/bin/cli.js", at("node_modules/node-linux/bin"), at("node_modules")},
		{"link", "", "native/cli", nil, at("native")},
		{"bin/cli", "", "bin/cli", nil, at("bin/cli")}, // not the whole bin
		{"", "cli", "nvm/v22/lib/node_modules/cli/cli.js", at("nvm/v22/bin"), at("nvm/v22/lib/node_modules", "nvm/v22")},
		{"sh/cli", "", "sh/cli", nil, at("sh")}, // its interpreter is the system's
	} {
		cfg := Config{}
		if c.given != "" {
			cfg.Path = at(c.given)[0]
		}
		p, err := Find(cfg, c.name)
		if err != nil {
			t.Errorf("%s: %v", c.given, err)
			continue
		}
		if p.Path != at(c.path)[0] || !slices.Equal(p.Dirs, c.dirs) || !slices.Equal(p.Readable, c.readable) {
			t.Errorf("%s: %+v", c.given, p)
		}
	}
	for given, want := range map[string]string{"gone": "no such file", "plain": "is no program", "native": "is no program"} {
		if _, err := Find(Config{Path: at(given)[0]}, "x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", given, err, want)
		}
	}
	if _, err := Find(Config{}, "no-such-cli"); err == nil || !strings.Contains(err.Error(), "no program no-such-cli is on the PATH") {
		t.Errorf("%v", err)
	}
}

func TestStageSandbox(t *testing.T) {
	ws := t.TempDir()
	s := open(t, eval.Task{Case: &eval.Case{}, Workspace: ws}, Layout{Program: Program{Readable: []string{"/opt/cli"}}})
	box := s.Sandbox("api.example.com:443")
	if !slices.Equal(box.Readable, []string{"/opt/cli"}) || !slices.Equal(box.Hosts, []string{"api.example.com:443"}) ||
		!slices.Contains(box.Writable, s.Root) || !slices.Contains(box.Writable, s.Workspace) || len(box.Writable) != 2 {
		t.Errorf("%+v", box)
	}
	if _, err := os.Stat(s.Workspace); err != nil {
		t.Error(err)
	}
}
