package eval

import (
	"context"
	"fmt"
	"sync"
	"testing"
)

// scripted is an agent whose answers are a function of the task.
type scripted struct {
	id Identity
	do func(ctx context.Context, t Task) (Attempt, error)
}

func (s *scripted) Identity() Identity { return s.id }
func (s *scripted) Run(ctx context.Context, t Task) (Attempt, error) {
	return s.do(ctx, t)
}

// memory is a Recorder in a map. It reports fresh for all its records.
type memory struct {
	mu          sync.Mutex
	fresh       bool
	rollouts    map[string]*Rollout
	completions map[string]*Completion
	saves       int
}

func newMemory(fresh bool) *memory {
	return &memory{fresh: fresh, rollouts: map[string]*Rollout{}, completions: map[string]*Completion{}}
}

func (m *memory) Rollout(_ context.Context, key string) (*Rollout, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rollouts[key], m.fresh, nil
}

func (m *memory) SaveRollout(_ context.Context, r *Rollout) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rollouts[r.Key] = r
	m.saves++
	return nil
}

func (m *memory) Completion(_ context.Context, key string) (*Completion, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.completions[key], nil
}

func (m *memory) SaveCompletion(_ context.Context, key string, _ Spender, c *Completion) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.completions[key] = c
	return nil
}

func testCases(n int) []*Case {
	cases := make([]*Case, n)
	for i := range cases {
		cases[i] = &Case{ID: fmt.Sprintf("c%03d", i), Skill: "s", Prompt: fmt.Sprintf("say %d", i),
			Checks: []Check{{Type: Contains, Value: fmt.Sprint(i)}}}
	}
	return cases
}

func jobsOf(cases []*Case) []Job {
	jobs := make([]Job, len(cases))
	for i, c := range cases {
		jobs[i] = Job{Variant: Variant{Name: "s"}, Case: c}
	}
	return jobs
}

// echo answers with the prompt, so that every check passes.
func echo(_ context.Context, t Task) (Attempt, error) {
	return Attempt{Answer: t.Case.Prompt, Usage: &Usage{Input: 8, Output: 2}, CostUSD: ptr(0.5)}, nil
}

func TestRunKeepsOrderAndCounts(t *testing.T) {
	b := NewBudget(Caps{}, nil)
	rec := newMemory(true)
	e := &Evaluator{Agent: &scripted{do: echo}, Grader: new(Checks), Budget: b, Recorder: rec, Concurrency: 8}
	cases := testCases(40)
	out, err := e.Run(t.Context(), jobsOf(cases))
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range out {
		if r.CaseID != cases[i].ID || r.Quality != 1 || r.Status != Done || r.Candidate != NoSkill {
			t.Fatalf("rollout %d = %+v", i, r)
		}
		if r.Key != e.Key(Job{Variant: Variant{Name: "s"}, Case: cases[i]}) {
			t.Fatalf("rollout %d: key differs from Evaluator.Key", i)
		}
	}
	spent := b.Spent()
	if spent.Rollouts != 40 || spent.AgentCalls != 40 || spent.TokensIn != 320 || spent.TokensOut != 80 ||
		spent.CostUSD != 20 || !spent.CostKnown {
		t.Errorf("spent = %+v", spent)
	}
	// The same Run again, in the same process: found, and not charged twice.
	if _, err := e.Run(t.Context(), jobsOf(cases)); err != nil {
		t.Fatal(err)
	}
	if again := b.Spent(); again.Rollouts != 40 || rec.saves != 40 {
		t.Errorf("after finding its own records: %+v, %d saves", again, rec.saves)
	}
	// A resumed run: found, charged once, as if it had been run.
	resumed := NewBudget(Caps{}, nil)
	e2 := &Evaluator{Agent: e.Agent, Grader: e.Grader, Budget: resumed, Recorder: rec}
	if _, err := e2.Run(t.Context(), jobsOf(cases)); err != nil {
		t.Fatal(err)
	}
	a, c := resumed.Spent(), spent
	a.WallMS, c.WallMS = 0, 0
	if a != c {
		t.Errorf("resumed run spent %+v, the interrupted one %+v", a, c)
	}
}
