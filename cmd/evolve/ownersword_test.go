package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/guard"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/owner"
	"github.com/spf13/cobra"
)

// ownersLines are command lines that only the owner may give, --yes among
// them.
var ownersLines = []string{
	"approve charts@abc", "approve charts@abc --yes",
	"review charts", "review charts --json",
	"kernel confirm charts",
	"kernel probes charts", "kernel probes charts --approve",
	"sessions purge --all --yes", "sessions purge 4f1c", "pin charts --off",
	"hooks install", "hooks install --json",
	"projects tests --confirm make", "projects tests . --confirm make --json",
	"projects allow --all", "projects allow .", "projects allow . --to openai --json",
	"privacy agree openai", "privacy agree openai judge --json",
	"harvest --moments all", "harvest --moments off --again", "corrections --read --sandbox none", "hooks learn --sandbox none", "suggest charts --sandbox none",
	"cases import cases.jsonl --trust-checks", "cases edit charts c-1 --trust-checks",
	"--skill charts --sandbox none", "run --skill charts --sandbox=none --dry-run", "compare charts --sandbox none", "sleep run --sandbox none",
	"sleep install --at 03:00 --no-ping -- --sandbox none",
	"run --skill charts --setup make", "compare charts --setup=make", "check charts --patch x.md --sandbox none", "check charts --patch x.md --setup make", "sleep run --setup-network registries", "sleep install --at 03:00 --no-ping -- --setup make",
	"try charts", "try charts@abc --yes", "sleep run --try", "sleep install --at 03:00 --no-ping -- --try",
	"promote charts --force", "promote charts --force --unproven", "rollback charts --force",
	"init", "init --projects all --nights off --yes",
	"fleet serve --listen nowhere", "fleet invite build", "worker --join none.json",
	"promote charts --for-everyone", "promote charts --branch x --with-quotes",
}

// Inside a recorded session of each agent, no command that only the owner may
// give is carried out, and no file is made.
func TestOwnersWord(t *testing.T) {
	for _, agent := range []string{"claude", "codex", "pi", "copilot"} {
		text, err := os.ReadFile("internal/owner/testdata/" + agent + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		env := map[string]string{}
		for line := range strings.Lines(string(text)) {
			if k, v, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(line, "PROC ") {
				env[k] = v
			}
		}
		typist := owner.Find(func(k string) string { return env[k] }, nil)
		if typist == nil {
			t.Fatalf("%s: no session is found", agent)
		}
		for _, line := range ownersLines {
			home := t.TempDir()
			t.Setenv("HOME", home)
			t.Setenv("EVOLVE_HOME", filepath.Join(home, "data"))
			var out, errs bytes.Buffer
			code := run(t.Context(), machine{typist: typist}, strings.Fields(line), strings.NewReader("y\n"), &out, &errs)
			if code != exitRefused || !strings.Contains(errs.String(), "typed in a session of "+typist.Name) || !strings.Contains(errs.String(), "in a terminal of your own") {
				t.Errorf("%s: evolve %s: exit %d, %s", agent, line, code, &errs)
			}
			if left, _ := os.ReadDir(home); len(left) > 0 {
				t.Errorf("%s: evolve %s left %v", agent, line, left)
			}
			errs.Reset()
			if run(t.Context(), machine{}, strings.Fields(line), strings.NewReader(""), &out, &errs); strings.Contains(errs.String(), "typed in a session") {
				t.Errorf("a person: evolve %s: %s", line, &errs)
			}
		}
	}
}

// Each command that may be the owner's alone has a line above.
func TestOwnersLinesAreAll(t *testing.T) {
	seen := map[string]bool{}
	var walk func(c *cobra.Command)
	root := newRoot(newGlobal(nil, new(bytes.Buffer), new(bytes.Buffer)))
	walk = func(c *cobra.Command) {
		path := strings.TrimSpace(strings.TrimPrefix(c.CommandPath(), "evolve"))
		needs := guard.Commands[path] != ""
		for _, o := range guard.Flags {
			needs = needs || c.Flags().Lookup(o.Name) != nil && path != "" && path != "cases generate"
		}
		for _, line := range ownersLines {
			if needs && (strings.HasPrefix(line, path+" ") || line == path) {
				seen[path], needs = true, false
			}
		}
		if needs {
			t.Errorf("no line tries `evolve %s`", path)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	for path := range guard.Commands {
		if !seen[path] {
			t.Errorf("there is no command %q", path)
		}
	}
}

// config.yaml is no way around the flag.
func TestSandboxOfTheConfiguration(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("EVOLVE_HOME", filepath.Join(home, "data"))
	allowEverything(t, filepath.Join(home, "data"))
	if err := os.MkdirAll(filepath.Join(home, ".claude", "skills", "charts"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		filepath.Join(home, "data", "config.yaml"):                     "sandbox: none\nagent: command\ncommand: [/bin/true]\n",
		filepath.Join(home, ".claude", "skills", "charts", "SKILL.md"): "---\nname: charts\ndescription: Draws charts.\n---\n\nDraw.\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{"--skill charts --no-harvest", "--skill charts --dry-run"} {
		var out, errs bytes.Buffer
		code := run(t.Context(), machine{typist: &owner.Agent{Name: "Codex", Sign: "variable CODEX_CI"}}, strings.Fields(line), strings.NewReader(""), &out, &errs)
		if code != exitRefused || !strings.Contains(errs.String(), "without a sandbox is the owner's decision") {
			t.Errorf("evolve %s: exit %d, %s", line, code, &errs)
		}
	}
}
