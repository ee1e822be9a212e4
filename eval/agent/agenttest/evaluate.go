package agenttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/workspace"
)

// wall is the wall clock of an attempt that should end by itself: generous, because a
// program takes seconds of CPU to start and the machine is shared.
const wall = 2 * time.Minute

// short is the wall clock of an attempt that never ends: long enough for the program to
// have called the model.
func (st *stage) short() time.Duration {
	if st.live() {
		return 12 * time.Second
	}
	return 2 * time.Second
}

// plainCase is an ordinary case of programs.
func plainCase(checks ...eval.Check) *eval.Case {
	return &eval.Case{ID: "stone-1", Skill: "stones", Prompt: "Which stone is the hardest?",
		// Not every tool creates the folder of the file that it writes.
		Files:  map[string]string{table: "stone,hardness\ndiamond,10\n", "out/index.txt": "stone.txt\n"},
		Checks: append([]eval.Check{{Type: eval.Contains, Value: "zirconium"}}, checks...)}
}

// fileChecks pass if the scripted model's file exists.
var fileChecks = []eval.Check{{Type: eval.FileExists, Path: written},
	{Type: eval.FileContains, Path: written, Value: "diamond"}}

func jobsOf(v eval.Variant, c *eval.Case, n int) []eval.Job {
	jobs := make([]eval.Job, n)
	for i := range jobs {
		k := *c
		if n > 1 {
			k.ID = fmt.Sprintf("%s-%d", c.ID, i)
		}
		jobs[i] = eval.Job{Variant: v, Case: &k}
	}
	return jobs
}

// A witness is an agent that keeps its last error.
type witness struct {
	eval.Agent
	mu  sync.Mutex
	err error
}

func (w *witness) Run(ctx context.Context, t eval.Task) (eval.Attempt, error) {
	a, err := w.Agent.Run(ctx, t)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.err = err
	}
	return a, err
}

// evaluator is one of the stage's agent; change may be nil.
func (st *stage) evaluator(change func(*eval.Evaluator)) (*eval.Evaluator, *witness) {
	w := &witness{Agent: st.agent}
	e := &eval.Evaluator{Agent: w, Grader: &eval.Checks{}, Workspaces: &workspace.Recorded{Parent: st.temp},
		WallClock: wall, InfraTries: 1, Concurrency: 1}
	if change != nil {
		change(e)
	}
	return e, w
}

// one evaluates one job that must end in a rollout.
func (st *stage) one(v eval.Variant, c *eval.Case, change func(*eval.Evaluator)) (*eval.Rollout, error) {
	st.Helper()
	e, w := st.evaluator(change)
	out, err := e.Run(st.Context(), jobsOf(v, c, 1))
	if err != nil {
		st.Fatal(err)
	}
	st.golden = append(st.golden, golden(out[0]))
	return out[0], w.err
}

// good evaluates a case that must be answered well.
func (st *stage) good(v eval.Variant, c *eval.Case) *eval.Rollout {
	st.Helper()
	return st.goodBy(nil, v, c)
}

// goodBy is good with a grader of its own; nil is that of plain checks.
func (st *stage) goodBy(g eval.Grader, v eval.Variant, c *eval.Case) *eval.Rollout {
	st.Helper()
	r, err := st.one(v, c, func(e *eval.Evaluator) {
		if g != nil {
			e.Grader = g
		}
	})
	if r.Status != eval.Done || r.Quality != 1 || r.Failure != "" || r.Attempts != 1 || r.InfraRetries != 0 {
		st.Fatalf("rollout = %s (%v), want a good one at the first try", compact(r), err)
	}
	if !strings.Contains(r.Answer, good.Text) {
		st.Errorf("answer = %q, want %q", r.Answer, good.Text)
	}
	return r
}

// A failing is the expected form of a failure.
type failing struct {
	kinds []eval.FailureKind
	reset bool // the time of the reset may be reported, and must be right
}

var (
	authFails       = failing{kinds: []eval.FailureKind{eval.Auth}}
	badRequestFails = failing{kinds: []eval.FailureKind{eval.BadRequest}}
	limitFails      = failing{kinds: []eval.FailureKind{eval.UsageLimit}, reset: true}
	busyFails       = failing{kinds: []eval.FailureKind{eval.RateLimited}}
	brokenFails     = failing{kinds: []eval.FailureKind{eval.ServerError}}
	// CLIs use the same words for a broken stream and an invalid one.
	droppedFails = failing{kinds: []eval.FailureKind{eval.Unreachable, eval.ServerError}}
)

// exact is how far off a time may be: some programs print only minutes, and in local
// time, which differed when they were recorded.
func (st *stage) exact() time.Duration {
	if st.p == nil || st.live() {
		return time.Minute
	}
	return 26 * time.Hour
}

// check fails unless err is an infrastructure failure of one of the kinds that
// holds no key.
func (f failing) check(st *stage, err error) {
	st.Helper()
	var infra *eval.InfraError
	if !errors.As(err, &infra) || !slices.Contains(f.kinds, infra.Kind) {
		st.Fatalf("err = %v, want an InfraError of kind %q", err, f.kinds)
	}
	for _, key := range []string{Key, wrong} {
		if strings.Contains(err.Error(), key) {
			st.Errorf("the error holds the key: %v", err)
		}
	}
	if at := infra.ResetAt; !at.IsZero() && (!f.reset || at.Sub(resets).Abs() > st.exact()) {
		st.Errorf("resets at %v, want %v", at, resets)
	}
	st.golden = append(st.golden, object{"kind": infra.Kind, "resets": !infra.ResetAt.IsZero(),
		"error": infra.Err.Error()})
}

// calls fails if the real program called the model more often than it may.
func (st *stage) calls(attempts int) {
	st.Helper()
	if n := len(st.server.Counted()); st.live() && n > attempts*st.p.Calls {
		st.Errorf("%d requests in %d attempts, want at most %d each", n, attempts, st.p.Calls)
	}
}
