package gate

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// A fleet is an agent on several workers: a case always begins on the same one, and what is
// asked of it once more goes to the next one. The liar says that "better…" always passes.
type fleet struct {
	workers []string
	liar    string
	mu      sync.Mutex
	asked   map[string]int
}

func (*fleet) Identity() eval.Identity { return eval.Identity{Backend: "fleet"} }

func (f *fleet) Run(_ context.Context, t eval.Task) (eval.Attempt, error) {
	h := fnv.New32a()
	h.Write([]byte(t.Case.ID))
	at := int(h.Sum32() >> 8)
	text := string(t.Variant.Doc.Body())
	f.mu.Lock()
	if f.asked == nil {
		f.asked = map[string]int{}
	}
	again := f.asked[t.Case.ID+text]
	f.asked[t.Case.ID+text]++
	f.mu.Unlock()
	a := eval.Attempt{Answer: "no"}
	if len(f.workers) > 0 {
		a.Worker = f.workers[(at+again)%len(f.workers)]
	}
	better := strings.HasPrefix(text, "better")
	if at%10 < 3 || better && at%10 < 8 || f.liar != "" && a.Worker == f.liar && better {
		a.Answer = "yes"
	}
	return a, nil
}

func (f *fleet) there() []string { return f.workers }

// fleetGate is a gate over those workers, on this machine if there are none.
func fleetGate(m record.Journal, run string, f *fleet, rollouts int64) *Gate {
	g := newGate(m, f, run, rollouts)
	g.Objectives = []string{"quality"}
	if len(f.workers) > 0 {
		g.Workers = f.there
	}
	return g
}

// steps are what the trial's evidence came to after each pair.
func steps(t *testing.T, m *recordtest.Memory, old, new eval.Variant) (*pareto.Trial, []string) {
	t.Helper()
	rec, err := m.Trial(t.Context(), "s", old.SHA(), new.SHA())
	if err != nil || rec == nil {
		t.Fatal(rec, err)
	}
	st, _, err := rec.Begin("another run", pareto.Config{}, record.Model{})
	if err != nil {
		t.Fatal(err)
	}
	return st.Trial, st.Clusters
}

// TestAFleetMeasuresTheSame: over four workers a trial has the evidence that it has on this
// machine, in the same order, and goes on where one worker's pairs are needed for the proof.
func TestAFleetMeasuresTheSame(t *testing.T) {
	for _, c := range []struct {
		name, old, new string
		cases          int
		local, fleet   pareto.Verdict
	}{
		{"worse", "better", "usual", 60, pareto.Reject, pareto.Reject},
		{"a few", "usual", "better", 9, pareto.Promising, pareto.Promising},
		{"just enough", "usual", "better", 17, pareto.Promote, pareto.Promising},
		{"more", "usual", "better", 60, pareto.Promote, pareto.Promote},
	} {
		old, new := variant(t, c.old), variant(t, c.new)
		here, there := &recordtest.Memory{}, &recordtest.Memory{}
		local, err := fleetGate(here, "r", &fleet{}, 0).Try(t.Context(), old, new, heldOut(c.cases))
		if err != nil {
			t.Fatal(err)
		}
		far, err := fleetGate(there, "r", &fleet{workers: []string{"a", "b", "c", "d"}}, 0).Try(t.Context(), old, new, heldOut(c.cases))
		if err != nil {
			t.Fatal(err)
		}
		if local.Verdict != c.local || far.Verdict != c.fleet {
			t.Errorf("%s: %s here after %d pairs and %s over four workers after %d: %s", c.name, local.Verdict, local.Cases, far.Verdict, far.Cases, far.Reason)
		}
		if c.local == c.fleet && c.local != pareto.Promote && (local.EValue != far.EValue || local.Cases != far.Cases) {
			t.Errorf("%s: e = %g after %d pairs here, %g after %d over four workers", c.name, local.EValue, local.Cases, far.EValue, far.Cases)
		}
		if c.local != c.fleet && !strings.Contains(far.Reason, "proved with all pairs, not yet without those of worker ") {
			t.Errorf("%s: lowered without a word: %s", c.name, far.Reason)
		}
		one, names := steps(t, here, old, new)
		many, others := steps(t, there, old, new)
		n := one.Cases()
		if !slices.Equal(names, others[:n]) {
			t.Errorf("%s: the order is %v, here %v", c.name, others[:n], names)
		}
		for i, p := range many.Pairs()[:n] {
			if p.Quality != one.Pairs()[i].Quality || len(p.Workers) != 1 {
				t.Errorf("%s: pair %d is %+v, here %+v", c.name, i, p, one.Pairs()[i])
			}
		}
	}
}

