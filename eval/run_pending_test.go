package eval

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// A box imitates a folder of requests: a request is pending until answered is true.
type box struct {
	mu       sync.Mutex
	asked    []string // every question once, in order of the first time
	answered func(question string) (answer string, ok bool)
}

func (b *box) ask(question string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Contains(b.asked, question) {
		b.asked = append(b.asked, question)
	}
	if answer, ok := b.answered(question); ok {
		return answer, nil
	}
	return "", &InfraError{Kind: Pending, Err: errors.New("no answer yet")}
}

func (b *box) Identity() Identity { return Identity{Backend: "box"} }

func (b *box) Run(_ context.Context, t Task) (Attempt, error) {
	question := t.Case.Prompt
	if t.Prior != nil {
		question += " again, not " + t.Prior.Answer
	}
	answer, err := b.ask(question)
	return Attempt{Answer: answer, Untimed: true}, err
}

func (b *box) Complete(_ context.Context, p Prompt) (Completion, error) {
	answer, err := b.ask(p.User)
	return Completion{Text: answer, Finish: "stop"}, err
}

func nothing(string) (string, bool) { return "", false }

func wantPending(t *testing.T, err error, tells string) {
	t.Helper()
	var infra *InfraError
	if !errors.As(err, &infra) || infra.Kind != Pending || !IsPending(err) || !strings.Contains(err.Error(), tells) {
		t.Fatalf("err = %v, want pending and %q", err, tells)
	}
}

func TestPendingAsksForTheWholeBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		b := &box{answered: nothing}
		rec, budget := newMemory(true), NewBudget(Caps{Rollouts: 100}, nil)
		told := 0
		e := &Evaluator{Agent: b, Grader: new(Checks), Recorder: rec, Budget: budget, Concurrency: 4,
			OnRollout: func(*Rollout) { told++ }}
		jobs := jobsOf(testCases(30))
		out, err := e.Run(t.Context(), jobs)
		wantPending(t, err, "30 of 30 rollouts wait for an answer")
		if len(b.asked) != 30 || rec.saves != 0 || told != 0 || slices.ContainsFunc(out, func(r *Rollout) bool { return r != nil }) {
			t.Errorf("%d asked, %d saved, %d told, %v: want 30 questions and nothing else", len(b.asked), rec.saves, told, out)
		}
		if s := budget.Spent(); s.Rollouts != 0 || s.AgentCalls != 0 || budget.inFlight != 0 || budget.held != (demand{}) {
			t.Errorf("spent %+v, held %+v: want nothing", s, budget.held)
		}
		if time.Since(begun) != 0 {
			t.Errorf("waited %v: pending is nothing to back off from", time.Since(begun))
		}

		// Half is answered: it is taken, and the rest still waits.
		b.answered = func(q string) (string, bool) { return q, q < "say 20" }
		out, err = e.Run(t.Context(), jobs)
		n := 0
		for _, r := range out {
			if r != nil {
				n++
				if r.Status != Done || r.Quality != 1 || r.LatencyMS != nil || r.CostUSD != nil || r.InfraRetries != 0 {
					t.Errorf("rollout = %+v", r)
				}
			}
		}
		wantPending(t, err, "wait for an answer")
		if n == 0 || rec.saves != n || told != n || budget.Spent().Rollouts != int64(n) {
			t.Errorf("%d rollouts, %d saved, %d told, spent %+v", n, rec.saves, told, budget.Spent())
		}
		b.answered = func(q string) (string, bool) { return q, true }
		out, err = e.Run(t.Context(), jobs)
		if err != nil || Summarise(out).N != 30 || budget.Spent().Rollouts != 30 || len(b.asked) != 30 {
			t.Errorf("in the end: %v, %+v, spent %+v, %d asked", err, Summarise(out), budget.Spent(), len(b.asked))
		}
		if Summarise(out).LatencyMS != nil {
			t.Error("a person's speed became a latency")
		}
	})
}

// What an answer waits for is no failure: neither ten in a row nor a share of
// the batch is missing.
func TestPendingIsNotMissing(t *testing.T) {
	b := &box{answered: nothing}
	e := &Evaluator{Agent: b, Grader: new(Checks)}
	for range 30 {
		_, err := e.Run(t.Context(), jobsOf(testCases(1)))
		wantPending(t, err, "1 of 1")
	}
	b.answered = func(string) (string, bool) { return "0", true }
	if out, err := e.Run(t.Context(), jobsOf(testCases(1))); err != nil || out[0].Status != Done {
		t.Errorf("%+v (%v)", out[0], err)
	}
}

