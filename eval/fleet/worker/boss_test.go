package worker

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/setup"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/fleet/fleettest"
)

const (
	program = "v1"
	key     = "sk-of-the-worker-0123456789"
)

var identity = eval.Identity{Backend: "fake", Version: "1", Model: "m", Params: "tools=1"}

// A fake is an agent of this process.
type fake func(ctx context.Context, t eval.Task) (eval.Attempt, error)

func (fake) Identity() eval.Identity { return identity }
func (f fake) Run(ctx context.Context, t eval.Task) (eval.Attempt, error) {
	return f(ctx, t)
}

func says(text string) fake {
	return func(_ context.Context, t eval.Task) (eval.Attempt, error) {
		return eval.Attempt{Answer: text + " " + t.Case.Prompt}, nil
	}
}

// join makes a worker's options.
func join(t testing.TB, c *fleet.Conn, run fake) Options {
	t.Helper()
	blobs, err := fleet.OpenBlobs(t.Context(), c.JS)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := OpenCache(t.TempDir(), c.ID, blobs, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cache.Close() })
	return Options{Conn: c, Blobs: blobs, Cache: cache, Name: "w", Beat: 50 * time.Millisecond, Lease: fleet.Lease,
		Offer: fleet.Offer{Protocol: fleet.Protocol, Program: program, Slots: 2, Agents: []fleet.Agent{{Backend: "fake", Version: "1", Sandbox: "on"}}},
		Open:  func(context.Context, fleet.Need, *setup.Set) (eval.Agent, error) { return run, nil },
		Clean: func(s string) string { return strings.ReplaceAll(s, key, "[key]") },
		Log:   func(line string) { t.Log(line) }}
}

// A running worker.
type running struct {
	t     testing.TB
	drain chan struct{}
	kill  context.CancelFunc
	err   chan error
}

func start(t testing.TB, o Options) *running {
	ctx, kill := context.WithCancel(context.Background())
	r := &running{t: t, drain: make(chan struct{}), kill: kill, err: make(chan error, 1)}
	o.Drain = r.drain
	go func() { r.err <- Run(ctx, o) }()
	t.Cleanup(r.stop)
	return r
}

func (r *running) stop() {
	r.kill()
	r.wait()
}

// wait returns how the worker ended.
func (r *running) wait() error {
	err := <-r.err
	r.err <- err
	return err
}

// A boss gives jobs.
type boss struct {
	*fleet.Conn
	t      testing.TB
	id     string
	stream jetstream.Stream
	named  string // id of the messages of jobs; "": a new one for each

	mu    sync.Mutex
	hello fleet.Hello
}

// lead makes one that knows of a worker once that has said hello.
func lead(t testing.TB, s *fleettest.Server) *boss { return employ(t, s.Join("lead")) }

func employ(t testing.TB, c *fleet.Conn) *boss {
	t.Helper()
	b := &boss{Conn: c, t: t, id: fleet.CoordinatorID(c.ID, "run")}
	var err error
	if b.stream, err = c.JS.Stream(t.Context(), fleet.Results); err != nil {
		t.Fatal(err)
	}
	_, err = c.Nats.Subscribe(fleet.HelloSubject("*"), func(m *nats.Msg) {
		id := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
		var h fleet.Hello
		if err := fleet.Open(id, m.Subject, m.Header, m.Data, &h); err != nil {
			t.Error(err)
			return
		}
		b.mu.Lock()
		first := b.hello.Worker == ""
		b.hello = h
		b.mu.Unlock()
		if first {
			go func() {
				if err := fleet.Consumer(context.Background(), c.JS, id); err != nil {
					t.Error(err)
				}
			}()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// until waits for something that the worker says.
func (b *boss) until(what string, ok func(h *fleet.Hello) bool) {
	b.t.Helper()
	waitFor(b.t, what, func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.hello.Worker != "" && ok(&b.hello)
	})
}

// worker is the id of the one that has said hello.
func (b *boss) worker() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.hello.Worker
}

func (b *boss) rights() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.hello.Rights
}

func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for range 3000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("never: %s", what)
}

func there(*fleet.Hello) bool { return true }

// give gives a job to the worker.
func (b *boss) give(key string, change ...func(*fleet.Job)) {
	b.t.Helper()
	b.until("hello", there)
	w := b.worker()
	j := &fleet.Job{Protocol: fleet.Protocol, Key: key, Coordinator: b.id, Worker: w, Need: fleet.NeedOf(program, "on", identity), Task: fleet.Task{Case: key, Prompt: key}}
	for _, f := range change {
		f(j)
	}
	blobs, err := fleet.OpenBlobs(b.t.Context(), b.JS)
	if err != nil {
		b.t.Fatal(err)
	}
	m, err := fleet.SealFor(b.Key, w, fleet.JobSubject(w, b.id, key), j, func(text []byte) (string, error) { return blobs.Put(b.t.Context(), text) })
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.JS.PublishMsg(b.t.Context(), m, jetstream.WithMsgID(cmp.Or(b.named, rand.Text()))); err != nil {
		b.t.Fatal(err)
	}
}

// raw is the body of a result, once it is there.
func (b *boss) raw(key string) (body string) {
	b.t.Helper()
	w := b.worker()
	waitFor(b.t, "the result of "+key, func() bool {
		m, err := b.stream.GetLastMsgForSubject(b.t.Context(), fleet.ResultSubject(b.id, w, key))
		if err != nil {
			return false
		}
		var r json.RawMessage
		blob, err := fleet.OpenFrom(b.Key, w, m.Subject, m.Header, m.Data, &r)
		if blob != "" {
			blobs, _ := fleet.OpenBlobs(b.t.Context(), b.JS)
			if r, err = blobs.Get(b.t.Context(), blob); err != nil {
				b.t.Fatal(err)
			}
		}
		body = string(r)
		return err == nil
	})
	return body
}

func (b *boss) result(key string) *fleet.Result {
	b.t.Helper()
	r := new(fleet.Result)
	if err := json.Unmarshal([]byte(b.raw(key)), r); err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *boss) order(o fleet.Order) *fleet.Ack {
	b.t.Helper()
	m, err := fleet.Seal(b.Key, fleet.OrderSubject(b.worker()), o)
	if err != nil {
		b.t.Fatal(err)
	}
	reply, err := b.Nats.RequestMsg(m, 10*time.Second)
	if err != nil {
		b.t.Fatal(err)
	}
	ack := new(fleet.Ack)
	if err := fleet.Open(b.worker(), reply.Subject, reply.Header, reply.Data, ack); err != nil {
		b.t.Fatal(err)
	}
	return ack
}

// left is how many jobs are stored.
func (b *boss) left() uint64 {
	s, err := b.JS.Stream(b.t.Context(), fleet.Jobs)
	if err != nil {
		return 99
	}
	return s.CachedInfo().State.Msgs
}
