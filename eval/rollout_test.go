package eval

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestRetriesInferred(t *testing.T) {
	trace := []ToolCall{{Name: "Bash", Failed: true}, {Name: "Read", Failed: true}, {Name: "Bash", Failed: true}, {Name: "Bash"}}
	for _, c := range []struct {
		answer  string
		trace   []ToolCall
		retries float64
	}{
		{"say 0", nil, 0},
		{"nothing", nil, 1},
		{"say 0", trace, 2}, // Read was never issued again
		{"nothing", trace, 3},
	} {
		e := &Evaluator{Grader: new(Checks), Agent: agentFunc(func(context.Context, Task) (Attempt, error) {
			return Attempt{Answer: c.answer, Trace: c.trace}, nil
		})}
		out, err := e.Run(t.Context(), jobsOf(testCases(1)))
		if err != nil {
			t.Fatal(err)
		}
		if out[0].Retries != c.retries || out[0].Attempts != 1 {
			t.Errorf("%q with %d calls: retries %v, want %v", c.answer, len(c.trace), out[0].Retries, c.retries)
		}
	}
}

func TestRetriesMeasured(t *testing.T) {
	for _, c := range []struct {
		succeeds int // at which attempt, from 0
		retries  float64
		attempts int
	}{{0, 0, 1}, {1, 1, 2}, {2, 2, 3}, {9, 3, 3}} {
		var tasks []Task
		b := NewBudget(Caps{}, nil)
		e := &Evaluator{Grader: new(Checks), MaxRetries: 2, Budget: b,
			Agent: agentFunc(func(_ context.Context, task Task) (Attempt, error) {
				tasks = append(tasks, task)
				a := Attempt{Answer: "no", Usage: &Usage{Output: 10}, CostUSD: ptr(1.0), Duration: time.Second}
				if len(tasks) == c.succeeds+1 {
					a.Answer = "0"
				}
				return a, nil
			})}
		out, err := e.Run(t.Context(), jobsOf(testCases(1)))
		if err != nil {
			t.Fatal(err)
		}
		r := out[0]
		if r.Retries != c.retries || r.Attempts != c.attempts || len(tasks) != c.attempts {
			t.Errorf("success at %d: retries %v in %d attempts", c.succeeds, r.Retries, r.Attempts)
		}
		if first := r.Quality == 1; first != (c.succeeds == 0) {
			t.Errorf("success at %d: quality %v, want the first attempt's", c.succeeds, r.Quality)
		}
		if *r.CostUSD != 1 || r.Usage.Output != 10 || *r.LatencyMS != 1000 {
			t.Errorf("objectives are not the first attempt's: %+v", r)
		}
		if s := b.Spent(); s.Rollouts != int64(c.attempts) || s.TokensOut != 10*int64(c.attempts) || s.CostUSD != float64(c.attempts) {
			t.Errorf("spent = %+v, want all %d attempts", s, c.attempts)
		}
		if c.attempts > 1 {
			want := &Prior{Answer: "no", Feedback: []string{`The answer does not contain "0".`}}
			if !reflect.DeepEqual(tasks[1].Prior, want) || tasks[0].Prior != nil || tasks[1].Seed == tasks[0].Seed {
				t.Errorf("the second task = %+v", tasks[1])
			}
		}
	}
}

func TestVoid(t *testing.T) {
	e := &Evaluator{Grader: new(Checks), Agent: agentFunc(func(context.Context, Task) (Attempt, error) {
		return Attempt{Answer: "0", Tainted: "read the installed skill"}, nil
	})}
	out, err := e.Run(t.Context(), jobsOf(testCases(1)))
	if err != nil || out[0].Status != Void || out[0].Failure != "read the installed skill" || Summarise(out).N != 0 {
		t.Errorf("rollout = %+v (%v)", out[0], err)
	}
}

// Only a failure is asked for again. What is void then is another failure, and undoes
// nothing of the first answer: else failures would be void more often than what works.
func TestVoidRetry(t *testing.T) {
	for void := 1; void <= 3; void++ {
		n := 0
		e := &Evaluator{Grader: new(Checks), MaxRetries: 2, Agent: agentFunc(func(context.Context, Task) (Attempt, error) {
			n++
			a := Attempt{Answer: "no", Usage: &Usage{Input: int64(10 * n)}, Audit: Clean}
			if n == void {
				a.Tainted, a.Audit = "read the installed skill", Tainted
			}
			return a, nil
		})}
		out, err := e.Run(t.Context(), jobsOf(testCases(1)))
		if err != nil {
			t.Fatal(err)
		}
		r := out[0]
		if void == 1 {
			if r.Status != Void || n != 1 {
				t.Errorf("a void first answer: %+v", r)
			}
			continue
		}
		if r.Status != Done || r.Quality != 0 || r.Answer != "no" || r.Usage.Input != 10 || r.Retries != float64(void) || n != void || r.Audit != Tainted || r.Failure != "" {
			t.Errorf("answer %d is void: %d answers, %+v", void, n, r)
		}
	}
}

func TestEqualJobsShareOneRollout(t *testing.T) {
	var calls atomic.Int32
	e := &Evaluator{Grader: new(Checks), Agent: agentFunc(func(ctx context.Context, task Task) (Attempt, error) {
		calls.Add(1)
		return echo(ctx, task)
	})}
	jobs := jobsOf(testCases(2))
	other := jobs[0]
	other.Trial = 1
	out, err := e.Run(t.Context(), []Job{jobs[0], jobs[1], jobs[0], other})
	if err != nil {
		t.Fatal(err)
	}
	if out[0] != out[2] || out[0] == out[3] || calls.Load() != 3 {
		t.Errorf("%d calls", calls.Load())
	}
}

