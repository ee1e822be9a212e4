package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/fleet/fleettest"
)

// TestAllWorkersWork: jobs are divided, both arms of a pair go to one worker, and nothing is
// left in the streams.
func TestAllWorkersWork(t *testing.T) {
	s := fleettest.Serve(t)
	a, b := hire(t, s, "a", says("a")), hire(t, s, "b", says("b"))
	c := lead(t, s, "run")
	heard(t, c, 2)
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
	for name, set := range map[string]options{
		"in an event": func(*Options) {},
		"beside it":   func(o *Options) { o.Blobs = nil }, // where the job, a large one, is stored
	} {
		t.Run(name, func(t *testing.T) {
			s := fleettest.Serve(t)
			hire(t, s, "a", says("a"))
			c := lead(t, s, "run", func(o *Options) {
				o.Pack = func(context.Context, eval.Task) (fleet.Task, error) {
					return fleet.Task{Prompt: strings.Repeat("p", fleet.Inline)}, nil
				}
			}, set)
			if name == "in an event" {
				c.send(func(*state) { panic("a bug") })
			}
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

// An identified is an agent that answers with its model's name.
type identified string

func (i identified) Identity() eval.Identity {
	return eval.Identity{Backend: "fake", Version: "1", Model: string(i)}
}

func (i identified) Run(context.Context, eval.Task) (eval.Attempt, error) {
	return eval.Attempt{Answer: string(i)}, nil
}

// TestStays: a task that cannot travel is done here, by the agent whose rollout it is: a search
// may have another model than the trial.
func TestStays(t *testing.T) {
	s := fleettest.Serve(t)
	c := lead(t, s, "run", func(o *Options) {
		o.Pack = func(context.Context, eval.Task) (fleet.Task, error) {
			return fleet.Task{}, &eval.StaysError{Why: "it is prepared"}
		}
		o.Here = func(id eval.Identity) eval.Executor { return &eval.Local{Agent: identified(id.Model)} }
	})
	for _, model := range []string{"of the trial", "of the search"} {
		p, err := c.Begin(t.Context(), eval.Task{Case: &eval.Case{ID: "1"}}, eval.Work{Key: "k", Agent: identified(model).Identity()})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if a, err := p.Attempt(t.Context(), eval.Task{Case: &eval.Case{ID: "1"}}); err != nil || a.Answer != model || a.Worker != "" {
			t.Errorf("%q by worker %q, %v; want the model %s here", a.Answer, a.Worker, err, model)
		}
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

// TestNotStored: a job that the server does not store is sent again until it does, although
// nobody waited for the first acknowledgement, and its worker is not blamed.
func TestNotStored(t *testing.T) {
	s := fleettest.Serve(t)
	w := hire(t, s, "a", says("a"))
	logged := make(chan string, 1)
	c := lead(t, s, "run", func(o *Options) {
		o.Log = func(line string) {
			select {
			case logged <- line:
			default: // the coordinator must not wait for this test
			}
		}
	})
	jobs, err := w.JS.Stream(t.Context(), fleet.Jobs)
	if err != nil {
		t.Fatal(err)
	}
	config := jobs.CachedInfo().Config
	size := func(most int32) {
		config.MaxMsgSize = most
		if _, err := w.JS.UpdateStream(t.Context(), config); err != nil {
			t.Error(err)
		}
	}
	size(1)
	go func() {
		if line := <-logged; !strings.Contains(line, "jobs wait for the server: ") {
			t.Errorf("logged %q", line)
		}
		size(-1)
	}()
	if a, err := attempt(t.Context(), c, "k", "", ""); err != nil || a.Answer != "a p" {
		t.Errorf("%q, %v", a.Answer, err)
	}
	if all := c.All(); w.did() != 1 || len(all) != 1 || all[0].Again != 0 {
		t.Errorf("%d jobs were done, %+v", w.did(), all)
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
	heard(t, c, 4)
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
