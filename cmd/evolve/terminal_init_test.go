//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest/consent"
)

// newcomer is a home with sessions and an agent, and where its settings would be.
func newcomer(t *testing.T, s *station) (home string, env []string) {
	t.Helper()
	home = s.home()
	for _, name := range []string{"projects.yaml", "evolve.db", "evolve.db-wal", "evolve.db-shm"} {
		if err := os.Remove(filepath.Join(home, name)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	strangers(t, home, 3)
	putFile(t, filepath.Join(home, "bin", "claude"), []byte("#!/bin/sh\necho '2.1.329 (Claude Code)'\n"))
	if err := os.Chmod(filepath.Join(home, "bin", "claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	return home, []string{"PATH=" + filepath.Join(home, "bin") + ":/usr/bin:/bin", "CLAUDE_CODE_OAUTH_TOKEN=token", "XDG_CONFIG_HOME=" + filepath.Join(home, "xdg")}
}

// TestTerminalInit: four questions, a line each, on a short screen; then what follows.
func TestTerminalInit(t *testing.T) {
	t.Parallel()
	s := newStation(t, 0)
	home, env := newcomer(t, s)
	p := s.sit(100, home, []string{"init"}, env...)
	seen := p.await(`Your answer:\n`)
	found, _, ok := strings.Cut(seen, "Which projects may evolve read?")
	if n := strings.Count(found, "\n"); !ok || n > 15 || !strings.Contains(found, "claude  6 sessions, the oldest of") || !strings.Contains(found, "$CLAUDE_CODE_OAUTH_TOKEN is set") {
		t.Errorf("%d lines before the first question:\n%s", n, found)
	}
	p.press("3\n")
	p.await(`Which agent answers in replays: claude\? A model may follow its name. \[claude\]`)
	p.press("gpt\n")
	p.await(`"gpt" is none of them.\n(?s).*Which agent answers`)
	p.press("claude claude-sonnet-5\n")
	p.await(`How many dollars, at list price, may a night take at most\? \[2\]`)
	p.press("much\n")
	p.await(`"much" is no number of dollars.`)
	p.press("0.5\n")
	p.await(`When shall a night begin every day: a time such as 03:17, or off\? \[off\]`)
	p.press("\n")
	end := p.leaves(exitDone)
	has(t, end, `^writes .*/config.yaml$`)
	has(t, end, `^next: `)
	text, err := os.ReadFile(filepath.Join(home, "config.yaml"))
	if err != nil || !strings.HasSuffix(strings.ReplaceAll(string(text), "\n# The agent's model.\n", "\n"), "agent: claude\n\nmodel: claude-sonnet-5\n\n# Dollars at list price that a night may take at most; 0 is no cap. Where no price is known,\n# night_max_tokens holds: by default the tokens of 40 of your median sessions.\nnight_max_cost_usd: 0.5\n") {
		t.Errorf("%s, %v", text, err)
	}
	d, err := consent.Read(filepath.Join(home, "projects.yaml"))
	if err != nil || d.All || !d.MayRead([]string{"/home/p01"}) || d.MayRead([]string{"/home/p03"}) {
		t.Errorf("%+v, %v", d, err)
	}
	p = s.sit(100, home, []string{"init"}, env...) // nothing is asked again
	has(t, p.leaves(exitDone), `^set +projects are chosen; agent claude claude-sonnet-5; \$0\.50 a night`)
}

// TestTerminalInitStops: Ctrl-C at any question leaves nothing behind, and so does the end of
// the input.
func TestTerminalInitStops(t *testing.T) {
	for name, keys := range map[string][]string{
		"first":  {ctrlC},
		"second": {"a\n", ctrlC},
		"third":  {"a\n", "\n", ctrlC},
		"last":   {"a\n", "\n", "\n", ctrlC},
		"input":  {"a\n", "\n", "\x04"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStation(t, 0)
			home, env := newcomer(t, s)
			p := s.sit(100, home, []string{"init"}, env...)
			asked := []string{`Your answer:\n`, `Which agent answers`, `How many dollars`, `When shall a night begin`}
			for i, key := range keys {
				p.await(asked[i])
				p.press(key)
			}
			has(t, p.leaves(exitInterrupted), `^evolve: interrupted: nothing was written$`)
			for _, name := range []string{"projects.yaml", "config.yaml", "evolve.db"} {
				if _, err := os.Stat(filepath.Join(home, name)); err == nil {
					t.Errorf("%s was written", name)
				}
			}
		})
	}
}