func TestPendingWorkRetry(t *testing.T) {
	b := &box{}
	b.answered = func(q string) (string, bool) { return "wrong", !strings.Contains(q, "again") }
	rec, budget := newMemory(true), NewBudget(Caps{}, nil)
	e := &Evaluator{Agent: b, Grader: new(Checks), Recorder: rec, Budget: budget, MaxRetries: 1}
	jobs := jobsOf(testCases(2))
	_, err := e.Run(t.Context(), jobs)
	wantPending(t, err, "2 of 2")
	if s := budget.Spent(); rec.saves != 0 || s.Rollouts != 0 || s.AgentCalls != 0 {
		t.Errorf("%d saved, spent %+v: the first attempts come again, and count then", rec.saves, s)
	}
	b.answered = func(q string) (string, bool) {
		if first, _, again := strings.Cut(q, " again, not wrong"); again {
			return first, true
		}
		return "wrong", true
	}
	out, err := e.Run(t.Context(), jobs)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range out {
		if r.Quality != 0 || r.Retries != 1 || r.Attempts != 2 || r.Answer != "wrong" {
			t.Errorf("rollout = %+v, want a first attempt that failed and a second that did not", r)
		}
	}
	if s := budget.Spent(); s.Rollouts != 4 || len(b.asked) != 4 {
		t.Errorf("spent %+v for %q", s, b.asked)
	}
}

// A cap on rollouts limits what people are asked for, as it limits what counts.
func TestPendingWithinTheCap(t *testing.T) {
	for _, c := range []struct{ cap, retries, concurrency, want int }{
		{10, 0, 1, 10}, {10, 0, 8, 10}, {10, 1, 8, 9}, {100, 0, 8, 30}, {2, 1, 4, 1},
	} {
		b := &box{answered: nothing}
		budget := NewBudget(Caps{Rollouts: int64(c.cap)}, nil)
		e := &Evaluator{Agent: b, Grader: new(Checks), Budget: budget, Concurrency: c.concurrency, MaxRetries: c.retries}
		_, err := e.Run(t.Context(), jobsOf(testCases(30)))
		wantPending(t, err, "wait for an answer")
		if len(b.asked) != c.want {
			t.Errorf("%+v: %d requests", c, len(b.asked))
		}
		b.answered = func(q string) (string, bool) { return q, true }
		out, err := e.Run(t.Context(), jobsOf(testCases(30)))
		if c.cap < 30 && !errors.As(err, new(*BudgetError)) || c.cap >= 30 && err != nil {
			t.Errorf("%+v: answered: %v", c, err)
		}
		if n := Summarise(out).N; n < c.want || len(b.asked) != max(n, c.want) {
			t.Errorf("%+v: %d rollouts of %d requests", c, n, len(b.asked))
		}
	}
}

