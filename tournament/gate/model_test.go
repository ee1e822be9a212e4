package gate

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// A named duel names the model that answers.
type named struct {
	duel
	id       eval.Identity
	reported func(eval.Task) string
}

func (n named) Identity() eval.Identity { return n.id }

func (n named) Run(ctx context.Context, t eval.Task) (eval.Attempt, error) {
	a, err := n.duel.Run(ctx, t)
	if n.reported != nil {
		a.Model = n.reported(t)
	}
	return a, err
}

func always(model string) func(eval.Task) string { return func(eval.Task) string { return model } }

// A trial that is continued on another model than its pairs were measured on
// starts again: the old pairs stay in the record and no longer count, and no
// cluster is used twice. A model that is not known to be another continues
// the trial.
func TestTrialOfAnotherModelStartsAgain(t *testing.T) {
	good, bad := variant(t, "good"), variant(t, "bad")
	id := func(version, asked string) eval.Identity {
		return eval.Identity{Backend: "claude", Version: version, Model: asked}
	}
	arms := func(x, y string) func(eval.Task) string {
		return func(t eval.Task) string {
			if string(t.Variant.Doc.Body()) == "good\n" {
				return y
			}
			return x
		}
	}
	for _, c := range []struct {
		name   string
		then   named
		now    named
		again  bool
		before int // pairs of this night that no model was known for
	}{
		{"the same", named{id: id("2.1.1", "sonnet"), reported: always("s-5")}, named{id: id("2.1.9", "sonnet"), reported: always("s-5")}, false, 0},
		{"asked for another", named{id: id("2.1.1", "sonnet")}, named{id: id("2.1.1", "opus")}, true, 0},
		{"another release", named{id: id("2.1.1", "sonnet")}, named{id: id("2.2.0", "sonnet")}, true, 0},
		{"another model behind the name", named{id: id("2.1.1", "sonnet"), reported: always("s-5")}, named{id: id("2.1.1", "sonnet"), reported: always("s-6")}, true, 0},
		{"another name of the model", named{id: id("2.1.1", "sonnet"), reported: always("s-5")}, named{id: id("2.1.1", "s-5"), reported: always("s-5")}, false, 0},
		{"nothing was told then", named{id: id("2.1.1", "")}, named{id: id("2.1.1", ""), reported: always("s-6")}, false, 0},
		{"nothing is told now", named{id: id("2.1.1", ""), reported: always("s-5")}, named{id: id("2.1.1", "")}, false, 0},
		{"the arms do not agree", named{id: id("2.1.1", ""), reported: always("s-5")}, named{id: id("2.1.1", ""), reported: arms("s-5", "s-6")}, false, 0},
		{"a real one after a simulated one", named{id: eval.Identity{Backend: "simulated", Simulated: true}}, named{id: id("2.1.1", "")}, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, all := &recordtest.Memory{}, heldOut(6)
			first := newGate(m, c.then, "r1", 0)
			first.Simulated = c.then.id.Simulated
			v, err := first.Try(t.Context(), bad, good, all[:3])
			if err != nil || !v.Verdict.IsOpen() || v.Cases != 3 || v.Round != 0 {
				t.Fatalf("first: %+v, %v", v, err)
			}
			var told []*Verdict
			for range 2 { // walked again, it comes to the same
				second := newGate(m, c.now, "r2", 0)
				if v, err = second.Try(t.Context(), bad, good, all); err != nil {
					t.Fatal(err)
				}
				told = append(told, v)
			}
			want := 6
			if c.again {
				want = 3
			}
			for _, v := range told {
				if v.Cases != want || v.EValue != told[0].EValue || (v.Round == 1) != c.again || (v.Restarted != "") != c.again || v.Fresh != 3 {
					t.Errorf("%d cases, e %g, round %d, fresh %d, %q; want %d cases, starting again: %v", v.Cases, v.EValue, v.Round, v.Fresh, v.Restarted, want, c.again)
				}
				if c.again && !strings.HasSuffix(v.Restarted, ": the trial starts again") {
					t.Errorf("it says %q", v.Restarted)
				}
			}
			rec, err := m.Trial(t.Context(), "s", bad.SHA(), good.SHA())
			if err != nil {
				t.Fatal(err)
			}
			heard, err := clustersOf(rec)
			if err != nil || len(heard) != 6 {
				t.Errorf("%d clusters, %v; want all 6, heard or not to be heard again", len(heard), err)
			}
			if n, err := rec.Fresh(all, nil, nil); err != nil || n != 0 {
				t.Errorf("%d fresh, %v; want none", n, err)
			}
			if n, err := rec.Rounds(); err != nil || (n == 1) != c.again {
				t.Errorf("%d rounds before, %v", n, err)
			}
			if d, err := rec.Evidence(); err != nil || d.Cases != want {
				t.Errorf("evidence on %d cases, %v; want %d", d.Cases, err, want)
			}
			if strings.Contains(string(rec.State), `"past"`) != c.again {
				t.Errorf("what counts no more is kept: %v", !c.again)
			}
		})
	}
}

