package fleetcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/fleet/fleettest"
	"github.com/skill-evolve/evolve/eval/fleet/watch"
	"github.com/skill-evolve/evolve/harvest/hook/kit"
	"github.com/skill-evolve/evolve/store/datadir"
)

var now = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// TestWords: a large fleet has a dozen lines, and those that get no jobs are among them; what
// a worker says of itself cannot move the cursor.
func TestWords(t *testing.T) {
	s := &watch.State{URL: "tls://build:4222", Jobs: 1, Results: 2}
	for i := range 30 {
		s.Workers = append(s.Workers, watch.Worker{ID: fmt.Sprintf("UAAAAAAA%02d", i), Name: fmt.Sprintf("build-%02d", i), Slots: 2, Busy: 1, Done: 7, Agents: []fleet.Agent{{Backend: "claude", Version: "2.1", Sandbox: "on"}}})
	}
	s.Workers[29].Why, s.Workers[29].Agents = "has claude 2.0, and this run needs 2.1\x1b[2J", nil
	s.Workers[28].Parked, s.Workers[28].Why = now.Add(time.Hour), "its plan is used up"
	for i := range 5 {
		s.Expiring = append(s.Expiring, watch.Member{Name: fmt.Sprint("old-", i), Expires: now})
	}
	got := words(s, now)
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if len(lines) > 15 || lines[0] != "29 workers at tls://build:4222: 30 of 60 slots busy" {
		t.Errorf("%d lines:\n%s", len(lines), got)
	}
	for _, want := range []string{"build-29", "build-28", "parked until", "has claude 2.0, and this run needs 2.1", "22 more: --json has all", "1 job not begun, 2 results not recorded yet", "the invitation of old-0 expires on 2026-03-02"} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "\x1b") {
		t.Errorf("it moves the cursor: %q", got)
	}
}

// TestPurgeOfFleetsThatAreAway: a purge says which fleets it could not reach, and remembers
// them for the next one; what has expired by itself is not asked about.
func TestPurgeOfFleetsThatAreAway(t *testing.T) {
	home := datadir.Dir(t.TempDir())
	m := Machine{Terminal: &term.Terminal{Now: time.Now}, Home: func() (datadir.Dir, error) { return home, nil }}
	if lines := m.Purge(t.Context()); len(lines) != 0 {
		t.Errorf("%q, and no fleet was ever used", lines)
	}
	file := filepath.Join(t.TempDir(), "desk.json")
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		err = (&fleet.Invitation{URL: "nats://127.0.0.1:1", Name: "desk", Role: fleet.RoleCoordinator, JWT: "x", Seed: fleettest.Seed()}).Write(out)
	}
	if err != nil {
		t.Fatal(err)
	}
	out.Close()
	for url, invitation := range map[string]string{"nats://127.0.0.1:1": file, "nats://gone:4222": filepath.Join(t.TempDir(), "lost.json")} {
		if err := (&backend.UsedFleet{Invitation: invitation, URL: url}).Note(home, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"old", "new"} { // of one file
		if err := (&backend.UsedFleet{Invitation: file, URL: "nats://127.0.0.1:1", IDs: []string{id}}).Note(home, nil); err != nil {
			t.Fatal(err)
		}
	}
	used, err := backend.UsedFleets(home, time.Now())
	if err != nil || !slices.ContainsFunc(used, func(u backend.UsedFleet) bool { return slices.Equal(u.IDs, []string{"new", "old"}) }) {
		t.Errorf("%+v, %v", used, err)
	}
	for range 2 {
		got := strings.Join(m.Purge(t.Context()), "\n")
		for _, want := range []string{"nats://127.0.0.1:1 still has what was put there (connect", "nats://gone:4222 still has what was put there (read the invitation", "expires within 7 days"} {
			if !strings.Contains(got, want) {
				t.Errorf("it does not say %q:\n%s", want, got)
			}
		}
	}
	m.Terminal = &term.Terminal{Now: func() time.Time { return time.Now().Add(9 * 24 * time.Hour) }}
	if lines := m.Purge(t.Context()); len(lines) != 0 {
		t.Errorf("%q, and all of it has expired", lines)
	}
}

// TestJob: what went wrong with a job is told from the log of this machine, the last lines of
// it, also while the fleet is away.
func TestJob(t *testing.T) {
	home := datadir.Dir(t.TempDir())
	var out, said strings.Builder
	tm := term.New(strings.NewReader(""), &out, &said, func(string) string { return "" }, time.Now)
	m := Machine{Terminal: &tm, Home: func() (datadir.Dir, error) { return home, nil }}
	for i := range 30 {
		for _, job := range []string{"3f9a1c20be47", "aaaaaaaaaaaa"} {
			if err := kit.Log(string(home), backend.FleetLog, now, fmt.Sprintf("given again: %s, because of reason %d", job, i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := m.job(t.Context(), filepath.Join(t.TempDir(), "none.json"), "3f9a1c20be47d0-1"); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != shownLog || lines[shownLog-1] != "2026-03-02T09:00:00Z given again: 3f9a1c20be47, because of reason 29" {
		t.Errorf("%q", lines)
	}
	if !strings.Contains(said.String(), "who has it is not known") {
		t.Errorf("it does not say that it could not ask: %q", said.String())
	}
}
