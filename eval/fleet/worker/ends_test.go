package worker

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/setup"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/fleet/fleettest"
	"github.com/skill-evolve/evolve/eval/fleet/server"
)

func TestDrain(t *testing.T) {
	s := fleettest.Serve(t)
	release := make(chan struct{})
	o := join(t, s.Join("w"), func(ctx context.Context, task eval.Task) (eval.Attempt, error) {
		<-release
		return says("did")(ctx, task)
	})
	o.Offer.Slots = 1
	r := start(t, o)
	b := lead(t, s)
	b.give("runs")
	b.until("it works", func(h *fleet.Hello) bool { return len(h.Running) == 1 })
	b.give("waits")
	b.until("the other waits", func(h *fleet.Hello) bool { return len(h.Queued) == 1 })
	close(r.drain)
	b.until("it drains", func(h *fleet.Hello) bool { return h.Draining && len(h.Queued) == 0 && len(h.Running) == 1 })
	waitFor(t, "one job is left", func() bool { return b.left() == 1 })
	close(release)
	if err := r.wait(); err != nil {
		t.Errorf("%v", err)
	}
	if got := b.result("runs").Attempt.Answer; got != "did runs" {
		t.Errorf("%q", got)
	}
	b.until("it has done one", func(h *fleet.Hello) bool { return h.Done == 1 && len(h.Running) == 0 })
}

// TestSecondSignal: what is under way does not keep a worker that must end at once.
func TestSecondSignal(t *testing.T) {
	s := fleettest.Serve(t)
	r := start(t, join(t, s.Join("w"), func(ctx context.Context, _ eval.Task) (eval.Attempt, error) {
		<-ctx.Done()
		return eval.Attempt{}, ctx.Err()
	}))
	b := lead(t, s)
	b.give("1")
	b.until("it works", func(h *fleet.Hello) bool { return len(h.Running) == 1 })
	close(r.drain)
	r.kill()
	if err := r.wait(); err != context.Canceled {
		t.Errorf("%v", err)
	}
	if b.left() != 1 {
		t.Errorf("%d jobs are left", b.left())
	}
}

// TestServerRestarts: a result that was paid for arrives, once.
func TestServerRestarts(t *testing.T) {
	s := fleettest.Serve(t)
	var calls atomic.Int32
	release := make(chan struct{})
	start(t, join(t, s.Join("w"), func(ctx context.Context, task eval.Task) (eval.Attempt, error) {
		calls.Add(1)
		<-release
		return says("did")(ctx, task)
	}))
	b := lead(t, s)
	b.give("1")
	b.until("it works", func(h *fleet.Hello) bool { return len(h.Running) == 1 })
	s.Stop()
	close(release)
	time.Sleep(300 * time.Millisecond) // the first tries fail; if they do not, the test shows less
	s.Restart()
	if r := b.result("1"); r.Attempt.Answer != "did 1" {
		t.Errorf("%+v", r)
	}
	waitFor(t, "no jobs are left", func() bool { return b.left() == 0 })
	b.give("2") // it still takes jobs
	b.result("2")
	if info, err := b.stream.Info(t.Context()); err != nil || info.State.Msgs != 2 || calls.Load() != 2 {
		t.Errorf("%d results of %d calls, %v", info.State.Msgs, calls.Load(), err)
	}
}

