package worker

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/fleet/fleettest"
)

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

// TestCostIsNaN: a cost that JSON cannot express counts as unknown, and the result arrives.
func TestCostIsNaN(t *testing.T) {
	s := fleettest.Serve(t)
	cost := math.NaN()
	start(t, join(t, s.Join("w"), func(context.Context, eval.Task) (eval.Attempt, error) {
		return eval.Attempt{Answer: "fine", CostUSD: &cost}, nil
	}))
	b := lead(t, s)
	b.give("job")
	if r := b.result("job"); r.Failed != nil || r.Attempt.Answer != "fine" || r.Attempt.CostUSD != nil {
		t.Errorf("%+v, %+v", r.Attempt, r.Failed)
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
		"protocol": {func(j *fleet.Job) { j.Protocol = 1 }, fleet.NotMine, "speaks protocol 2, and the job is in 1"},
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
	m, err := fleet.SealFor(other.Key, w, fleet.JobSubject(w, b.id, "theirs"), fleet.Job{Protocol: fleet.Protocol, Key: "theirs", Coordinator: b.id, Worker: w, Need: fleet.NeedOf(program, "on", identity)}, nil)
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
	b.named = "a message"
	b.give("1")
	b.until("it works", func(h *fleet.Hello) bool { return len(h.Running) == 1 })
	b.named = ""
	// As if it came in another message.
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
	s.Restart() // which forgets the ids of messages that are gone
	waitFor(t, "the server is back", b.Nats.IsConnected)
	b.named = "a message"
	b.give("1")
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

// TestWho: a worker that has just said hello answers a coordinator that asks who is there.
func TestWho(t *testing.T) {
	s := fleettest.Serve(t)
	o := join(t, s.Join("w"), says("did"))
	o.Beat = 2 * time.Minute // no other hello comes
	listen := func(name string) (*fleet.Conn, *nats.Subscription) {
		c := s.Join(name)
		heard, err := c.Nats.SubscribeSync(fleet.HelloSubject("*"))
		if err == nil {
			err = c.Nats.Flush()
		}
		if err != nil {
			t.Fatal(err)
		}
		return c, heard
	}
	_, first := listen("one")
	start(t, o)
	if _, err := first.NextMsg(20 * time.Second); err != nil {
		t.Fatalf("its first hello: %v", err)
	}
	c, second := listen("another")
	if err := c.Nats.Publish(fleet.Who, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := second.NextMsg(20 * time.Second); err != nil {
		t.Errorf("no answer: %v", err)
	}
}
