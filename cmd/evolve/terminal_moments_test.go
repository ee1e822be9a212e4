//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest/consent"
)

// TestTerminalMoments: the owner of sessions from before is asked once how much is kept of
// agents' work, in four lines; without an answer it is asked again, and nothing is kept.
func TestTerminalMoments(t *testing.T) {
	for _, k := range []struct {
		name string
		keys []string // each an answer
		want string   // what is noted; "": it will be asked again
		read string   // by that harvest
		code int
	}{
		{"all, old ones too", []string{"a\n"}, "all", "3", exitDone},
		{"all", []string{" N \n"}, "all", "0", exitDone},
		{"commands", []string{"y\n", "c\n"}, "commands", "0", exitDone},
		{"off", []string{"o\n"}, "off", "0", exitDone},
		{"no answer", []string{"\x04"}, "", "0", exitDone},
		{"later", []string{ctrlC}, "", "", exitInterrupted},
	} {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			s := newStation(t, 0)
			home := s.home()
			strangers(t, home, 2)
			has(t, s.sit(80, home, []string{"harvest"}).leaves(exitDone), `^3 new or changed sessions`)
			decided := func() string {
				t.Helper()
				d, err := consent.Read(filepath.Join(home, "projects.yaml"))
				if err != nil || !d.Asked() {
					t.Fatalf("%+v, %v", d, err)
				}
				if d.Moments == nil {
					return ""
				}
				return d.Moments.String()
			}
			if got := decided(); got != "all" {
				t.Errorf("a new data folder keeps %q", got)
			}
			allowEverything(t, home) // an older evolve wrote no more
			p := s.sit(80, home, []string{"harvest"})
			for i, keys := range k.keys {
				seen := p.await(`Your answer:\n`)
				if lines := strings.Count(strings.TrimSpace(seen), "\n"); i == 0 && (lines != 3 || !strings.Contains(seen, "redacted") || !strings.Contains(seen, "--moments")) {
					t.Errorf("%d lines:\n%s", lines+1, seen)
				}
				p.press(keys)
				if i+1 < len(k.keys) {
					p.await(`none of the answers`)
				}
			}
			if lines := p.leaves(k.code); k.read != "" {
				has(t, lines, `^`+k.read+` new or changed sessions`)
			}
			if got := decided(); got != k.want {
				t.Errorf("noted is %q, want %q", got, k.want)
			}
			p = s.sit(80, home, []string{"harvest"})
			if k.want == "" {
				p.await(`Your answer:\n`)
				p.press("o\n")
			}
			has(t, p.leaves(exitDone), `^0 new or changed sessions`)
			if info, err := os.Stat(filepath.Join(home, "projects.yaml")); err != nil || info.Mode().Perm() != 0o600 {
				t.Error(info, err)
			}
		})
	}
}
