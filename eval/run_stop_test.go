package eval

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func agentFunc(do func(ctx context.Context, t Task) (Attempt, error)) *scripted {
	return &scripted{id: Identity{Backend: "scripted"}, do: do}
}

func TestInfraFailuresAreRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls []time.Duration
		begun := time.Now()
		e := &Evaluator{Grader: new(Checks), MaxRetries: 1, Budget: NewBudget(Caps{}, nil),
			Agent: agentFunc(func(ctx context.Context, task Task) (Attempt, error) {
				calls = append(calls, time.Since(begun))
				switch len(calls) {
				case 1:
					return Attempt{}, &InfraError{Kind: RateLimited, RetryAfter: 20 * time.Second, Err: errors.New("busy")}
				case 2:
					return Attempt{}, errors.New("connection reset") // of unknown kind
				}
				time.Sleep(3 * time.Second)
				return echo(ctx, task)
			})}
		out, err := e.Run(t.Context(), jobsOf(testCases(1)))
		if err != nil {
			t.Fatal(err)
		}
		r := out[0]
		if r.Status != Done || r.Retries != 0 || r.Attempts != 1 || r.InfraRetries != 2 || *r.LatencyMS != 3000 {
			t.Errorf("rollout = %+v, latency %d", r, *r.LatencyMS)
		}
		if calls[1] < 20*time.Second || calls[1] > 22*time.Second+time.Millisecond {
			t.Errorf("the second call came after %v, the server asked for 20 s", calls[1])
		}
		if calls[2] <= calls[1] {
			t.Errorf("the third call came at once, at %v", calls[2])
		}
		if s := e.Budget.Spent(); s.Rollouts != 1 || s.AgentCalls != 3 {
			t.Errorf("spent = %+v, want one attempt in three calls", s)
		}
	})
}

func TestServerThatAsksForTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		e := &Evaluator{Grader: new(Checks), Agent: agentFunc(func(context.Context, Task) (Attempt, error) {
			return Attempt{}, &InfraError{Kind: RateLimited, RetryAfter: time.Hour, Err: errors.New("busy")}
		})}
		out, err := e.Run(t.Context(), jobsOf(testCases(1)))
		if err != nil || out[0].Status != Missing || time.Since(begun) > time.Second {
			t.Errorf("rollout %+v after %v (%v)", out[0], time.Since(begun), err)
		}
	})
}

func TestMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := func(id string) bool { return id == "c003" }
		rec := newMemory(true)
		b := NewBudget(Caps{}, nil)
		e := &Evaluator{Grader: new(Checks), Recorder: rec, InfraTries: 3, Concurrency: 4, Budget: b,
			Agent: agentFunc(func(ctx context.Context, task Task) (Attempt, error) {
				if down(task.Case.ID) {
					return Attempt{}, &InfraError{Kind: ServerError, Err: errors.New("status 500")}
				}
				return echo(ctx, task)
			})}
		jobs := jobsOf(testCases(10))
		out, err := e.Run(t.Context(), jobs)
		if err != nil {
			t.Fatal(err)
		}
		r := out[3]
		if r.Status != Missing || r.Attempts != 0 || r.InfraRetries != 3 || !strings.Contains(r.Failure, "status 500") {
			t.Errorf("rollout = %+v", r)
		}
		if s := b.Spent(); s.Rollouts != 9 || s.AgentCalls != 12 {
			t.Errorf("spent = %+v", s)
		}
		if rec.rollouts[r.Key] != r {
			t.Error("a tolerated missing rollout is not recorded: a resumed run would decide otherwise")
		}

		// With more than a fifth missing the Run stops, and keeps none of them,
		// so that a resumed run asks again.
		down = func(id string) bool { return id >= "c104" }
		more := testCases(110)[100:]
		out, err = e.Run(t.Context(), jobsOf(more))
		var many *TooManyMissingError
		if !errors.As(err, &many) || many.Missing != 3 || !strings.Contains(err.Error(), "status 500") {
			t.Fatalf("err = %v", err)
		}
		for i, r := range out {
			if r != nil && r.Status == Missing && rec.rollouts[r.Key] != nil {
				t.Errorf("rollout %d is missing, and recorded", i)
			}
		}
		down = func(string) bool { return false }
		out, err = e.Run(t.Context(), jobsOf(more))
		if err != nil || Summarise(out).N != 10 {
			t.Errorf("resumed: %v, %d rollouts", err, Summarise(out).N)
		}
	})
}

func TestMissingOverSmallRuns(t *testing.T) {
	dead := true
	e := &Evaluator{Grader: new(Checks), InfraTries: 1, Agent: agentFunc(func(ctx context.Context, task Task) (Attempt, error) {
		if dead {
			return Attempt{}, errors.New("no route to host")
		}
		return echo(ctx, task)
	})}
	pairs := func() (ok int, err error) {
		for ok = 0; ok < 50; ok++ {
			if _, err = e.Run(t.Context(), jobsOf(testCases(2))); err != nil {
				return ok, err
			}
		}
		return ok, nil
	}
	n, err := pairs()
	var many *TooManyMissingError
	if n != 4 || !errors.As(err, &many) || many.Missing != 10 {
		t.Errorf("stopped after %d pairs with %v", n, err)
	}
	dead = false
	if n, err := pairs(); n != 50 {
		t.Errorf("with the network back, stopped after %d pairs with %v", n, err)
	}
}

