//go:build unix

package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/tournament/sleep"
)

// In a process that a test starts, nights keep the cycle for as long as it says.
var _ = func() error {
	d, err := time.ParseDuration(os.Getenv("EVOLVE_TEST_LEASE"))
	if err == nil {
		nightLease = d
	}
	return err
}()

// TestSuspendedNight: a night is suspended, and its lease runs out: another process
// goes on with it, run and all, to the end. The first one comes back, says that it was
// taken over, and neither asks nor installs anything.
func TestSuspendedNight(t *testing.T) {
	s := newStation(t, 2*time.Millisecond)
	live := filepath.Join(s.skills, s.cases[0].Skill, "SKILL.md")
	seed, err := os.ReadFile(live)
	if err != nil {
		t.Fatal(err)
	}
	var whole bytes.Buffer
	c := s.night(s.restless())
	c.Stdout = &whole
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	paid := s.world.AgentCalls.Load()
	want, err := os.ReadFile(live)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(live, seed, 0o644); err != nil {
		t.Fatal(err)
	}

	home := s.restless()
	var errs bytes.Buffer
	first := s.night(home)
	first.Stderr = &errs
	first.Env = append(first.Env, "EVOLVE_TEST_LEASE=1s")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); s.world.AgentCalls.Load() < paid+40; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the night asks nobody")
		}
	}
	defer first.Process.Kill()
	// Stopped in the middle of a write it would keep the store locked, which nobody
	// else can do anything about: then it goes on a little further.
	stop := func() error {
		if err := first.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond) // until each of its threads stands still
		db, err := sql.Open("sqlite3", "file:"+filepath.Join(home, "evolve.db")+"?_busy_timeout=50")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		_, err = db.ExecContext(t.Context(), `UPDATE sleep_lease SET expires = 0`)
		return err
	}
	for tries := 0; ; tries++ {
		err := stop()
		if err == nil {
			break
		}
		if tries == 100 {
			t.Fatal(err)
		}
		if err := first.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(5+tries) * time.Millisecond)
	}
	time.Sleep(time.Second) // its lease is not only over by our word
	var out, said bytes.Buffer
	second := s.night(home)
	second.Stdout, second.Stderr = &out, &said
	if err := second.Run(); err != nil {
		t.Fatalf("the one that goes on: %v: %s%s", err, said.String(), out.String())
	}
	var r nightReport
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(live); err != nil || !bytes.Equal(text, want) {
		t.Errorf("it came to another end than a night that nobody stopped (%v): %+v", err, r.Steps)
	}
	before := s.world.AgentCalls.Load()
	if twice := before - 2*paid; twice > inFlight*2 {
		t.Errorf("%d calls more than in a night that nobody stopped", twice)
	}
	if err := first.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := first.Wait(); err == nil || first.ProcessState.ExitCode() != exitFailed {
		t.Errorf("the one that came back: %v", err)
	}
	if got := errs.String(); strings.Count(got, sleep.ErrLost.Error()) != 1 {
		t.Errorf("it says %q", got)
	}
	if more := s.world.AgentCalls.Load() - before; more > 0 {
		t.Errorf("it asked %d times more", more)
	}
	db := s.open(home)
	defer db.Close()
	nights, err := sleep.Nights(t.Context(), db, 0)
	if err != nil || len(nights) != 1 || nights[0].Ended.IsZero() || nights[0].TakenOver != 1 {
		t.Errorf("nights %+v, %v; want the one, ended", nights, err)
	}
}
