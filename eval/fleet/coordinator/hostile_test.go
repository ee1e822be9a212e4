package coordinator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/fleet/fleettest"
	"github.com/skill-evolve/evolve/eval/fleet/server"
)

// TestAnswersOfBefore: what is stored for a run that is continued, and does not count now, is
// neither waited for nor held against its worker, and was paid for.
func TestAnswersOfBefore(t *testing.T) {
	for name, old := range map[string]fleet.Result{
		"another program": {Program: "v0"},
		"no plan left":    {Program: program, Failed: &fleet.Failure{Kind: eval.UsageLimit, Text: "used up"}},
		"no login":        {Program: program, Failed: &fleet.Failure{Kind: eval.Auth, Text: "no key"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := fleettest.Serve(t)
			w := hire(t, s, "a", says("now"))
			me := s.JoinAs("lead", seed)
			usd := 0.5
			old.Protocol, old.Key, old.Sandbox, old.Agent, old.Params = fleet.Protocol, "k-0", "on", identity, fleet.WithoutServer(identity)
			old.Attempt = eval.Attempt{Answer: "before", CostUSD: &usd}
			m, err := fleet.SealFor(w.Key, me.ID, fleet.ResultSubject(fleet.CoordinatorID(me.ID, "run"), w.ID, "k-0"), old, nil)
			if err == nil {
				_, err = w.JS.PublishMsg(t.Context(), m)
			}
			if err != nil {
				t.Fatal(err)
			}
			c := lead(t, s, "run")
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if a, err := attempt(ctx, c, "k", "", ""); err != nil || a.Answer != "now p" {
				t.Errorf("%q, %v", a.Answer, err)
			}
			if len(c.Workers()) != 1 {
				t.Error("its worker gets no jobs")
			}
			if late := c.Late(); len(late) != 1 || late[0].USD == nil || *late[0].USD != usd {
				t.Errorf("paid for are %v", late)
			}
		})
	}
}

// TestRefusedIsPaidFor: an answer that does not count has cost something.
func TestRefusedIsPaidFor(t *testing.T) {
	s := fleettest.Serve(t)
	usd := 0.25
	hire(t, s, "a-liar", func(*fleet.Job) *fleet.Result {
		return &fleet.Result{Attempt: eval.Attempt{Answer: "x", CostUSD: &usd}}
	}, func(f *fake) { f.agent = eval.Identity{Backend: "fake", Version: "2", Model: "m"} })
	c := lead(t, s, "run", func(o *Options) { o.Wait = 300 * time.Millisecond })
	if _, err := attempt(t.Context(), c, "k", "", ""); err == nil {
		t.Error("its answer counts")
	}
	if late := c.Late(); len(late) != 1 || late[0].USD == nil || *late[0].USD != usd {
		t.Errorf("paid for are %v", late)
	}
}

// TestAnswerIsGone: a large answer whose text was purged is made again, by the same worker if
// there is no other; one that never brings it is not asked for ever.
func TestAnswerIsGone(t *testing.T) {
	s := fleettest.Serve(t)
	var w *fake
	gone := map[string]int{"once": 1, "always": 1000}
	var mu sync.Mutex
	w = hire(t, s, "a", func(j *fleet.Job) *fleet.Result {
		mu.Lock()
		defer mu.Unlock()
		what := strings.TrimSuffix(j.Key, "-0")
		if gone[what]--; gone[what] < 0 {
			return says("a")(j)
		}
		subject, blob := fleet.ResultSubject(j.Coordinator, j.Worker, j.Key), fleet.NameOf([]byte(what))
		m, err := fleet.SealFor(w.Key, fleet.Sender(j.Coordinator), subject, blob, nil)
		if err == nil {
			m.Header.Set("Evolve-Blob", blob)
			_, err = w.JS.PublishMsg(t.Context(), m)
		}
		if err != nil && t.Context().Err() == nil { // the test may end before the last one is acknowledged
			t.Error(err)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.held, j.Key)
		return nil
	})
	c := lead(t, s, "run", func(o *Options) { o.Lost = 400 * time.Millisecond })
	if a, err := attempt(t.Context(), c, "once", "", ""); err != nil || a.Answer != "a p" {
		t.Errorf("%q, %v", a.Answer, err)
	}
	if len(c.Workers()) != 1 {
		t.Error("its worker gets no jobs")
	}
	var infra *eval.InfraError
	if _, err := attempt(t.Context(), c, "always", "", ""); !errors.As(err, &infra) || infra.Kind != eval.ServerError {
		t.Errorf("never there: %v", err)
	}
}