func TestSeedFollowsKey(t *testing.T) {
	var seeds []int64
	e := &Evaluator{Grader: new(Checks), Agent: agentFunc(func(ctx context.Context, task Task) (Attempt, error) {
		seeds = append(seeds, task.Seed)
		return echo(ctx, task)
	})}
	jobs := jobsOf(testCases(1))
	second := jobs[0]
	second.Trial = 1
	for range 2 {
		if _, err := e.Run(t.Context(), []Job{jobs[0], second}); err != nil {
			t.Fatal(err)
		}
	}
	if seeds[0] != seeds[2] || seeds[1] != seeds[3] || seeds[0] == seeds[1] || seeds[0] < 0 || seeds[0] > 1<<31 {
		t.Errorf("seeds = %v", seeds)
	}
}

type masking struct{}

func (masking) Redact(s string) (string, int) {
	return strings.ReplaceAll(s, "hunter2", "[secret]"), strings.Count(s, "hunter2")
}

func TestRolloutsAreRedacted(t *testing.T) {
	rec := newMemory(true)
	c := testCases(1)[0]
	c.Checks = []Check{{Type: Contains, Value: "hunter2"}, {Type: Contains, Value: "x", Feedback: "not hunter2"}}
	e := &Evaluator{Grader: new(Checks), Recorder: rec, Redactor: masking{},
		Agent: agentFunc(func(context.Context, Task) (Attempt, error) {
			return Attempt{Answer: "the password is hunter2", Trace: []ToolCall{{Name: "Bash", Input: "echo hunter2"}},
				Files: []string{"out/hunter2.txt"}}, nil
		})}
	out, err := e.Run(t.Context(), jobsOf([]*Case{c}))
	if err != nil {
		t.Fatal(err)
	}
	r := rec.rollouts[out[0].Key]
	if r.Quality != 0.5 {
		t.Errorf("quality = %v: the answer is graded as it came", r.Quality)
	}
	if len(r.Files) != 1 || r.Files[0] != "out/[secret].txt" {
		t.Errorf("recorded files: %v", r.Files)
	}
	if r.Answer != "the password is [secret]" || r.Trace[0].Input != "echo [secret]" ||
		r.Feedback[0] != "not [secret]" || r.Checks[1].Feedback != "not [secret]" {
		t.Errorf("recorded: %+v", r)
	}
}

// A judge's calls are booked with the rollout, live and resumed alike; one
// that cannot be reached makes the rollout missing, never 0.
func TestJudgeInTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := newMemory(true)
		b := NewBudget(Caps{}, nil)
		j := &judge{replies: []Completion{{Text: `{"score": 0.75, "reason": "most"}`}}, errs: []error{errors.New("down")}}
		e := &Evaluator{Agent: agentFunc(echo), Grader: &Checks{Judge: j}, Recorder: rec, Budget: b, InfraTries: 2}
		out, err := e.Run(t.Context(), jobsOf([]*Case{judged()}))
		if err != nil {
			t.Fatal(err)
		}
		if r := out[0]; r.Quality != 0.75 || r.Retries != 0 || r.JudgeCalls != 1 || r.InfraRetries != 0 {
			t.Errorf("rollout = %+v", r)
		}
		resumed := NewBudget(Caps{}, nil)
		e2 := &Evaluator{Agent: e.Agent, Grader: e.Grader, Recorder: rec, Budget: resumed}
		if _, err := e2.Run(t.Context(), jobsOf([]*Case{judged()})); err != nil {
			t.Fatal(err)
		}
		live, found := b.Spent(), resumed.Spent()
		live.WallMS, found.WallMS = 0, 0
		if live != found || live.JudgeCalls != 1 || live.CostUSD != 0.51 || len(j.prompts) != 2 {
			t.Errorf("live %+v, resumed %+v", live, found)
		}

		dead := &judge{replies: []Completion{{Text: "?"}}}
		e3 := &Evaluator{Agent: agentFunc(echo), Grader: &Checks{Judge: dead}, Budget: NewBudget(Caps{}, nil), InfraTries: 2}
		out, err = e3.Run(t.Context(), jobsOf([]*Case{judged()}))
		if err != nil {
			t.Fatal(err)
		}
		if r := out[0]; r.Status != Missing || !strings.Contains(r.Failure, "could not be read") || r.Attempts != 1 || r.JudgeCalls != 2 {
			t.Errorf("with an unreadable judge: %+v", r)
		}
		if s := e3.Budget.Spent(); s.JudgeCalls != 2 || s.Rollouts != 1 {
			t.Errorf("spent = %+v", s)
		}
	})
}

func TestRunRefusesBeforeSpending(t *testing.T) {
	agent := agentFunc(func(context.Context, Task) (Attempt, error) {
		t.Error("something was run")
		return Attempt{}, nil
	})
	exec := testCases(2)
	exec[1].Checks = []Check{{Type: Exec, Command: []string{"true"}}}
	invalid := testCases(2)
	invalid[1].Checks = nil
	for name, jobs := range map[string][]Job{
		"--trust-checks": jobsOf(exec), "no checks": jobsOf(invalid), "without a case": {{}},
		"no model is configured": jobsOf([]*Case{judged()}),
	} {
		e := &Evaluator{Agent: agent, Grader: new(Checks)}
		if _, err := e.Run(t.Context(), jobs); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("err = %v, want %s", err, name)
		}
	}
}
