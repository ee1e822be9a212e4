package coordinator

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/fleet/fleettest"
)

// seed is the lead's key, in whichever process.
var seed = fleettest.Seed()

const program = "v1"

var identity = eval.Identity{Backend: "fake", Version: "1", Model: "m", Params: "base=http://a tools=1"}

// A fake is a worker that speaks the protocol and does what answer says.
type fake struct {
	*fleet.Conn
	t      *testing.T
	hello  fleet.Hello
	answer func(j *fleet.Job) *fleet.Result // nil: none
	agent  eval.Identity

	mu    sync.Mutex
	jobs  []string
	held  map[string]fleet.Held
	quiet bool
	stop  context.CancelFunc
}

func hire(t *testing.T, s *fleettest.Server, name string, answer func(j *fleet.Job) *fleet.Result, set ...func(*fake)) *fake {
	t.Helper()
	c := s.Join(name)
	f := &fake{Conn: c, t: t, answer: answer, agent: identity, held: map[string]fleet.Held{}, hello: fleet.Hello{Worker: c.ID, Name: name, Instance: "1",
		Offer: fleet.Offer{Protocol: fleet.Protocol, Program: program, Slots: 2, Agents: []fleet.Agent{{Backend: "fake", Version: "1", Sandbox: "on", Vendors: []string{"v"}}}}}}
	for _, change := range set {
		change(f)
	}
	f.work()
	return f
}

func (f *fake) work() {
	ctx, cancel := context.WithCancel(f.t.Context())
	f.stop = cancel
	go func() {
		for ctx.Err() == nil {
			f.mu.Lock()
			h := f.hello
			for _, k := range f.held {
				h.Running = append(h.Running, k)
			}
			quiet := f.quiet
			f.mu.Unlock()
			if m, err := fleet.Seal(f.Key, fleet.HelloSubject(f.ID), h); err == nil && !quiet {
				_ = f.Nats.PublishMsg(m)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
	go func() {
		for ctx.Err() == nil {
			c, err := f.JS.Consumer(ctx, fleet.Jobs, f.ID)
			if err != nil {
				time.Sleep(20 * time.Millisecond)
				continue
			}
			cc, err := c.Consume(func(m jetstream.Msg) { go f.do(m) })
			if err != nil {
				continue
			}
			<-ctx.Done()
			cc.Stop()
		}
	}()
}

func (f *fake) do(m jetstream.Msg) {
	var j fleet.Job
	sender := fleet.Sender(strings.Split(m.Subject(), ".")[3])
	if _, err := fleet.OpenFrom(f.Key, sender, m.Subject(), m.Headers(), m.Data(), &j); err != nil {
		f.t.Errorf("a job: %v", err)
	}
	f.mu.Lock()
	f.jobs = append(f.jobs, j.Key)
	f.held[j.Key] = fleet.Held{Coordinator: j.Coordinator, Key: j.Key}
	f.mu.Unlock()
	r := f.answer(&j)
	if r == nil {
		return
	}
	f.send(&j, r)
	_ = m.Ack()
	f.mu.Lock()
	delete(f.held, j.Key)
	f.mu.Unlock()
}

func (f *fake) send(j *fleet.Job, r *fleet.Result) {
	r.Protocol, r.Key, r.Program, r.Sandbox, r.Agent, r.Params = fleet.Protocol, j.Key, program, "on", f.agent, fleet.WithoutServer(f.agent)
	subject := fleet.ResultSubject(j.Coordinator, f.ID, j.Key)
	m, err := fleet.SealFor(f.Key, fleet.Sender(j.Coordinator), subject, r, nil)
	if err != nil {
		f.t.Error(err)
		return
	}
	for f.t.Context().Err() == nil {
		if _, err := f.JS.PublishMsg(f.t.Context(), m); err == nil || fleet.IsThere(err) {
			return
		}
	}
}

func (f *fake) did() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.jobs)
}

// says answers every job with a text.
func says(text string) func(*fleet.Job) *fleet.Result {
	return func(j *fleet.Job) *fleet.Result {
		return &fleet.Result{Attempt: eval.Attempt{Answer: text + " " + j.Task.Prompt, Duration: time.Millisecond}}
	}
}

type options func(*Options)

func lead(t *testing.T, s *fleettest.Server, id string, set ...options) *Coordinator {
	t.Helper()
	c := s.JoinAs("lead", seed)
	blobs, err := fleet.OpenBlobs(t.Context(), c.JS)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Conn: c, Blobs: blobs, Program: program, Sandbox: "on", Agent: identity, Vendors: []string{"v"},
		Pack: func(_ context.Context, t eval.Task) (fleet.Task, error) {
			return fleet.Task{Prompt: t.Case.Prompt}, nil
		},
		Log:  func(line string) { t.Log(line) },
		Wait: 3 * time.Second, Lost: 1500 * time.Millisecond, Beat: 100 * time.Millisecond}
	for _, f := range set {
		f(&o)
	}
	co, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(co.Close)
	if err := co.Continue(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	return co
}

// heard waits until the coordinator knows so many workers: fakes do not answer fleet.Who, so Open
// may return before it has heard them all.
func heard(t *testing.T, c *Coordinator, n int) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); len(c.All()) < n; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d of %d workers were heard", len(c.All()), n)
		}
	}
}

// attempt has one attempt made under a key.
func attempt(ctx context.Context, c *Coordinator, key, pair, avoid string) (eval.Attempt, error) {
	k := &eval.Case{ID: key, Prompt: "p"}
	p, err := c.Begin(ctx, eval.Task{Case: k}, eval.Work{Key: key, Pair: pair, Avoid: avoid})
	if err != nil {
		return eval.Attempt{}, err
	}
	defer p.Close()
	a, err := p.Attempt(ctx, eval.Task{Case: k})
	if err == nil {
		c.Recorded(key)
	}
	return a, err
}

// all has n attempts made at once, and returns who made them.
func all(t *testing.T, c *Coordinator, n int, pair func(i int) string) (by []string) {
	t.Helper()
	by = make([]string, n)
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() {
			a, err := attempt(t.Context(), c, fmt.Sprint("k", i), pair(i), "")
			if err != nil {
				t.Errorf("%d: %v", i, err)
			}
			by[i] = a.Worker
		})
	}
	wait.Wait()
	return by
}

func single(int) string { return "" }
