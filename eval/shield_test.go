package eval

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sourcegraph/conc/panics"
)

func TestShielded(t *testing.T) {
	want := errors.New("its own")
	if err := Shielded(func() error { return want }); err != want {
		t.Errorf("err = %v", err)
	}
	err := Shielded(func() error { return blowUp("the secret") })
	var bug *PanicError
	if !errors.As(err, &bug) || fmt.Sprint(bug.Value) != "the secret" || !strings.Contains(string(bug.Stack), "blowUp") {
		t.Fatalf("err = %#v", err)
	}
	if got := err.Error(); strings.Contains(got, "secret") || !strings.Contains(got, "eval.blowUp (shield_test.go:") {
		t.Errorf("it says %q", got)
	}
	// A panic passed on from another goroutine is reported with its original place.
	err = Shielded(func() error { panic(panics.Try(func() { _ = blowUp("the secret") })) })
	if !errors.As(err, &bug) || fmt.Sprint(bug.Value) != "the secret" || !strings.Contains(err.Error(), "eval.blowUp (") {
		t.Errorf("handed on: %v, %v", err, bug.Value)
	}
	var none []int
	if err := Shielded(func() error { return errors.New(fmt.Sprint(none[len(none)])) }); !errors.As(err, &bug) {
		t.Errorf("of the runtime's own: %v", err)
	}
}

func blowUp(value string) error { panic(errors.New(value)) }

// A panicking backend of any kind ends the run at once: no call waits for its
// reservation, it is not called again, nothing of its reply is kept, and the results of
// others are.
func TestPanicEndsARunInOrder(t *testing.T) {
	for _, who := range []string{"agent", "judge", "grader", "workspace"} {
		t.Run(who, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { panicIn(t, who) })
		})
	}
}

func panicIn(t *testing.T, who string) {
	calls := 0
	boom := func(at string, n int) {
		if at == who && n == 3 {
			calls++
			panic("the secret")
		}
	}
	agent := agentFunc(func(_ context.Context, task Task) (Attempt, error) {
		var n int
		_, _ = fmt.Sscanf(task.Case.ID, "c%d", &n)
		boom("agent", n)
		return Attempt{Answer: fmt.Sprint("answer ", n), Usage: &Usage{Input: 10}}, nil
	})
	judge := modelFunc(func(_ context.Context, p Prompt) (Completion, error) {
		if strings.Contains(p.User, "answer 3") {
			boom("judge", 3)
		}
		return Completion{Text: `{"score":1,"reason":"r"}`, Finish: "stop", Usage: &Usage{Input: 10}}, nil
	})
	var grader Grader = &Checks{Judge: judge}
	if who == "grader" {
		grader = graderFunc(func(c *Case) { boom("grader", int(c.ID[1]-'0')) })
	}
	cases := make([]*Case, 8)
	for i := range cases {
		cases[i] = &Case{ID: fmt.Sprint("c", i), Skill: "s", Prompt: "p", Checks: []Check{{Type: Judge, Rubric: "r"}}}
	}
	rec := newMemory(true)
	// The caps leave no room beside the calls in flight: a waiting call gets the error.
	b := NewBudget(Caps{Rollouts: 8, Tokens: 9000}, nil)
	e := &Evaluator{Agent: agent, Grader: grader, Budget: b, Recorder: rec, Concurrency: 2}
	if who == "workspace" {
		e.Workspaces = spaceFunc(func(c *Case) { boom("workspace", int(c.ID[1]-'0')) })
	}
	_, err := e.Run(t.Context(), jobsOf(cases))
	var bug *PanicError
	if !errors.As(err, &bug) || strings.Contains(err.Error(), "secret") {
		t.Fatalf("err = %v, want the panic's place without its value", err)
	}
	if calls != 1 {
		t.Errorf("it was called %d times", calls)
	}
	if b.inFlight != 0 || b.held.rollouts != 0 {
		t.Errorf("%+v is still held", b.held)
	}
	if len(rec.rollouts) < 3 {
		t.Errorf("%d rollouts are kept", len(rec.rollouts))
	}
	for _, r := range rec.rollouts {
		if s := fmt.Sprintf("%+v", r); strings.Contains(s, "secret") {
			t.Errorf("kept: %s", s)
		}
	}
	// The same run goes on, and pays for nothing twice.
	who = ""
	again := NewBudget(Caps{Rollouts: 8}, nil)
	e = &Evaluator{Agent: agent, Grader: &Checks{Judge: judge}, Budget: again, Recorder: rec}
	if _, err := e.Run(t.Context(), jobsOf(cases)); err != nil {
		t.Fatal(err)
	}
}

// A model that panics is no model that failed: it is not asked again.
func TestPanicOfAModel(t *testing.T) {
	calls := 0
	b := NewBudget(Caps{}, nil)
	m := &Metered{By: ByMutator, Budget: b, Model: modelFunc(func(context.Context, Prompt) (Completion, error) {
		calls++
		panic("the secret")
	})}
	_, err := m.Complete(t.Context(), Prompt{User: "u"})
	if !errors.As(err, new(*PanicError)) || strings.Contains(err.Error(), "secret") || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
	if b.inFlight != 0 {
		t.Error("its reservation is still held")
	}
}

type graderFunc func(*Case)

func (graderFunc) Identity() string { return "test" }

func (g graderFunc) Grade(_ context.Context, c *Case, _ Attempt, _ string) (Grade, error) {
	g(c)
	return Grade{Quality: 1}, nil
}

type spaceFunc func(*Case)

func (s spaceFunc) Open(_ context.Context, c *Case) (Folder, error) {
	s(c)
	return Folder{Close: func() {}}, nil
}