// TestRevoked: with the rights that a fleet gives, a worker works, until they are taken back.
func TestRevoked(t *testing.T) {
	f, err := server.Open(t.TempDir(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- f.Serve(ctx, server.Options{Listen: "127.0.0.1:0", Ready: func(*server.Served) { close(ready) }, Log: func(string) {}})
	}()
	t.Cleanup(func() { cancel(); <-ended })
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	as := func(name, role string) *fleet.Conn {
		in, _, err := f.Invite(name, role, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		c, err := fleet.Dial(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	o := join(t, as("w", fleet.RoleWorker), func(_ context.Context, task eval.Task) (eval.Attempt, error) {
		if err := os.WriteFile(filepath.Join(task.Workspace, "out"), []byte("made"), 0o600); err != nil {
			return eval.Attempt{}, err
		}
		return eval.Attempt{Answer: "did " + task.Case.Prompt + task.Case.Files["in"]}, nil
	})
	r := start(t, o)
	b := employ(t, as("lead", fleet.RoleCoordinator))
	b.until("hello", there)
	blobs, err := fleet.OpenBlobs(t.Context(), b.JS)
	if err != nil {
		t.Fatal(err)
	}
	files, err := blobs.Put(t.Context(), []byte(`{"in":"`+strings.Repeat("x", fleet.Inline)+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	b.give("1", func(j *fleet.Job) { j.Rights, j.Task.Files, j.Task.Folder = b.In.JWT, files, true })
	if got := b.result("1"); got.Failed != nil || !strings.HasPrefix(got.Attempt.Answer, "did 1xxx") || got.Changes == nil {
		t.Errorf("%+v, %+v", got.Failed, got.Changes)
	} else if made, err := blobs.Get(t.Context(), got.Changes.Made); err != nil || !strings.Contains(string(made), "made") {
		t.Errorf("%v", err)
	}
	waitFor(t, "no jobs are left", func() bool { return b.left() == 0 })
	b.give("without-rights")
	waitFor(t, "it is thrown away", func() bool { return b.left() == 0 })
	if b.rights() != o.Conn.In.JWT || b.order(fleet.Order{From: b.ID, Rights: b.In.JWT, Purge: true}).Purged != 1 {
		t.Error("the worker does not show its rights, or its blobs are not deleted")
	}
	if err := f.Revoke("w"); err != nil {
		t.Fatal(err)
	}
	if err := r.wait(); err == nil || !strings.Contains(err.Error(), "revoked") {
		t.Errorf("%v", err)
	}
}

// TestMain is also a worker, for TestKilled.
func TestMain(m *testing.M) {
	if url := os.Getenv("EVOLVE_TEST_WORKER"); url != "" {
		os.Exit(other(url))
	}
	os.Exit(m.Run())
}

func other(url string) int {
	ctx := context.Background()
	c, err := fleet.Dial(ctx, &fleet.Invitation{URL: url, Name: "w", Seed: os.Getenv("EVOLVE_TEST_SEED")})
	if err != nil {
		return 2
	}
	blobs, err := fleet.OpenBlobs(ctx, c.JS)
	if err != nil {
		return 2
	}
	cache, err := OpenCache(os.Getenv("EVOLVE_TEST_CACHE"), c.ID, blobs, 1<<20)
	if err != nil {
		return 2
	}
	run := fake(func(ctx context.Context, t eval.Task) (eval.Attempt, error) {
		if os.Getenv("EVOLVE_TEST_HANGS") != "" {
			<-ctx.Done()
		}
		return says("did")(ctx, t)
	})
	err = Run(ctx, Options{Conn: c, Blobs: blobs, Cache: cache, Name: "w", Beat: 50 * time.Millisecond,
		Offer: fleet.Offer{Protocol: fleet.Protocol, Program: program, Slots: 1, Agents: []fleet.Agent{{Backend: "fake", Version: "1", Sandbox: "on"}}},
		Open:  func(context.Context, fleet.Need, *setup.Set) (eval.Agent, error) { return run, nil }})
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// TestKilled: the job of a worker that is killed waits for it, and is done once it is back.
func TestKilled(t *testing.T) {
	s := fleettest.Serve(t)
	seed, cache := fleettest.Seed(), t.TempDir()
	run := func(env ...string) *exec.Cmd {
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(exe)
		cmd.Env = append(append(os.Environ(), "EVOLVE_TEST_WORKER="+s.ClientURL(), "EVOLVE_TEST_SEED="+seed, "EVOLVE_TEST_CACHE="+cache), env...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return cmd
	}
	first := run("EVOLVE_TEST_HANGS=1")
	b := lead(t, s)
	// Without waiting for the lease of the message.
	waitFor(t, "the consumer", func() bool {
		_, err := b.JS.UpdateConsumer(t.Context(), fleet.Jobs, jetstream.ConsumerConfig{Durable: b.worker(), FilterSubject: "evolve.job." + b.worker() + ".>",
			AckPolicy: jetstream.AckExplicitPolicy, AckWait: time.Second, MaxAckPending: 4096})
		return err == nil
	})
	b.give("1")
	b.until("it works", func(h *fleet.Hello) bool { return len(h.Running) == 1 })
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait()
	run()
	if r := b.result("1"); r.Attempt.Answer != "did 1" {
		t.Errorf("%+v", r)
	}
}