// TestFailingWorker: one whose attempts all fail at once does not get all jobs.
func TestFailingWorker(t *testing.T) {
	s := fleettest.Serve(t)
	bad := hire(t, s, "bad", func(*fleet.Job) *fleet.Result {
		return &fleet.Result{Failed: &fleet.Failure{Kind: eval.Unreachable, Text: "no route"}}
	})
	hire(t, s, "good", func(j *fleet.Job) *fleet.Result {
		time.Sleep(20 * time.Millisecond)
		return says("good")(j)
	})
	c := lead(t, s, "run")
	heard(t, c, 2)
	var failed atomic.Int32
	var wait sync.WaitGroup
	slots := make(chan bool, 6) // more than the good one has
	for i := range 40 {
		slots <- true
		wait.Go(func() {
			defer func() { <-slots }()
			key := string(rune('A' + i))
			k := &eval.Case{ID: key, Prompt: "p"}
			p, err := c.Begin(t.Context(), eval.Task{Case: k}, eval.Work{Key: key, Pair: key})
			if err != nil {
				t.Error(err)
				return
			}
			defer p.Close()
			for range 5 {
				if _, err = p.Attempt(t.Context(), eval.Task{Case: k}); err == nil {
					return
				}
				failed.Add(1)
			}
			t.Errorf("%s: %v", key, err)
		})
	}
	wait.Wait()
	if n := int(failed.Load()); n > 10 || bad.did() != n || len(c.Workers()) != 2 {
		t.Errorf("%d attempts failed, of %d; %d workers", n, bad.did(), len(c.Workers()))
	}
}

// TestBusyElsewhere: a worker that has jobs of other runs is not taken for an idle one.
func TestBusyElsewhere(t *testing.T) {
	s := fleettest.Serve(t)
	other := []fleet.Held{{Coordinator: "X_y", Key: "1"}, {Coordinator: "X_y", Key: "2"}}
	for i := range 5 {
		hire(t, s, fmt.Sprint("busy", i), says("busy"), func(f *fake) { f.hello.Running = other })
	}
	idle := hire(t, s, "idle", says("idle"))
	c := lead(t, s, "run")
	heard(t, c, 6)
	for i := range 10 {
		if _, err := attempt(t.Context(), c, string(rune('A'+i)), "", ""); err != nil {
			t.Fatal(err)
		}
	}
	if idle.did() != 10 {
		t.Errorf("the idle one got %d of 10 jobs", idle.did())
	}
}

// TestMadeUpKeys: a worker cannot answer as workers that nobody has invited. It has the server
// publish the answer, which it may not itself: JetStream answers wherever it is told to.
func TestMadeUpKeys(t *testing.T) {
	f, err := server.Open(t.TempDir(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan bool), make(chan error, 1)
	go func() {
		ended <- f.Serve(ctx, server.Options{Listen: "127.0.0.1:0", Ready: func(*server.Served) { close(ready) }})
	}()
	defer func() {
		stop()
		<-ended
	}()
	<-ready
	dial := func(name, role string) *fleet.Conn {
		i, _, err := f.Invite(name, role, 0)
		if err != nil {
			t.Fatal(err)
		}
		c, err := fleet.Dial(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	desk, w := dial("desk", fleet.RoleCoordinator), dial("w", fleet.RoleWorker)
	blobs, err := fleet.OpenBlobs(t.Context(), desk.JS)
	if err != nil {
		t.Fatal(err)
	}
	logged := make(chan string, 100)
	c, err := Open(t.Context(), Options{Conn: desk, Blobs: blobs, Program: program, Sandbox: "on", Agent: identity,
		Pack: func(context.Context, eval.Task) (fleet.Task, error) { return fleet.Task{}, nil }, Log: func(line string) { logged <- line },
		Wait: time.Minute, Lost: 30 * time.Second, Beat: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Continue(t.Context(), "run"); err != nil {
		t.Fatal(err)
	}
	answer := func(as *fleet.Key, id, rights string, through func(m string, body []byte, h map[string][]string)) {
		subject := fleet.ResultSubject(fleet.CoordinatorID(desk.ID, "run"), id, "k-0")
		m, err := fleet.SealFor(as, desk.ID, subject, fleet.Result{Protocol: fleet.Protocol, Key: "k-0", Program: program, Sandbox: "on", Agent: identity,
			Params: fleet.WithoutServer(identity), Attempt: eval.Attempt{Answer: id}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		m.Header.Set(fleet.Rights, rights)
		through(subject, m.Data, m.Header)
	}
	made, err := fleet.NewKey(fleettest.Seed())
	if err != nil {
		t.Fatal(err)
	}
	answer(made, made.ID, w.In.JWT, func(subject string, body []byte, h map[string][]string) {
		m := natsMsg("$O."+fleet.Bucket+".M.x", body, h)
		if _, err := w.JS.PublishMsg(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		if err := w.Nats.PublishRequest("$JS.API.DIRECT.GET.OBJ_"+fleet.Bucket+".$O."+fleet.Bucket+".M.x", subject, nil); err != nil {
			t.Fatal(err)
		}
	})
	select {
	case <-logged: // it is not read
	case <-time.After(10 * time.Second):
		t.Error("the made-up answer did not come, or is believed")
	}
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if a, err := attempt(short, c, "k", "", ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%q counts as %q: %v", a.Answer, a.Worker, err)
	}
	answer(w.Key, w.ID, w.In.JWT, func(subject string, body []byte, h map[string][]string) {
		if _, err := w.JS.PublishMsg(t.Context(), natsMsg(subject, body, h)); err != nil {
			t.Fatal(err)
		}
	})
	if a, err := attempt(t.Context(), c, "k", "", ""); err != nil || a.Worker != w.ID {
		t.Errorf("its own answer: %q, %v", a.Worker, err)
	}
}

func natsMsg(subject string, body []byte, h map[string][]string) *nats.Msg {
	return &nats.Msg{Subject: subject, Data: body, Header: h}
}
