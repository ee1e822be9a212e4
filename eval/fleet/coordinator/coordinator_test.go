package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
	if _, err := fleet.OpenLarge(sender, m.Subject(), m.Headers(), m.Data(), &j); err != nil {
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
	m, err := fleet.Seal(f.Key, subject, r)
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
		Here: &eval.Local{}, Log: func(line string) { t.Log(line) },
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

// TestAllWorkersWork: jobs are divided, both arms of a pair go to one worker, and nothing is
// left in the streams.
func TestAllWorkersWork(t *testing.T) {
	s := fleettest.Serve(t)
	a, b := hire(t, s, "a", says("a")), hire(t, s, "b", says("b"))
	c := lead(t, s, "run")
	for range 100 { // a busy machine hears them later
		if len(c.Workers()) == 2 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if len(c.Workers()) != 2 || c.Slots() != 4 {
		t.Fatalf("workers %v with %d slots", c.Workers(), c.Slots())
	}
	by := all(t, c, 200, func(i int) string { return fmt.Sprint("pair", i/2) })
	if a.did()+b.did() != 200 || a.did() < 40 || b.did() < 40 {
		t.Errorf("%d and %d jobs", a.did(), b.did())
	}
	for i := 0; i < len(by); i += 2 {
		if by[i] != by[i+1] {
			t.Errorf("the arms of pair %d are of two workers", i/2)
		}
	}
	other, err := attempt(t.Context(), c, "control", "", by[0])
	if err != nil || other.Worker == by[0] {
		t.Errorf("the control was made by %q, %v", other.Worker, err)
	}
	c.Close()
	for _, name := range []string{fleet.Jobs, fleet.Results} {
		st, err := s.Join("look").JS.Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		n := st.CachedInfo().State.Msgs
		for range 100 { // a worker acknowledges its last job behind its result
			if n == 0 {
				break
			}
			time.Sleep(50 * time.Millisecond)
			info, err := st.Info(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			n = info.State.Msgs
		}
		if n != 0 {
			t.Errorf("%d messages are left in %s", n, name)
		}
	}
}

// TestPanic: a panic, in whichever goroutine of the coordinator, ends every job with an error
// instead of the process, and nothing waits for ever.
func TestPanic(t *testing.T) {
	var bug atomic.Bool
	for name, set := range map[string]options{
		"in the loop": func(o *Options) {
			o.Admits = func(string) bool {
				if bug.Load() {
					panic("a bug")
				}
				return true
			}
		},
		"beside it": func(o *Options) { o.Blobs = nil }, // where the job, a large one, is stored
	} {
		t.Run(name, func(t *testing.T) {
			s := fleettest.Serve(t)
			hire(t, s, "a", says("a"))
			c := lead(t, s, "run", func(o *Options) {
				o.Pack = func(context.Context, eval.Task) (fleet.Task, error) {
					return fleet.Task{Prompt: strings.Repeat("p", fleet.Inline)}, nil
				}
			}, set)
			bug.Store(true)
			defer bug.Store(false)
			for range 2 {
				var bug *eval.PanicError
				if _, err := attempt(t.Context(), c, "k", "", ""); !errors.As(err, &bug) {
					t.Fatalf("error %v, want that of the panic", err)
				}
			}
			c.Close()
		})
	}
}

// TestLostWorker: the jobs of a worker that is heard of no more are given to another one; what
// it answers later does not count.
func TestLostWorker(t *testing.T) {
	s := fleettest.Serve(t)
	var kept []*fleet.Job
	var mu sync.Mutex
	lost := hire(t, s, "lost", func(j *fleet.Job) *fleet.Result {
		mu.Lock()
		defer mu.Unlock()
		kept = append(kept, j)
		return nil
	})
	c := lead(t, s, "run")
	done := make(chan string, 4)
	for i := range 2 {
		go func() {
			a, err := attempt(t.Context(), c, fmt.Sprint(i), "", "")
			if err != nil {
				t.Error(err)
			}
			done <- a.Answer
		}()
	}
	for lost.did() < 2 {
		time.Sleep(10 * time.Millisecond)
	}
	lost.stop()
	hire(t, s, "other", says("other"))
	for range 2 {
		if got := <-done; got != "other p" {
			t.Errorf("answered %q", got)
		}
	}
	mu.Lock()
	for _, j := range kept {
		lost.send(j, says("late")(j))
	}
	mu.Unlock()
	if a, err := attempt(t.Context(), c, "after", "", ""); err != nil || a.Answer != "other p" {
		t.Errorf("%q, %v", a.Answer, err)
	}
	for _, w := range c.All() {
		if w.Hello.Name == "lost" && w.Again != 2 {
			t.Errorf("%d jobs were taken back", w.Again)
		}
	}
}

// TestCoordinatorIsKilled: the one that continues finds what was done meanwhile, adopts what is
// under way, and nothing is done twice.
func TestCoordinatorIsKilled(t *testing.T) {
	s := fleettest.Serve(t)
	release := make(chan struct{})
	w := hire(t, s, "a", func(j *fleet.Job) *fleet.Result {
		if strings.HasPrefix(j.Key, "slow") {
			<-release
		}
		return says("a")(j)
	})
	first := lead(t, s, "run")
	gone, cancel := context.WithCancel(t.Context())
	place := func(c *Coordinator, key string) (eval.Attempt, error) {
		k := &eval.Case{ID: key, Prompt: key}
		p, _ := c.Begin(gone, eval.Task{Case: k}, eval.Work{Key: key})
		return p.Attempt(t.Context(), eval.Task{Case: k})
	}
	if _, err := place(first, "done"); err != nil { // and not recorded
		t.Fatal(err)
	}
	go func() { _, _ = place(first, "slow") }()
	for w.did() < 2 {
		time.Sleep(10 * time.Millisecond)
	}
	first.opt.Conn.Close() // as if killed: no order reaches anybody
	cancel()
	second := lead(t, s, "run")
	if a, err := place(second, "done"); err != nil || a.Answer != "a done" {
		t.Errorf("%+v, %v", a, err)
	}
	go func() { time.Sleep(300 * time.Millisecond); close(release) }()
	if a, err := place(second, "slow"); err != nil || a.Answer != "a slow" {
		t.Errorf("%+v, %v", a, err)
	}
	if w.did() != 2 {
		t.Errorf("%d jobs were done: %v", w.did(), w.jobs)
	}
}

// TestServerRestarts: jobs and results survive it.
func TestServerRestarts(t *testing.T) {
	s := fleettest.Serve(t)
	w := hire(t, s, "a", func(j *fleet.Job) *fleet.Result {
		time.Sleep(20 * time.Millisecond)
		return says("a")(j)
	})
	c := lead(t, s, "run", func(o *Options) { o.Lost = 5 * time.Second })
	go func() {
		time.Sleep(200 * time.Millisecond)
		s.Restart()
	}()
	all(t, c, 100, single)
	if n := w.did(); n < 100 || n > 104 { // those under way may be delivered again
		t.Errorf("%d jobs", n)
	}
}

// TestRefused: what each gets whose answers must not count.
func TestRefused(t *testing.T) {
	s := fleettest.Serve(t)
	old := hire(t, s, "old", says("old"), func(f *fake) { f.hello.Offer.Program = "v0" })
	far := hire(t, s, "far", says("far"), func(f *fake) {
		f.hello.Offer.Agents = []fleet.Agent{{Backend: "fake", Version: "1", Sandbox: "on", Vendors: []string{"elsewhere"}}}
	})
	// It says one version, and answers with another.
	liar := hire(t, s, "liar", says("liar"), func(f *fake) { f.agent = eval.Identity{Backend: "fake", Version: "2", Model: "m"} })
	hire(t, s, "zeta", says("zeta"))
	c := lead(t, s, "run")
	by := all(t, c, 40, single)
	for _, w := range c.All() {
		if w.Hello.Name != "zeta" && slices.Contains(by, w.Hello.Worker) {
			t.Errorf("%s counts", w.Hello.Name)
		}
		want := map[string]string{"old": "has evolve v0, and this is v1", "far": "its fake asks elsewhere, which this run may not",
			"liar": "an answer of it was refused: made by fake 2, and this run has fake 1", "zeta": ""}[w.Hello.Name]
		if w.Why != want {
			t.Errorf("%s: %q, want %q", w.Hello.Name, w.Why, want)
		}
	}
	if old.did()+far.did() != 0 || liar.did() == 0 {
		t.Errorf("%d, %d and %d jobs", old.did(), far.did(), liar.did())
	}
}

// TestPlanUsedUp: the jobs of a worker whose plan is used up go elsewhere; if all are used up,
// the run ends with the first reset.
func TestPlanUsedUp(t *testing.T) {
	s := fleettest.Serve(t)
	reset := time.Now().Add(time.Hour).Truncate(time.Second)
	spent := func(*fleet.Job) *fleet.Result {
		return &fleet.Result{Failed: &fleet.Failure{Kind: eval.UsageLimit, ResetAt: reset, Text: "used up"}}
	}
	hire(t, s, "a", spent)
	c := lead(t, s, "run", func(o *Options) { o.Wait = 300 * time.Millisecond })
	_, err := attempt(t.Context(), c, "1", "", "")
	var infra *eval.InfraError
	if !errors.As(err, &infra) || infra.Kind != eval.UsageLimit || !infra.ResetAt.Equal(reset) {
		t.Errorf("%v", err)
	}
	hire(t, s, "b", says("b"))
	for range 20 {
		if a, err := attempt(t.Context(), c, "2", "", ""); err == nil && a.Answer == "b p" {
			return
		}
	}
	t.Error("b gets nothing")
}

// TestNobody: a run without workers ends, and says why.
func TestNobody(t *testing.T) {
	s := fleettest.Serve(t)
	c := lead(t, s, "run", func(o *Options) { o.Wait = 200 * time.Millisecond })
	_, err := attempt(t.Context(), c, "1", "", "")
	var infra *eval.InfraError
	if !errors.As(err, &infra) || infra.Kind != eval.Refused || !strings.Contains(err.Error(), "no worker has joined the fleet") {
		t.Errorf("%v", err)
	}
}

// TestAnswersAfterRefusing: a worker whose plan was used up may answer the same job later,
// although results before its first one are kept.
func TestAnswersAfterRefusing(t *testing.T) {
	s := fleettest.Serve(t)
	refused := false // one job at a time
	w := hire(t, s, "a", func(j *fleet.Job) *fleet.Result {
		if j.Task.Prompt == "kept" || refused {
			return says("a")(j)
		}
		refused = true
		return &fleet.Result{Failed: &fleet.Failure{Kind: eval.UsageLimit, ResetAt: time.Now().Add(300 * time.Millisecond), Text: "used up"}}
	})
	c := lead(t, s, "run")
	kept := &eval.Case{ID: "kept", Prompt: "kept"}
	p, err := c.Begin(t.Context(), eval.Task{Case: kept}, eval.Work{Key: "kept"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Attempt(t.Context(), eval.Task{Case: kept}); err != nil { // and is not recorded
		t.Fatal(err)
	}
	if a, err := attempt(t.Context(), c, "1", "", ""); err != nil || a.Answer != "a p" {
		t.Errorf("%+v, %v", a, err)
	}
	if n := w.did(); n != 3 {
		t.Errorf("%d jobs", n)
	}
}
