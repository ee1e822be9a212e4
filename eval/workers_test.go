package eval

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// A passing agent fails on the machines of its list in order, then answers on the last one.
type passing struct{ on []string }

func (*passing) Identity() Identity { return Identity{Backend: "passing"} }

func (p *passing) Run(_ context.Context, t Task) (Attempt, error) {
	w := p.on[0]
	if len(p.on) > 1 {
		p.on = p.on[1:]
		return Attempt{Worker: w}, &InfraError{Kind: Unreachable, RetryAfter: 1, Err: errors.New("gone")}
	}
	return Attempt{Worker: w, Tried: []string{"lost"}, Answer: "no"}, nil
}

// TestARolloutNamesItsWorkers: the one that answered, and all that were given it before.
func TestARolloutNamesItsWorkers(t *testing.T) {
	c := Case{ID: "c", Skill: "s", Prompt: "p", Checks: []Check{{Type: Contains, Value: "yes"}}}
	run := func(tries int, on ...string) *Rollout {
		rs, err := (&Evaluator{Agent: &passing{on}, Grader: &Checks{}, InfraTries: tries}).Run(context.Background(), []Job{{Case: &c, Avoid: "x"}})
		if err != nil {
			t.Fatal(err)
		}
		return rs[0]
	}
	if r := run(5, "b", "", "a"); r.Worker != "a" || !slices.Equal(r.Workers(), []string{"a", "b", "lost"}) {
		t.Errorf("run by %q, with parts of %q", r.Worker, r.Workers())
	}
	if r := run(1, "b", "a"); r.Status != Missing || !slices.Equal(r.Workers(), []string{"b"}) {
		t.Errorf("%s on %q", r.Status, r.Workers())
	}
	if r := run(1, ""); r.Worker != "" || !slices.Equal(r.Workers(), []string{"lost"}) {
		t.Errorf("run by %q, with parts of %q", r.Worker, r.Workers())
	}
	if a, b := (Job{Case: &c}).Key(Setting{}), (Job{Case: &c, Avoid: "x"}).Key(Setting{}); a != b {
		t.Error("the key depends on the worker to avoid")
	}
}
