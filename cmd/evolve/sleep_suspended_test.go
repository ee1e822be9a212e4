//go:build unix

package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/store/lock"
	"github.com/skill-evolve/evolve/tournament/sleep"
	"github.com/skill-evolve/evolve/tournament/status"
)

// In a process that a test starts, a variable sets how long nights hold the
// cycle.
var _ = func() error {
	d, err := time.ParseDuration(os.Getenv("EVOLVE_TEST_LEASE"))
	if err == nil {
		nightLease = d
	}
	return err
}()

// A turnstile is a server before the station's that holds back one call of
// the agent: its caller waits, and the test knows that.
type turnstile struct {
	calls   atomic.Int64 // of the agent
	hold    atomic.Int64 // the one that is held back; 0 for none
	held    chan struct{}
	release chan struct{}
}

func newTurnstile(s *station) *turnstile {
	g := &turnstile{held: make(chan struct{}), release: make(chan struct{})}
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the caller is gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte("sim-task")) && g.calls.Add(1) == g.hold.Load() {
			close(g.held)
			<-g.release
		}
		s.world.ServeHTTP(rw, r)
	}))
	s.t.Cleanup(srv.Close)
	s.url = srv.URL + "/v1"
	return g
}

// TestSuspendedNight: a night is suspended, and its lease expires: another
// process continues it, run and all, to the end. The first one resumes,
// reports that it was taken over, and neither makes a call nor installs
// anything.
//
// It is suspended while it waits for the answer to its only call, so that its
// calls do not depend on timing.
func TestSuspendedNight(t *testing.T) {
	s := newStation(t, 0)
	gate := newTurnstile(s)
	live := filepath.Join(s.skills, s.cases[0].Skill, "SKILL.md")
	seed, err := os.ReadFile(live)
	if err != nil {
		t.Fatal(err)
	}
	night := func(home string) *exec.Cmd {
		c := s.night(home)
		c.Args = append(c.Args, "--concurrency", "1")
		return c
	}
	if out, err := night(s.restless()).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	paid := gate.calls.Load()
	want, err := os.ReadFile(live)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(want, seed) {
		t.Fatal("the night that nobody stopped installed nothing")
	}
	if err := os.WriteFile(live, seed, 0o644); err != nil {
		t.Fatal(err)
	}

	home := s.restless()
	var errs bytes.Buffer
	first := night(home)
	first.Stderr = &errs
	const lease = 100 * time.Millisecond
	first.Env = append(first.Env, "EVOLVE_TEST_LEASE="+lease.String())
	gate.hold.Store(paid + 40)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	defer first.Process.Kill()
	ended := make(chan error, 1)
	go func() { ended <- first.Wait() }()
	select {
	case <-gate.held:
	case err := <-ended:
		t.Fatalf("the night ended before its call %d: %v: %s", gate.hold.Load()-paid, err, errs.String())
	}
	// If it were stopped while it renews its lease, it would keep the store
	// locked for all others: then it runs a little further.
	stop := func() error {
		signalled(t, first, syscall.SIGSTOP)
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
		signalled(t, first, syscall.SIGCONT)
	}
	<-time.After(lease) // its lease is not only over by our word, but by its own clock too
	var out, said bytes.Buffer
	second := night(home)
	second.Stdout, second.Stderr = &out, &said
	if err := second.Run(); err != nil {
		t.Fatalf("the one that goes on: %v: %s%s", err, said.String(), out.String())
	}
	var r status.Night
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(live); err != nil || !bytes.Equal(text, want) {
		t.Errorf("it came to another end than a night that nobody stopped (%v): %+v", err, r.Steps)
	}
	before := gate.calls.Load()
	if twice := before - 2*paid; twice != 1 {
		t.Errorf("%d calls more than in a night that nobody stopped, want the one that was under way", twice)
	}
	close(gate.release)
	signalled(t, first, syscall.SIGCONT)
	if err := <-ended; err == nil || first.ProcessState.ExitCode() != exitFailed {
		t.Errorf("the one that came back: %v", err)
	}
	if got := errs.String(); strings.Count(got, lock.ErrLost.Error()) != 1 {
		t.Errorf("it says %q", got)
	}
	if more := gate.calls.Load() - before; more > 0 {
		t.Errorf("it asked %d times more", more)
	}
	db := s.open(home)
	defer db.Close()
	nights, err := sleep.Nights(t.Context(), db, 0)
	if err != nil || len(nights) != 1 || nights[0].Ended.IsZero() || nights[0].TakenOver != 1 {
		t.Errorf("nights %+v, %v; want the one, ended", nights, err)
	}
}

// signalled sends a signal that stops a process, or lets it go on, and waits until all
// of its threads have done so.
func signalled(t *testing.T, c *exec.Cmd, sig syscall.Signal) {
	t.Helper()
	if err := c.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	flag := syscall.WUNTRACED
	if sig == syscall.SIGCONT {
		flag = syscall.WCONTINUED
	}
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(c.Process.Pid, &status, flag, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			t.Fatal(err)
		case status.Exited() || status.Signaled():
			t.Fatalf("the process ended: %v", status)
		default:
			return
		}
	}
}
