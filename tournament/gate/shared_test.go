package gate

import (
	"context"
	"errors"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/content"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// A loser is a duel in which "good" fails too.
type loser struct{ duel }

func (l loser) Run(ctx context.Context, t eval.Task) (eval.Attempt, error) {
	a, err := l.duel.Run(ctx, t)
	if a.Answer == "yes" {
		a.Answer = "no"
	} else {
		a.Answer = "yes"
	}
	return a, err
}

// TestGateKeepsAnothersRejection: while one process tries a challenger, another one
// tries the same, and it is rejected. The first one can neither write over that nor
// come to another verdict; resumed, it finds the rejection.
func TestGateKeepsAnothersRejection(t *testing.T) {
	good, bad := variant(t, "good"), variant(t, "bad")
	m := &recordtest.Memory{}
	first := heldOut(60)
	other := newGate(m, loser{}, "r2", 0)
	met := 0
	agent := duel{fail: func(eval.Task) error {
		if met++; met == 9 {
			v, err := other.Try(t.Context(), bad, good, first)
			if err != nil || v.Verdict != pareto.Reject {
				t.Errorf("the other one: %+v, %v", v, err)
			}
		}
		return nil
	}}
	g := newGate(m, agent, "r1", 0)
	g.Evaluator.Concurrency = 1
	v, err := g.Try(t.Context(), bad, good, first)
	var changed *record.TrialChangedError
	if !errors.As(err, &changed) || changed.Challenger != good.SHA() {
		t.Errorf("the trial was changed meanwhile: %+v, %v", v, err)
	}
	if met > 10 {
		t.Errorf("it asked on after that: %d attempts", met)
	}
	again, err := newGate(m, duel{}, "r1", 0).Try(t.Context(), bad, good, first)
	if err != nil || again.Verdict != pareto.Reject || again.Losses < 7 {
		t.Errorf("resumed: %+v, %v", again, err)
	}
	rec, err := m.Trial(t.Context(), "s", bad.SHA(), good.SHA())
	if err != nil || rec.Decision != pareto.Reject {
		t.Errorf("the trial: %+v, %v", rec, err)
	}
}

// TestGateLeavesOutWhatAnotherTrialTook: cases that another challenger's trial has
// taken since this one began are left out, and the trial goes on with the others.
func TestGateLeavesOutWhatAnotherTrialTook(t *testing.T) {
	good, bad := variant(t, "good"), variant(t, "bad")
	m := &recordtest.Memory{}
	cases := heldOut(60)
	met := 0
	agent := duel{fail: func(eval.Task) error {
		if met++; met == 1 {
			for _, c := range cases[:30] {
				if err := m.SpendCase(t.Context(), "s", bad.SHA(), "another", c.ID, content.Print(nil, &c)); err != nil && !errors.As(err, new(*record.SpentError)) {
					t.Error(err)
				}
			}
		}
		return nil
	}}
	g := newGate(m, agent, "r1", 0)
	g.Evaluator.Concurrency = 1
	v, err := g.Try(t.Context(), bad, good, cases)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := m.Trial(t.Context(), "s", bad.SHA(), good.SHA())
	if err != nil {
		t.Fatal(err)
	}
	heard, err := clustersOf(rec)
	if err != nil {
		t.Fatal(err)
	}
	spent, err := m.SpentCases(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range heard {
		for i := range cases {
			if eval.ClusterOf(&cases[i]) == c && spent.On(&cases[i]) != good.SHA() {
				t.Errorf("%s was heard and is %q's", c, spent.On(&cases[i]))
			}
		}
	}
	if v.Verdict != pareto.Promote || len(heard) != v.Fresh {
		t.Errorf("%s after %d cases (%d heard)", v.Verdict, v.Fresh, len(heard))
	}
}
