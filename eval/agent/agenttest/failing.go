package agenttest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

func rateLimited(t *testing.T, h Harness) {
	busy := Reply{Status: http.StatusTooManyRequests, Code: "rate_limit_exceeded", Message: "slow down", RetryAfter: "0.05"}
	s, a := h.start(t, busy, good)
	e := &eval.Evaluator{Agent: a, Grader: &eval.Checks{}, MaxRetries: 1}
	out, err := e.Run(t.Context(), h.jobs(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	r := out[0]
	if r.Status != eval.Done || r.Quality != 1 || r.Retries != 0 || r.Attempts != 1 || r.InfraRetries != 1 {
		t.Errorf("rollout = %+v, want a good one: waiting is no fault of the candidate", r)
	}
	if n := len(s.Bodies()); n != 2 {
		t.Errorf("%d calls, want 2", n)
	}
}

// wantMissing expects a missing rollout, and an InfraError of one of the kinds
// from the agent itself.
func (h Harness) wantMissing(t *testing.T, a eval.Agent, kinds ...eval.FailureKind) {
	t.Helper()
	_, err := a.Run(t.Context(), eval.Task{Variant: variant(t), Case: h.kase(), Seed: 7})
	var infra *eval.InfraError
	if !errors.As(err, &infra) {
		t.Fatalf("err = %v, want an InfraError", err)
	}
	found := false
	for _, k := range kinds {
		found = found || infra.Kind == k
	}
	if !found {
		t.Errorf("kind %q, want one of %q", infra.Kind, kinds)
	}
	e := &eval.Evaluator{Agent: a, Grader: &eval.Checks{}, InfraTries: 1}
	out, err := e.Run(t.Context(), h.jobs(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	if r := out[0]; r.Status != eval.Missing || r.Attempts != 0 || r.Failure == "" {
		t.Errorf("rollout = %+v, want a missing one that says why", r)
	}
	if m := eval.Summarise(out); m.N != 0 {
		t.Errorf("a missing rollout counts: %+v", m)
	}
}

func alwaysBusy(t *testing.T, h Harness) {
	_, a := h.start(t, Reply{Status: http.StatusTooManyRequests, Code: "rate_limit_exceeded", Message: "slow down", RetryAfter: "0.01"})
	h.wantMissing(t, a, eval.RateLimited)
}

func serverError(t *testing.T, h Harness) {
	_, a := h.start(t, Reply{Status: http.StatusInternalServerError, Code: "server_error", Message: "broken"})
	h.wantMissing(t, a, eval.ServerError)
}

func dropped(t *testing.T, h Harness) {
	_, a := h.start(t, Reply{Drop: true})
	h.wantMissing(t, a, eval.Unreachable, eval.ServerError)
}

func malformed(t *testing.T, h Harness) {
	_, a := h.start(t, Reply{Raw: `{"choices": [{"message": {"content": "zirconium"}}}`})
	h.wantMissing(t, a, eval.ServerError, eval.Unreachable)
}

func unreachable(t *testing.T, h Harness) {
	s := NewServer(t, h.Protocol, good)
	s.URL = "http://127.0.0.1:1/v1" // nothing listens on port 1
	h.wantMissing(t, h.New(t, s, Key), eval.Unreachable)
}

func neverAnswers(t *testing.T, h Harness) {
	_, a := h.start(t, Reply{Hang: true})
	e := &eval.Evaluator{Agent: a, Grader: &eval.Checks{}, WallClock: 200 * time.Millisecond}
	out, err := e.Run(t.Context(), h.jobs(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	if r := out[0]; r.Status != eval.Done || r.Quality != 0 || r.Failure == "" {
		t.Errorf("rollout = %+v, want a failed one: a candidate that hangs must look bad, not missing", r)
	}
}

func interrupted(t *testing.T, h Harness) {
	s, a := h.start(t, Reply{Hang: true})
	rec := newRecord()
	e := &eval.Evaluator{Agent: a, Grader: &eval.Checks{}, Recorder: rec, Concurrency: 2}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-s.Arrived()
		cancel()
	}()
	out, err := e.Run(ctx, h.jobs(t, 4))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want context canceled", err)
	}
	for _, r := range out {
		if r != nil {
			t.Errorf("a rollout was returned: %+v", r)
		}
	}
	if n := rec.len(); n != 0 {
		t.Errorf("%d rollouts were recorded", n)
	}
}

func concurrent(t *testing.T, h Harness) {
	before := runtime.NumGoroutine()
	s, a := h.start(t, good)
	started := runtime.NumGoroutine() - before // the server's own
	e := &eval.Evaluator{Agent: a, Grader: &eval.Checks{}, Concurrency: 16}
	out, err := e.Run(t.Context(), h.jobs(t, 200))
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range out {
		if r == nil || r.Status != eval.Done || r.Answer == "" {
			t.Fatalf("rollout %d = %+v", i, r)
		}
	}
	s.Client.CloseIdleConnections()
	// Connections take a moment to close on both sides; a leak remains.
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > before+started {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines are left over:\n%s", runtime.NumGoroutine()-before-started,
				stacks[:runtime.Stack(stacks, true)])
		}
		runtime.Gosched()
	}
}

func (h Harness) jobs(t *testing.T, n int) []eval.Job {
	t.Helper()
	v := variant(t)
	jobs := make([]eval.Job, n)
	for i := range jobs {
		c := *h.kase()
		c.ID = fmt.Sprintf("%s-%d", c.ID, i)
		jobs[i] = eval.Job{Variant: v, Case: &c}
	}
	return jobs
}

// record is a Recorder that finds nothing.
type record struct {
	mu sync.Mutex
	n  int
}

func newRecord() *record { return new(record) }

func (r *record) len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}

func (r *record) Rollout(context.Context, string) (*eval.Rollout, bool, error) {
	return nil, false, nil
}
func (r *record) SaveRollout(context.Context, *eval.Rollout) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	return nil
}
func (r *record) Completion(context.Context, string) (*eval.Completion, error) { return nil, nil }
func (r *record) SaveCompletion(context.Context, string, eval.Spender, *eval.Completion) error {
	return nil
}