func TestRecordsOfEarlierRuns(t *testing.T) {
	rec := newMemory(false)
	b := NewBudget(Caps{}, nil)
	e := &Evaluator{Agent: agentFunc(echo), Grader: new(Checks), Recorder: rec, Budget: b}
	jobs := jobsOf(testCases(3))
	for i, status := range []Status{Done, Missing, Void} {
		key := e.Key(jobs[i])
		rec.rollouts[key] = &Rollout{Key: key, Status: status, Attempts: 1, Quality: 0.125}
	}
	out, err := e.Run(t.Context(), jobs)
	if err != nil {
		t.Fatal(err)
	}
	if out[0].Quality != 0.125 || out[1].Quality != 1 || out[2].Quality != 1 {
		t.Errorf("qualities %v %v %v: only what was done is taken over", out[0].Quality, out[1].Quality, out[2].Quality)
	}
	if s := b.Spent(); s.Rollouts != 2 {
		t.Errorf("spent = %+v, want the two that were run", s)
	}
}

func TestHopelessErrorsStop(t *testing.T) {
	for _, kind := range []FailureKind{Auth, BadRequest, UsageLimit} {
		synctest.Test(t, func(t *testing.T) {
			var calls atomic.Int32
			rec := newMemory(true)
			e := &Evaluator{Grader: new(Checks), Recorder: rec, Concurrency: 2,
				Agent: agentFunc(func(ctx context.Context, task Task) (Attempt, error) {
					calls.Add(1)
					if task.Case.ID == "c001" {
						return Attempt{}, &InfraError{Kind: kind, Err: errors.New("no")}
					}
					time.Sleep(time.Second) // under way when the other fails
					return echo(ctx, task)
				})}
			out, err := e.Run(t.Context(), jobsOf(testCases(50)))
			var infra *InfraError
			if !errors.As(err, &infra) || infra.Kind != kind {
				t.Fatalf("err = %v", err)
			}
			if out[0] == nil || out[1] != nil || rec.rollouts[out[0].Key] == nil {
				t.Errorf("%s: what was under way is lost: %+v", kind, out[0])
			}
			if n := calls.Load(); n != 2 {
				t.Errorf("%s: %d calls, though after the second it was clear that none can succeed", kind, n)
			}
		})
	}
}

func TestWallClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &Evaluator{Grader: new(Checks), WallClock: time.Minute,
			Agent: agentFunc(func(ctx context.Context, task Task) (Attempt, error) {
				<-ctx.Done()
				if task.Case.ID == "c001" {
					return Attempt{}, &InfraError{Kind: Unreachable, Err: errors.New("no connection")}
				}
				return Attempt{Trace: []ToolCall{{Name: "Bash"}}}, ctx.Err()
			}), InfraTries: 2}
		out, err := e.Run(t.Context(), jobsOf(testCases(2)))
		if err != nil {
			t.Fatal(err)
		}
		if r := out[0]; r.Status != Done || r.Quality != 0 || r.Retries != 1 || *r.LatencyMS != 60_000 ||
			r.Failure != "no end of the answer within 1m0s" || len(r.Trace) != 1 || len(r.Feedback) != 2 {
			t.Errorf("a candidate that hangs = %+v", r)
		}
		if r := out[1]; r.Status != Missing {
			t.Errorf("no connection = %+v, want missing", r)
		}
	})
}

func TestCancelled(t *testing.T) {
	rec := newMemory(true)
	b := NewBudget(Caps{}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	e := &Evaluator{Grader: new(Checks), Recorder: rec, Concurrency: 2, Budget: b,
		Agent: agentFunc(func(ctx context.Context, task Task) (Attempt, error) {
			if task.Case.ID >= "c004" {
				cancel()
				<-ctx.Done()
				return Attempt{}, ctx.Err()
			}
			return echo(ctx, task)
		})}
	out, err := e.Run(ctx, jobsOf(testCases(20)))
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("err = %v", err)
	}
	for i, r := range out {
		if r == nil && i < 3 || r != nil && (i >= 4 || rec.rollouts[r.Key] != r) {
			t.Errorf("rollout %d = %+v", i, r)
		}
	}
	if n := len(rec.rollouts); n > 4 {
		t.Errorf("%d rollouts are recorded", n)
	}
	if b.inFlight != 0 {
		t.Error("a reservation was lost")
	}
}

func TestBudgetCutsOffTheLastJobs(t *testing.T) {
	b := NewBudget(Caps{Rollouts: 13}, nil)
	e := &Evaluator{Agent: agentFunc(echo), Grader: new(Checks), Budget: b, Concurrency: 8}
	out, err := e.Run(t.Context(), jobsOf(testCases(40)))
	var full *BudgetError
	if !errors.As(err, &full) || full.Cap != "max-rollouts" {
		t.Fatalf("err = %v", err)
	}
	for i, r := range out {
		if (r != nil) != (i < 13) {
			t.Errorf("rollout %d = %v", i, r)
		}
	}
	if s := b.Spent(); s.Rollouts != 13 {
		t.Errorf("spent = %+v", s)
	}
}

func TestConcurrencyIsOverAllRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		e := &Evaluator{Grader: new(Checks), Concurrency: 2,
			Agent: agentFunc(func(ctx context.Context, task Task) (Attempt, error) {
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(time.Second)
				now.Add(-1)
				return echo(ctx, task)
			})}
		begun := time.Now()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if _, err := e.Run(t.Context(), jobsOf(testCases(4))); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if most.Load() != 2 {
			t.Errorf("%d at once, want 2", most.Load())
		}
		if took := time.Since(begun); took != 6*time.Second {
			t.Errorf("12 rollouts of 1 s took %v", took)
		}
	})
}
