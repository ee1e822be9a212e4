package watch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/setup"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/fleet/server"
	"github.com/skill-evolve/evolve/eval/fleet/worker"
)

// beat is somewhat longer than a worker waits at least between two hellos.
const beat = 1200 * time.Millisecond

// serve starts a fleet's own server, with the rights that members have there.
func serve(t *testing.T) *server.Folder {
	t.Helper()
	f, err := server.Open(t.TempDir(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan bool), make(chan error, 1)
	go func() {
		ended <- f.Serve(ctx, server.Options{Listen: "127.0.0.1:0", Ready: func(*server.Served) { close(ready) }})
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	select {
	case <-ready:
	case err := <-ended:
		ended <- err
		t.Fatal(err)
	}
	return f
}

func dial(t *testing.T, f *server.Folder, name, role string, lasts time.Duration) *fleet.Conn {
	t.Helper()
	i, _, err := f.Invite(name, role, lasts)
	if err != nil {
		t.Fatal(err)
	}
	return dialAs(t, i)
}

func dialAs(t *testing.T, i *fleet.Invitation) *fleet.Conn {
	t.Helper()
	c, err := fleet.Dial(t.Context(), i)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// blob puts a content into the bucket.
func blob(t *testing.T, c *fleet.Conn, text string) (name string) {
	t.Helper()
	b, err := fleet.OpenBlobs(t.Context(), c.JS)
	if err == nil {
		name, err = b.Put(t.Context(), []byte(text))
	}
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// works starts a worker with a cache below dir, which has the blob, and waits until desk has
// heard it.
func works(t *testing.T, desk, c *fleet.Conn, dir, blob string, offer fleet.Offer) {
	t.Helper()
	heard := make(chan *nats.Msg, 64)
	sub, err := desk.Nats.ChanSubscribe(fleet.HelloSubject(c.ID), heard)
	if err != nil {
		t.Fatal(err)
	}
	if err := desk.Nats.Flush(); err != nil {
		t.Fatal(err)
	}
	blobs, err := fleet.OpenBlobs(t.Context(), c.JS)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := worker.OpenCache(dir, c.ID, blobs, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if err := cache.Fetch(t.Context(), blob, filepath.Join(t.TempDir(), "copy")); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- worker.Run(ctx, worker.Options{Conn: c, Blobs: blobs, Cache: cache, Name: "w", Offer: offer, Beat: beat / 4, Log: func(line string) { t.Log(line) },
			Open: func(context.Context, fleet.Need, *setup.Set) (eval.Agent, error) { return nil, errors.New("no agent") }})
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		cache.Close()
	})
	<-heard
	if err := sub.Unsubscribe(); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, c *fleet.Conn, subject string) {
	t.Helper()
	if _, err := c.JS.Publish(t.Context(), subject, []byte("qzcanary")); err != nil {
		t.Fatal(err)
	}
}

// TestLook: who is there, what waits, whose invitation ends, and what is known of those that
// are away.
func TestLook(t *testing.T) {
	f := serve(t)
	desk := dial(t, f, "desk", fleet.RoleCoordinator, 90*24*time.Hour)
	one, two := dial(t, f, "one", fleet.RoleWorker, 3*24*time.Hour), dial(t, f, "two", fleet.RoleWorker, 90*24*time.Hour)
	name := blob(t, desk, "a")
	offer := fleet.Offer{Protocol: fleet.Protocol, Program: "v1", Slots: 2, Agents: []fleet.Agent{{Backend: "fake", Version: "1", Sandbox: "on", Vendors: []string{"v"}}}}
	works(t, desk, one, t.TempDir(), name, offer)
	other := offer
	other.Program = "v2"
	works(t, desk, two, t.TempDir(), name, other)
	put(t, desk, fleet.JobSubject("UGONE", fleet.CoordinatorID(desk.ID, "r"), "k-0"))
	put(t, desk, fleet.ResultSubject(fleet.CoordinatorID(desk.ID, "r"), "UGONE", "key-1"))
	usd := 1.5
	s, err := Look(t.Context(), Options{Conn: desk, Needs: &fleet.Need{Program: "v1", Backend: "fake", Version: "1", Sandbox: "on"}, Vendors: []string{"v"},
		Shares: map[string]Share{"UGONE": {Rollouts: 7}, one.ID: {Rollouts: 3, Missing: 1, CostUSD: &usd}}, Names: map[string]string{"UGONE": "gone"}, Now: time.Now, Beat: beat})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range s.Workers {
		got = append(got, strings.Join([]string{w.Called(), w.Words(time.Now()), w.Here.Words()}, " | "))
	}
	want := []string{"gone | does not answer | 7 rollouts", "one | takes jobs | 3 rollouts, $1.50, 33 % failed", "two | has evolve v2, and this is v1 | nothing yet"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if s.Jobs != 1 || s.Results != 1 || len(s.Expiring) != 1 || s.Expiring[0].Name != "one" {
		t.Errorf("%+v", s)
	}
	if first := s.Shown(2); first[0].Name != "gone" || first[1].Name != "two" {
		t.Errorf("the first lines are about %s and %s", first[0].Name, first[1].Name)
	}
	if at, err := Find(t.Context(), desk, "key-", beat); err != nil || len(at) != 1 || !strings.Contains(at[0], "key-1") {
		t.Errorf("%q, %v", at, err)
	}
}

// TestPurge: after a purge nothing of this machine is there, nor in the cache of a worker that
// can be reached; the others are named; what other machines have there stays, but for blobs.
func TestPurge(t *testing.T) {
	f := serve(t)
	desk, other := dial(t, f, "desk", fleet.RoleCoordinator, 0), dial(t, f, "other", fleet.RoleCoordinator, 0)
	one, gone := dial(t, f, "one", fleet.RoleWorker, 0), dial(t, f, "gone", fleet.RoleWorker, 0)
	dir, name := t.TempDir(), blob(t, desk, "qzcanary of a session")
	works(t, desk, one, dir, name, fleet.Offer{Protocol: fleet.Protocol, Program: "v1", Slots: 1})
	for _, id := range []string{one.ID, gone.ID} { // both have had jobs
		if err := fleet.Consumer(t.Context(), desk.JS, id); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []*fleet.Conn{desk, other} {
		for _, run := range []string{"r1", "r2"} {
			put(t, c, fleet.JobSubject(gone.ID, fleet.CoordinatorID(c.ID, run), "k-0"))
			put(t, c, fleet.ResultSubject(fleet.CoordinatorID(c.ID, run), gone.ID, "k-1"))
		}
	}
	// The machine had another invitation before.
	old := dial(t, f, "old-desk", fleet.RoleCoordinator, 0)
	put(t, old, fleet.JobSubject(gone.ID, fleet.CoordinatorID(old.ID, "r0"), "k-0"))
	got, err := Purge(t.Context(), desk, map[string]string{gone.ID: "gone"}, old.ID, desk.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := &Purged{URL: desk.In.URL, Blobs: 1, Jobs: 3, Results: 2, Workers: []string{one.ID}, Left: []Left{{gone.ID, "gone", "does not answer"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	for _, stream := range []string{fleet.Jobs, fleet.Results} {
		s, err := desk.JS.Stream(t.Context(), stream)
		if err != nil {
			t.Fatal(err)
		}
		info, err := s.Info(t.Context(), jetstream.WithSubjectFilter("evolve.>"))
		if err != nil || len(info.State.Subjects) != 2 {
			t.Fatalf("%s has %v, %v", stream, info.State.Subjects, err)
		}
		for subject := range info.State.Subjects {
			if !strings.Contains(subject, other.ID) {
				t.Errorf("%s still has %s", stream, subject)
			}
		}
	}
	blobs, err := fleet.OpenBlobs(t.Context(), desk.JS)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := blobs.Get(t.Context(), name); !errors.Is(err, fleet.ErrNoBlob) {
		t.Errorf("the bucket still has it: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, one.ID, name)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the worker still has it: %v", err)
	}
}

// TestVisit: a program on the machine that serves may look, without an invitation of its own.
func TestVisit(t *testing.T) {
	f := serve(t)
	i, err := f.Visit()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Look(t.Context(), Options{Conn: dialAs(t, i), Now: time.Now, Beat: 10 * time.Millisecond})
	if err != nil || len(s.Workers) != 0 || len(s.Expiring) != 0 {
		t.Errorf("%+v, %v", s, err)
	}
}
