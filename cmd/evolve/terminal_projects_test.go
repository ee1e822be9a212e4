//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/store"
)

// strangers fills a home with sessions in so many projects, one in the first, two in the
// second and so on, the last project's the newest.
func strangers(t *testing.T, home string, projects int) {
	t.Helper()
	for p := range projects {
		for n := range p + 1 {
			id := fmt.Sprintf("s-%02d-%02d", p+1, n)
			line := fmt.Sprintf(`{"type":"user","message":{"role":"user","content":"list the orders"},"uuid":"u","timestamp":"2026-11-%02dT10:00:%02d.000Z","cwd":"/home/p%02d","sessionId":"%s"}`+"\n", p+1, n, p+1, id)
			putFile(t, filepath.Join(home, ".claude", "projects", "p", id+".jsonl"), []byte(line))
		}
	}
}

// TestTerminalFirst: the first harvest asks once, and reads what it was allowed.
func TestTerminalFirst(t *testing.T) {
	for _, k := range []struct {
		name     string
		projects int
		keys     []string // each an answer to a question, and the end of that if it is not the first
		code     int
		read     int // sessions; -1: it will be asked again
		says     string
	}{
		{"all", 3, []string{"a\n"}, exitDone, 6, `^6 new or changed sessions`},
		{"one of them", 3, []string{"4\n", "none of the answers", "2\n"}, exitDone, 2, `^harvest: 4 sessions of 2 new projects were not read`},
		{"none", 3, []string{"n\n"}, exitDone, 0, `^harvest: 6 sessions of 3 new projects were not read`},
		{"from the whole list", 12, []string{"12\n", "none of the answers", "\n", "12  /home/p01 ", "12\n"}, exitDone, 1, `^1 new or changed sessions`},
		{"no answer", 3, []string{"\x04"}, exitUsage, -1, `^evolve: nothing new was read: you have not chosen yet`},
		{"later", 3, []string{ctrlC}, exitInterrupted, -1, `^evolve: interrupted`},
	} {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			s := newStation(t, 0)
			home := s.home()
			if err := os.Remove(filepath.Join(home, "projects.yaml")); err != nil {
				t.Fatal(err)
			}
			strangers(t, home, k.projects)
			p := s.sit(100, home, []string{"harvest"})
			for i, keys := range k.keys {
				if i%2 == 1 {
					p.await(keys + `(?s).*Your answer:\n`)
					continue
				}
				if seen := p.await(`Your answer:\n`); i == 0 && (!strings.Contains(seen, "on this machine only") || !strings.Contains(seen, "projects.yaml") || strings.Contains(seen, "and 2 more, with 3 sessions") != (k.projects == 12) ||
					!strings.Contains(seen, fmt.Sprintf("   1  /home/p%02d  %d sessions  last on 2026-11-%02d", k.projects, k.projects, k.projects))) {
					t.Errorf("asked:\n%s", seen)
				}
				p.press(keys)
			}
			has(t, p.leaves(k.code), k.says)
			d, err := consent.Read(filepath.Join(home, "projects.yaml"))
			if err != nil || d.Asked() != (k.read >= 0) {
				t.Errorf("%+v, %v", d, err)
			}
			db := s.open(home)
			all, err := db.Sessions(t.Context(), store.SessionFilter{})
			if e := db.Close(); err != nil || e != nil || len(all) != max(0, k.read) {
				t.Errorf("%d sessions are stored, %v, %v", len(all), err, e)
			}
			p = s.sit(100, home, []string{"harvest"})
			if k.read < 0 {
				p.await(`Your answer:\n`)
				p.press("a\n")
			}
			end := p.leaves(exitDone)
			if has(t, end, `^\d new or changed sessions`); k.read == 0 {
				has(t, end, "next: no session was read: `evolve projects list` shows")
			}
		})
	}
}

// TestTerminalNothing: without a session there is nothing to ask for.
func TestTerminalNothing(t *testing.T) {
	t.Parallel()
	s := newStation(t, 0)
	home := s.home()
	if err := os.Remove(filepath.Join(home, "projects.yaml")); err != nil {
		t.Fatal(err)
	}
	p := s.sit(80, home, []string{"harvest"})
	has(t, p.leaves(exitDone), `^0 new or changed sessions`)
	if _, err := os.Stat(filepath.Join(home, "projects.yaml")); err == nil {
		t.Error("a decision was written down that nobody made")
	}
}
