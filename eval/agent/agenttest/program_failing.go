package agenttest

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

func programCancelled(st *stage) {
	ctx, cancel := context.WithCancel(st.Context())
	cancel()
	_, err := st.agent.Run(ctx, eval.Task{Variant: variant(st.T), Case: plainCase(), Workspace: st.temp, Seed: 7})
	if !errors.Is(err, context.Canceled) {
		st.Errorf("err = %v, want context canceled", err)
	}
}

func programFails(st *stage) {
	r, err := st.one(variant(st.T), plainCase(), nil)
	if r.Status != eval.Done || r.Failure == "" || r.Retries == 0 {
		st.Errorf("rollout = %s (%v), want the agent's failure as data", compact(r), err)
	}
}

// A refusal by our own configuration is no failure of the candidate.
func programDenied(st *stage) {
	e, w := st.evaluator(nil)
	out, err := e.Run(st.Context(), jobsOf(variant(st.T), plainCase(fileChecks...), 1))
	if err == nil && out[0].Status != eval.Missing {
		st.Errorf("rollout = %s, want none", compact(out[0]))
	}
	var infra *eval.InfraError
	if !errors.As(w.err, &infra) {
		st.Errorf("err = %v, want an InfraError", w.err)
	}
}

// programStops expects that a run of several jobs ends with one failure at the first,
// and that nothing is recorded.
func programStops(f failing) func(*stage) {
	return func(st *stage) {
		rec := newRecord()
		e, _ := st.evaluator(func(e *eval.Evaluator) { e.Recorder = rec })
		out, err := e.Run(st.Context(), jobsOf(variant(st.T), plainCase(), 3))
		f.check(st, err)
		if out[0] != nil || rec.len() != 0 {
			st.Errorf("a rollout was kept: %+v", out[0])
		}
		st.calls(1)
	}
}

func programMissing(f failing) func(*stage) {
	return func(st *stage) {
		r, err := st.one(variant(st.T), plainCase(), nil)
		if r.Status != eval.Missing || r.Attempts != 0 || r.Failure == "" {
			st.Errorf("rollout = %s, want a missing one that says why", compact(r))
		}
		if m := eval.Summarise([]*eval.Rollout{r}); m.N != 0 {
			st.Errorf("a missing rollout counts: %+v", m)
		}
		f.check(st, err)
		st.calls(1)
	}
}

func programUnreachable(st *stage) { programMissing(droppedFails)(st) }

func programRateLimited(st *stage) {
	r, err := st.one(variant(st.T), plainCase(), func(e *eval.Evaluator) { e.InfraTries = 3 })
	if r.Status != eval.Done || r.Quality != 1 || r.Retries != 0 || r.Attempts != 1 || r.InfraRetries < 1 {
		st.Errorf("rollout = %s (%v), want a good one: waiting is no fault of the candidate", compact(r), err)
	}
}

func programNeverAnswers(st *stage) {
	r, err := st.one(variant(st.T), plainCase(), func(e *eval.Evaluator) { e.WallClock = st.short() })
	if r.Status != eval.Done || r.Quality != 0 || r.Failure == "" {
		st.Errorf("rollout = %s (%v), want a failed one: a candidate that hangs must look bad, not missing", compact(r), err)
	}
	if st.live() && len(st.server.Counted()) == 0 {
		st.Error("the program never asked")
	}
}

func programInterrupted(st *stage) {
	rec := newRecord()
	e, _ := st.evaluator(func(e *eval.Evaluator) { e.Recorder, e.Concurrency = rec, 2 })
	ctx, cancel := context.WithCancel(st.Context())
	defer cancel()
	go func() {
		select {
		case <-st.server.Arrived():
		case <-time.After(wall):
		}
		cancel()
	}()
	out, err := e.Run(ctx, jobsOf(variant(st.T), plainCase(), 4))
	if !errors.Is(err, context.Canceled) {
		st.Errorf("err = %v, want context canceled", err)
	}
	for _, r := range out {
		if r != nil {
			st.Errorf("a rollout was returned: %+v", r)
		}
	}
	if n := rec.len(); n != 0 {
		st.Errorf("%d rollouts were recorded", n)
	}
}

// A program that prints 100 MB, or whose tool does, must not use memory for it, and is
// either answered or ended.
func programHugeOutput(st *stage) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	e, w := st.evaluator(nil)
	out, err := e.Run(st.Context(), jobsOf(variant(st.T), plainCase(), 1))
	if err != nil {
		st.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 300<<20 {
		st.Errorf("the heap has grown by %d MiB", grown>>20)
	}
	switch r := out[0]; {
	case r.Status == eval.Done && r.Failure == "" && r.Quality != 1,
		r.Status == eval.Missing && !errors.As(w.err, new(*eval.InfraError)),
		r.Status == eval.Void:
		st.Errorf("rollout = %s (%v), want an answer or a failure", compact(r), w.err)
	}
}

// The wall clock ends a program whose tool ignores SIGTERM, and the tool.
func programIgnoresTerm(st *stage) {
	begun := time.Now()
	r, err := st.one(variant(st.T), plainCase(), func(e *eval.Evaluator) { e.WallClock = st.short() })
	if r.Status != eval.Done || r.Failure == "" {
		st.Errorf("rollout = %s (%v), want a failed one", compact(r), err)
	}
	if took := time.Since(begun); took > st.short()+30*time.Second {
		st.Errorf("it took %v to end", took)
	}
}

func programToolCut(st *stage) {
	ctx, cancel := context.WithCancel(st.Context())
	defer cancel()
	ran := make(chan bool, 1)
	go func() {
		ran <- until(wall, func() bool { return ctx.Err() != nil || runs(st.mark) })
		cancel()
	}()
	e, _ := st.evaluator(nil)
	_, err := e.Run(ctx, jobsOf(variant(st.T), plainCase(), 1))
	if !errors.Is(err, context.Canceled) {
		st.Errorf("err = %v, want context canceled", err)
	}
	cancel()
	if !<-ran {
		st.Error("the tool never ran")
	}
}

func programConcurrent(st *stage) {
	n := 200
	if testing.Short() && !st.live() {
		n = 48
	}
	before := holds()
	e, w := st.evaluator(func(e *eval.Evaluator) {
		e.Concurrency, e.WallClock = 16, 10*time.Minute
	})
	out, err := e.Run(st.Context(), jobsOf(variant(st.T), plainCase(fileChecks...), n))
	if err != nil {
		st.Fatal(err)
	}
	for i, r := range out {
		if r == nil || r.Status != eval.Done || r.Quality != 1 || len(r.Files) != 1 {
			st.Fatalf("rollout %d = %s (%v)", i, compact(r), w.err)
		}
	}
	st.golden = append(st.golden, golden(out[0]))
	st.server.CloseIdle()
	back(st, before)
}