// TestOneWorkerProvesNothing: what it measured alone is at most promising, and no request is
// spent on more of it; pairs of another worker in a later night complete the proof.
func TestOneWorkerProvesNothing(t *testing.T) {
	old, new := variant(t, "usual"), variant(t, "better")
	m := &recordtest.Memory{}
	v, err := fleetGate(m, "r1", &fleet{workers: []string{"a"}, liar: "a"}, 0).Try(t.Context(), old, new, heldOut(60))
	if err != nil {
		t.Fatal(err)
	}
	if v.Verdict != pareto.Promising || v.Cases > 20 || !strings.Contains(v.Stop, "another worker than a") || !strings.Contains(v.Reason, "it has measured them all") {
		t.Fatalf("%s after %d pairs: %s; %s", v.Verdict, v.Cases, v.Reason, v.Stop)
	}
	rec, err := m.Trial(t.Context(), "s", old.SHA(), new.SHA())
	if err != nil {
		t.Fatal(err)
	}
	if proven, err := rec.ProvenAlone(); err != nil || proven || rec.Decision != pareto.Promising {
		t.Errorf("recorded as %s, proven %t, %v", rec.Decision, proven, err)
	}
	if v, err = fleetGate(m, "r2", &fleet{workers: []string{"b"}}, 0).Try(t.Context(), old, new, heldOut(60)); err != nil || v.Verdict != pareto.Promote {
		t.Errorf("with another worker's pairs %s, %v: %s", v.Verdict, err, v.Reason)
	}
	if again, _ := steps(t, m, old, new); again.Verdict() != pareto.Promote || len(again.Decide().Workers) != 2 {
		t.Errorf("kept as %s: %+v", again.Verdict(), again.Decide().Workers)
	}
}

// TestControls: some pairs are measured once more on another worker. What is measured as
// evidence, its order and its verdict are what they are without, the same ones are repeated by a
// run that is resumed, and the cap is kept.
func TestControls(t *testing.T) {
	old, new := variant(t, "usual"), variant(t, "better still")
	workers := []string{"a", "b", "c"}
	made, dropped := 0, 0
	for i := range 12 {
		run := fmt.Sprint("r", i)
		plain, with := &recordtest.Memory{}, &recordtest.Memory{}
		without := fleetGate(plain, run, &fleet{workers: workers, liar: "b"}, 0)
		without.Workers = nil
		want, err := without.Try(t.Context(), old, new, heldOut(60))
		if err != nil {
			t.Fatal(err)
		}
		g := fleetGate(with, run, &fleet{workers: workers, liar: "b"}, 0)
		v, err := g.Try(t.Context(), old, new, heldOut(60))
		if err != nil {
			t.Fatal(err)
		}
		if v.Verdict != want.Verdict || v.EValue != want.EValue || v.Cases != want.Cases || v.Reason != want.Reason || want.Controls != nil {
			t.Errorf("%s: %s with e = %g after %d pairs, without controls %s with %g after %d", run, v.Verdict, v.EValue, v.Cases, want.Verdict, want.EValue, want.Cases)
		}
		if v.Controls == nil {
			continue
		}
		made += v.Controls.Pairs
		if !slices.Contains(v.Warnings, v.Controls.String()) || v.Controls.Dropped > 0 {
			t.Errorf("%s: %+v in %q", run, v.Controls, v.Warnings)
		}
		arms := map[string]int{}
		for _, r := range rolloutsOf(with) {
			kind, _, _ := strings.Cut(r.Arm, ":")
			arms[kind]++
		}
		if arms["control"] != 2*v.Controls.Pairs || arms["gate"] != int(without.Evaluator.Budget.Spent().Rollouts) {
			t.Errorf("%s: %v for %d controls", run, arms, v.Controls.Pairs)
		}
		again, err := fleetGate(with, run, &fleet{workers: workers, liar: "b"}, 0).Try(t.Context(), old, new, heldOut(60))
		if err != nil || again.Controls.String() != v.Controls.String() {
			t.Errorf("%s resumed: %v, %+v, was %+v", run, err, again.Controls, v.Controls)
		}
		capped, err := fleetGate(&recordtest.Memory{}, run, &fleet{workers: workers, liar: "b"}, without.Evaluator.Budget.Spent().Rollouts+1).Try(t.Context(), old, new, heldOut(60))
		if err != nil || capped.Verdict != v.Verdict || capped.EValue != v.EValue || capped.Controls.Pairs != 0 || capped.Controls.Dropped != v.Controls.Pairs {
			t.Errorf("%s under a cap: %v, %s, %+v", run, err, capped.Verdict, capped.Controls)
		}
		dropped += capped.Controls.Dropped
	}
	if made == 0 || dropped == 0 {
		t.Errorf("%d controls, %d dropped", made, dropped)
	}
}

func rolloutsOf(m *recordtest.Memory) []*eval.Rollout {
	return slices.Collect(maps.Values(m.Rollouts))
}
