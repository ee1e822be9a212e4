package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/setup"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/fleet/fleettest"
	"github.com/skill-evolve/evolve/eval/fleet/server"
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
	m, err := fleet.SealLarge(b.Key, fleet.JobSubject(w, b.id, key), j, func(text []byte) (string, error) { return blobs.Put(b.t.Context(), text) })
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.JS.PublishMsg(b.t.Context(), m); err != nil {
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
		blob, err := fleet.OpenLarge(w, m.Subject, m.Header, m.Data, &r)
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

func TestJobs(t *testing.T) {
	s := fleettest.Serve(t)
	start(t, join(t, s.Join("w"), says("I say")))
	b := lead(t, s)
	for i := range 20 {
		b.give(fmt.Sprint("job", i))
	}
	for i := range 20 {
		r := b.result(fmt.Sprint("job", i))
		if r.Failed != nil || r.Attempt.Answer != fmt.Sprint("I say job", i) || r.Key != fmt.Sprint("job", i) || r.Program != program || r.Sandbox != "on" || r.Agent != identity || r.Params != "tools=1" || r.Attempt.Started.IsZero() {
			t.Errorf("%+v, %+v", r, r.Failed)
		}
	}
	b.until("it is idle", func(h *fleet.Hello) bool { return h.Done == 20 && len(h.Running)+len(h.Queued) == 0 })
	waitFor(t, "no jobs are left", func() bool { return b.left() == 0 })
}

// TestPanic: an agent that panics fails its job, and the worker takes the next one.
func TestPanic(t *testing.T) {
	s := fleettest.Serve(t)
	start(t, join(t, s.Join("w"), func(_ context.Context, task eval.Task) (eval.Attempt, error) {
		if task.Case.Prompt == "bad" {
			panic("a secret")
		}
		return eval.Attempt{Answer: "fine"}, nil
	}))
	b := lead(t, s)
	b.give("bad")
	if f := b.result("bad").Failed; f == nil || !strings.Contains(f.Text, "a bug in evolve") || strings.Contains(f.Text, "secret") {
		t.Errorf("%+v", f)
	}
	b.give("good")
	if r := b.result("good"); r.Failed != nil || r.Attempt.Answer != "fine" {
		t.Errorf("%+v, %+v", r, r.Failed)
	}
}

// TestLarge: what is too large for a message goes through a blob, both ways.
func TestLarge(t *testing.T) {
	s := fleettest.Serve(t)
	start(t, join(t, s.Join("w"), says("")))
	b := lead(t, s)
	long := strings.Repeat("long ", fleet.Inline/4)
	b.give("1", func(j *fleet.Job) { j.Task.Prompt = long })
	if r := b.result("1"); r.Attempt.Answer != " "+long {
		t.Errorf("%d bytes, %+v", len(r.Attempt.Answer), r.Failed)
	}
}

// TestKeyStays: a key of the worker's is in nothing that it sends.
func TestKeyStays(t *testing.T) {
	s := fleettest.Serve(t)
	fails := atomic.Bool{}
	start(t, join(t, s.Join("w"), func(_ context.Context, task eval.Task) (eval.Attempt, error) {
		if fails.Load() {
			return eval.Attempt{}, eval.Infraf(eval.Auth, "401 for %s", key)
		}
		if err := os.WriteFile(filepath.Join(task.Workspace, "out"), []byte("is "+key), 0o600); err != nil {
			return eval.Attempt{}, err
		}
		return eval.Attempt{Answer: key, Failure: "no " + key, Files: []string{key}, Skills: []string{key}, Model: key, Tainted: key,
			Trace: []eval.ToolCall{{Name: key, Input: `{"` + key + `":["` + key + `"]}`}}}, nil
	}))
	b := lead(t, s)
	b.give("1", func(j *fleet.Job) { j.Task.Folder = true })
	if text := b.raw("1"); strings.Contains(text, key) || strings.Count(text, "[key]") < 8 {
		t.Errorf("%s", text)
	}
	r := b.result("1")
	blobs, err := fleet.OpenBlobs(t.Context(), b.JS)
	if err != nil {
		t.Fatal(err)
	}
	if made, err := blobs.Get(t.Context(), r.Changes.Made); err != nil || strings.Contains(string(made), key) || !strings.Contains(string(made), "is [key]") {
		t.Errorf("%q, %v", made, err)
	}
	fails.Store(true)
	b.give("2")
	if text := b.raw("2"); strings.Contains(text, key) || !strings.Contains(text, "401 for [key]") {
		t.Errorf("%s", text)
	}
	b.until("why", func(h *fleet.Hello) bool { return h.Why == "cannot log in: 401 for [key]" })
}

// TestRefused: what the worker answers to jobs that are not for it, without a call.
func TestRefused(t *testing.T) {
	s := fleettest.Serve(t)
	start(t, join(t, s.Join("w"), func(context.Context, eval.Task) (eval.Attempt, error) {
		t.Error("the agent was asked")
		return eval.Attempt{}, nil
	}))
	b := lead(t, s)
	absent := fleet.NameOf([]byte("absent"))
	for name, c := range map[string]struct {
		change func(*fleet.Job)
		kind   eval.FailureKind
		text   string
	}{
		"protocol": {func(j *fleet.Job) { j.Protocol = 2 }, fleet.NotMine, "speaks protocol 1, and the job is in 2"},
		"program":  {func(j *fleet.Job) { j.Need.Program = "v0" }, fleet.NotMine, "has evolve v1, and this is v0"},
		"backend":  {func(j *fleet.Job) { j.Need.Backend = "other" }, fleet.NotMine, "has no other"},
		"version":  {func(j *fleet.Job) { j.Need.Version = "2" }, fleet.NotMine, "has fake 1, and this run needs 2"},
		"sandbox":  {func(j *fleet.Job) { j.Need.Sandbox = "none" }, fleet.NotMine, "has the sandbox on, and this run needs none"},
		"model":    {func(j *fleet.Job) { j.Need.Model = "n" }, fleet.NotMine, `with the model "m"`},
		"params":   {func(j *fleet.Job) { j.Need.Params = "tools=2" }, fleet.NotMine, "(tools=1)"},
		"path":     {func(j *fleet.Job) { j.Task.Tree = "../../etc" }, fleet.NotMine, "is no name of a blob"},
		"settings": {func(j *fleet.Job) { j.Task.Path = "~/.claude/settings.json" }, fleet.NotMine, "no file of instructions"},
		"gone":     {func(j *fleet.Job) { j.Task.Tree = absent }, fleet.NoBlob, absent},
	} {
		b.give(name, c.change)
		f := b.result(name).Failed
		if f == nil || f.Kind != c.kind || !strings.Contains(f.Text, c.text) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestUnsigned: a job of somebody else is not done, and neither is an order.
func TestUnsigned(t *testing.T) {
	s := fleettest.Serve(t)
	release := make(chan struct{})
	start(t, join(t, s.Join("w"), func(ctx context.Context, task eval.Task) (eval.Attempt, error) {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return says("did")(ctx, task)
	}))
	b, other := lead(t, s), s.Join("other")
	b.give("mine")
	b.until("it works", func(h *fleet.Hello) bool { return len(h.Running) == 1 })
	w := b.worker()
	for _, from := range []string{"", other.ID, b.ID} {
		m, err := fleet.Seal(other.Key, fleet.OrderSubject(w), fleet.Order{From: from, Cancel: []fleet.Held{{Coordinator: b.id, Key: "mine"}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := other.Nats.PublishMsg(m); err != nil {
			t.Fatal(err)
		}
	}
	m, err := fleet.Seal(other.Key, fleet.JobSubject(w, b.id, "theirs"), fleet.Job{Protocol: fleet.Protocol, Key: "theirs", Coordinator: b.id, Worker: w, Need: fleet.NeedOf(program, "on", identity)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.JS.PublishMsg(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the job is thrown away", func() bool { return b.left() == 1 })
	close(release)
	if r := b.result("mine"); r.Attempt.Answer != "did mine" {
		t.Errorf("%+v", r)
	}
	if _, err := b.stream.GetLastMsgForSubject(t.Context(), fleet.ResultSubject(b.id, w, "theirs")); err == nil {
		t.Error("the other's job was done")
	}
}

// TestDuplicates: a job that is delivered again is done once.
func TestDuplicates(t *testing.T) {
	s := fleettest.Serve(t)
	var calls atomic.Int32
	release := make(chan struct{})
	o := join(t, s.Join("w"), func(ctx context.Context, task eval.Task) (eval.Attempt, error) {
		calls.Add(1)
		select {
		case <-release:
		case <-ctx.Done():
		}
		return says("")(ctx, task)
	})
	start(t, o)
	b := lead(t, s)
	b.give("1")
	b.until("it works", func(h *fleet.Hello) bool { return len(h.Running) == 1 })
	// As if the message came again, and then once more when the job is done.
	stream, err := b.JS.Stream(t.Context(), fleet.Jobs)
	if err != nil {
		t.Fatal(err)
	}
	subject := fleet.JobSubject(b.worker(), b.id, "1")
	again := func() {
		if err := stream.Purge(t.Context(), jetstream.WithPurgeSubject(subject)); err != nil {
			t.Fatal(err)
		}
		b.give("1")
	}
	again()
	close(release)
	b.result("1")
	waitFor(t, "no jobs are left", func() bool { return b.left() == 0 })
	if calls.Load() != 1 {
		t.Errorf("%d calls", calls.Load())
	}
}

func TestCancel(t *testing.T) {
	s := fleettest.Serve(t)
	var ended atomic.Int32
	o := join(t, s.Join("w"), func(ctx context.Context, _ eval.Task) (eval.Attempt, error) {
		<-ctx.Done()
		ended.Add(1)
		return eval.Attempt{}, ctx.Err()
	})
	o.Offer.Slots = 1
	start(t, o)
	b := lead(t, s)
	b.give("runs")
	b.until("it works", func(h *fleet.Hello) bool { return len(h.Running) == 1 })
	b.give("waits")
	b.until("the other waits", func(h *fleet.Hello) bool { return len(h.Queued) == 1 })
	b.order(fleet.Order{Cancel: []fleet.Held{{Coordinator: b.id, Key: "runs"}, {Coordinator: b.id, Key: "waits"}, {Coordinator: b.id, Key: "unknown"}}})
	b.until("it is idle", func(h *fleet.Hello) bool { return len(h.Running)+len(h.Queued) == 0 })
	waitFor(t, "the attempt is killed, and no jobs are left", func() bool { return ended.Load() == 1 && b.left() == 0 })
	// The same job may be given again.
	b.give("runs")
	b.until("it works again", func(h *fleet.Hello) bool { return len(h.Running) == 1 })
	b.order(fleet.Order{Cancel: []fleet.Held{{Coordinator: b.id, Key: "runs"}}})
	waitFor(t, "it is killed", func() bool { return ended.Load() == 2 })
	if info, err := b.stream.Info(t.Context()); err != nil || info.State.Msgs != 0 {
		t.Errorf("%d results, %v", info.State.Msgs, err)
	}
}

func TestPark(t *testing.T) {
	s := fleettest.Serve(t)
	reset := time.Now().Add(time.Hour).Truncate(time.Second)
	var calls atomic.Int32
	o := join(t, s.Join("w"), func(context.Context, eval.Task) (eval.Attempt, error) {
		calls.Add(1)
		return eval.Attempt{}, &eval.InfraError{Kind: eval.UsageLimit, ResetAt: reset, Err: fmt.Errorf("five hours")}
	})
	o.Offer.Slots = 1
	start(t, o)
	b := lead(t, s)
	for _, name := range []string{"1", "2", "3"} {
		b.give(name)
	}
	for _, name := range []string{"1", "2", "3"} {
		if f := b.result(name).Failed; f == nil || f.Kind != eval.UsageLimit || !f.ResetAt.Equal(reset) {
			t.Errorf("%+v", f)
		}
	}
	b.until("it is parked", func(h *fleet.Hello) bool { return h.Parked.Equal(reset) && strings.Contains(h.Why, "five hours") })
	if calls.Load() != 1 {
		t.Errorf("%d calls", calls.Load())
	}
}

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