func TestPendingGivesWayToWorse(t *testing.T) {
	b := &box{answered: nothing}
	e := &Evaluator{Grader: new(Checks), Agent: agentFunc(func(ctx context.Context, task Task) (Attempt, error) {
		if task.Case.ID == "c003" {
			return Attempt{}, &InfraError{Kind: Auth, Err: errors.New("no")}
		}
		return b.Run(ctx, task)
	})}
	_, err := e.Run(t.Context(), jobsOf(testCases(9)))
	var infra *InfraError
	if !errors.As(err, &infra) || infra.Kind != Auth || len(b.asked) != 3 {
		t.Errorf("err = %v after %q", err, b.asked)
	}

	ctx, cancel := context.WithCancel(t.Context())
	e.Agent = agentFunc(func(ctx context.Context, task Task) (Attempt, error) {
		if task.Case.ID == "c003" {
			cancel()
		}
		return b.Run(ctx, task)
	})
	if _, err := e.Run(ctx, jobsOf(testCases(9))); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

// A judge that is asked through the folder pends the rollout; one that is not is
// paid for all the same.
func TestPendingJudge(t *testing.T) {
	b := &box{answered: nothing}
	budget := NewBudget(Caps{}, nil)
	rec := newMemory(true)
	cases := testCases(3)
	for _, c := range cases {
		c.Checks = []Check{{Type: Judge, Rubric: "says " + c.Prompt}}
	}
	e := &Evaluator{Agent: agentFunc(echo), Grader: &Checks{Judge: b}, Budget: budget, Recorder: rec}
	_, err := e.Run(t.Context(), jobsOf(cases))
	wantPending(t, err, "3 of 3")
	if len(b.asked) != 3 || rec.saves != 0 || budget.Spent().Rollouts != 0 {
		t.Errorf("asked %d, saved %d, spent %+v", len(b.asked), rec.saves, budget.Spent())
	}

	paid := &judge{replies: []Completion{{Text: `{"score":0,"reason":"no"}`, Finish: "stop"}}}
	b.answered = func(q string) (string, bool) { return "no", !strings.Contains(q, "again") }
	e = &Evaluator{Agent: b, Grader: &Checks{Judge: paid}, Budget: NewBudget(Caps{}, nil), MaxRetries: 1}
	_, err = e.Run(t.Context(), jobsOf(cases[:1]))
	wantPending(t, err, "1 of 1")
	if s := e.Budget.Spent(); s.JudgeCalls != 1 || s.TokensIn != 100 || s.AgentCalls != 0 || s.Rollouts != 0 {
		t.Errorf("spent %+v, want the judge's call alone", s)
	}
}

func TestMeteredPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		b := &box{answered: nothing}
		rec, budget := newMemory(true), NewBudget(Caps{Tokens: 1000}, nil)
		m := &Metered{Model: b, By: ByMutator, Budget: budget, Recorder: rec}
		_, err := m.Complete(t.Context(), Prompt{User: "improve"})
		wantPending(t, err, "ask the mutator model: pending: no answer yet")
		if s := budget.Spent(); time.Since(begun) != 0 || s.MutatorCalls != 0 || budget.inFlight != 0 || len(rec.completions) != 0 {
			t.Errorf("after %v: spent %+v, %d in flight, %d kept", time.Since(begun), s, budget.inFlight, len(rec.completions))
		}
		b.answered = func(string) (string, bool) { return "better", true }
		if c, err := m.Complete(t.Context(), Prompt{User: "improve"}); err != nil || c.Text != "better" || len(rec.completions) != 1 {
			t.Errorf("%+v (%v)", c, err)
		}
	})
}

// However answers trickle in, what comes of them in the end is what a run that
// had them all at once comes to, and everything is asked for once.
func TestPendingIsOnlyLater(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(rt, "jobs")
		retries := rapid.IntRange(0, 2).Draw(rt, "retries")
		workers := rapid.IntRange(1, 6).Draw(rt, "workers")
		every := rapid.IntRange(1, 4).Draw(rt, "answered a pass")
		good := rapid.SliceOfN(rapid.IntRange(0, 3), n, n).Draw(rt, "good from attempt")
		say := func(q string) (string, bool) {
			first, _, _ := strings.Cut(q, " again")
			var i int
			if _, err := fmt.Sscanf(q, "say %d", &i); err != nil {
				panic(err)
			}
			if strings.Count(q, "!")+strings.Count(q, " again") >= good[i] {
				return first, true
			}
			return strings.Repeat("!", 1+strings.Count(q, "!")), true
		}
		run := func(b *box) ([]*Rollout, Spent, error) {
			budget := NewBudget(Caps{}, nil)
			e := &Evaluator{Agent: b, Grader: new(Checks), Budget: budget, MaxRetries: retries, Concurrency: workers}
			out, err := e.Run(t.Context(), jobsOf(testCases(n)))
			for _, r := range out {
				if r != nil {
					r.Started = time.Time{}
				}
			}
			s := budget.Spent()
			s.WallMS = 0
			return out, s, err
		}
		at := &box{answered: say}
		want, spent, err := run(at)
		if err != nil {
			rt.Fatal(err)
		}
		known := map[string]bool{}
		later := &box{answered: func(q string) (string, bool) {
			if !known[q] {
				return "", false
			}
			return say(q)
		}}
		for pass := 0; ; pass++ {
			got, s, err := run(later)
			if err == nil {
				if !reflect.DeepEqual(got, want) || s != spent {
					rt.Fatalf("trickled in: %v, spent %+v; at once: %v, spent %+v", got, s, want, spent)
				}
				if a, b := slices.Sorted(slices.Values(at.asked)), slices.Sorted(slices.Values(later.asked)); !slices.Equal(a, b) {
					rt.Fatalf("asked %q, at once %q", b, a)
				}
				return
			}
			if !IsPending(err) || pass > 100 {
				rt.Fatalf("pass %d: %v", pass, err)
			}
			answered := 0
			for _, q := range later.asked {
				if !known[q] && answered < every {
					known[q] = true
					answered++
				}
			}
			if answered == 0 {
				rt.Fatalf("pass %d waits for nothing: %v", pass, err)
			}
		}
	})
}