// The restarted trial has the level of the run that restarts it. For a record
// of an older evolve the model is that of On.
func TestTrialStartsAgainAtItsOwnLevel(t *testing.T) {
	good, bad := variant(t, "good"), variant(t, "bad")
	id := eval.Identity{Backend: "claude", Version: "2.1.1", Model: "sonnet"}
	m, all := &recordtest.Memory{}, heldOut(200)
	if _, err := newGate(m, named{id: id}, "r1", 0).Try(t.Context(), bad, good, all[:6]); err != nil {
		t.Fatal(err)
	}
	rec, err := m.Trial(t.Context(), "s", bad.SHA(), good.SHA())
	if err != nil {
		t.Fatal(err)
	}
	old, before := *rec, strings.Replace(string(rec.State), `"on":{`, `"of_old":{`, 1)
	if before == string(rec.State) {
		t.Fatal("the record names no model")
	}
	old.State = []byte(before)
	if err := m.SaveTrial(t.Context(), &old); err != nil {
		t.Fatal(err)
	}
	id.Model = "opus"
	g := newGate(m, named{id: id}, "r2", 0)
	g.Config, g.On = pareto.DefaultConfig().Within(1e-20), record.ModelOf(eval.Identity{Backend: "claude", Model: "sonnet"}, "")
	v, err := g.Try(t.Context(), bad, good, all[:60])
	if err != nil || v.Round != 1 || !v.Verdict.IsOpen() || v.Cases != 54 {
		t.Errorf("%+v, %v; want it undecided on 54 cases at a level of 1e-20", v, err)
	}
	if rec, err = m.Trial(t.Context(), "s", bad.SHA(), good.SHA()); err != nil {
		t.Fatal(err)
	}
	kept, err := rec.Kept()
	if err != nil || kept.Config() != pareto.DefaultConfig().Within(1e-20) {
		t.Errorf("the rule that it is judged by: %+v, %v", kept.Config(), err)
	}
}

// In a run that detects the other model in progress, the pairs that it had
// added before no longer count either, and the events show the restart.
func TestTrialStartsAgainOnTheWay(t *testing.T) {
	good, bad := variant(t, "good"), variant(t, "bad")
	id := eval.Identity{Backend: "claude", Version: "2.1.1", Model: "sonnet"}
	m, all := &recordtest.Memory{}, heldOut(12)
	if _, err := newGate(m, named{id: id, reported: always("s-5")}, "r1", 0).Try(t.Context(), bad, good, all[:4]); err != nil {
		t.Fatal(err)
	}
	silent := map[string]bool{} // on these nobody tells
	late := named{id: id, reported: func(t eval.Task) string {
		if silent[t.Case.ID] {
			return ""
		}
		return "s-6"
	}}
	run := func(on *recordtest.Memory) (*Verdict, []string) {
		g := newGate(on, late, "r2", 0)
		g.Evaluator.Concurrency = 2 // one pair after the other
		var kinds []string
		g.Log.OnEvent = func(e record.Event) { kinds = append(kinds, e.Kind) }
		v, err := g.Try(t.Context(), bad, good, all)
		if err != nil {
			t.Fatal(err)
		}
		return v, kinds
	}
	// The first two of the run's own order tell nothing.
	g := newGate(&recordtest.Memory{}, late, "r2", 0)
	st, err := newGate(m, late, "r2", 0).load(t.Context(), record.Change{Base: bad.SHA(), Challenger: good.SHA()})
	if err != nil {
		t.Fatal(err)
	}
	order, err := g.fresh(t.Context(), st, record.Change{Base: bad.SHA(), Challenger: good.SHA()}, all)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range order[:2] {
		silent[c.Cases[0].ID] = true
	}
	for range 2 {
		v, kinds := run(m)
		if v.Cases != 6 || v.Fresh != 6 || v.Round != 1 {
			t.Errorf("%d cases, %d fresh, round %d; want the 6 on which the new model was known", v.Cases, v.Fresh, v.Round)
		}
		if at := slices.Index(kinds, "gate_restart"); at != 3 { // gate_start, two pairs
			t.Errorf("events %v", kinds)
		}
	}
}
