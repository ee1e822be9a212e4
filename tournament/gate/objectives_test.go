package gate

import (
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// TestOtherObjectives: a trial that a cost holds back is judged again without it, on the
// evidence that is there; the verdict names what was seen and left out. Who names no
// objectives changes nothing, and who names it again has it back.
func TestOtherObjectives(t *testing.T) {
	m := &recordtest.Memory{}
	inc, cha := variant(t, "bad"), variant(t, "good")
	dear := duel{cost: map[string]float64{"good\n": 1.4, "bad\n": 1}}
	try := func(run string, cases int, objectives ...string) *Verdict {
		t.Helper()
		g := newGate(m, dear, run, 0)
		g.Objectives = objectives
		v, err := g.Try(t.Context(), inc, cha, heldOut(cases))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	first := try("r1", 9)
	if !first.Verdict.IsOpen() || first.Cases != 9 || !strings.Contains(first.Reason, "held back by cost ×1.40") {
		t.Fatalf("%s after %d cases: %s", first.Verdict, first.Cases, first.Reason)
	}
	if v := try("r2", 9); v.Verdict != first.Verdict || v.Dropped != nil || v.Reason != first.Reason {
		t.Errorf("no objectives were named, and it became %s: %s", v.Verdict, v.Reason)
	}
	without := try("r3", 9, "quality", "retries")
	if without.Verdict != pareto.Promote || without.Route != "quality" || without.Alpha != first.Alpha || without.Fresh != 0 {
		t.Errorf("without cost: %s after %d fresh cases at %g: %s", without.Verdict, without.Fresh, without.Alpha, without.Reason)
	}
	if !slices.Equal(without.Dropped, []string{"latency", "cost"}) || !strings.Contains(strings.Join(without.Warnings, "\n"), "left out after it was seen, as you asked, so that no night installs this: latency ×1.00") ||
		!strings.Contains(strings.Join(without.Warnings, "\n"), "cost ×1.40") {
		t.Errorf("it dropped %v, and warns %q", without.Dropped, without.Warnings)
	}
	rec, err := m.Trial(t.Context(), "s", inc.SHA(), cha.SHA())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := rec.Dropped(); err != nil || !slices.Equal(got, without.Dropped) {
		t.Errorf("the record drops %v, %v", got, err)
	}
	again := try("r3", 9, "quality", "retries") // resumed
	if again.Verdict != without.Verdict || !slices.Equal(again.Dropped, without.Dropped) {
		t.Errorf("resumed: %s without %v", again.Verdict, again.Dropped)
	}
	back := try("r4", 9, pareto.Names()...)
	if !back.Verdict.IsOpen() || back.Dropped != nil || back.Cases != 9 || back.Reason != first.Reason {
		t.Errorf("with all again: %s after %d cases without %v: %s", back.Verdict, back.Cases, back.Dropped, back.Reason)
	}

	// What never counted was not seen, and its pairs are there if it does later.
	m = &recordtest.Memory{}
	if v := try("r1", 3, "quality"); v.Dropped != nil || !strings.Contains(strings.Join(v.Warnings, "\n"), "not part of the verdict, as you asked: latency, cost, retries") {
		t.Errorf("from the start without: dropped %v, %q", v.Dropped, v.Warnings)
	}
	if v := try("r2", 3, "quality", "cost"); v.Dropped != nil || !v.PerObjective[pareto.Cost].Measured || v.PerObjective[pareto.Cost].Estimate.N != 3 {
		t.Errorf("with cost from now on: %+v", v.PerObjective[pareto.Cost])
	}
	if v := try("r3", 3, "quality"); !slices.Equal(v.Dropped, []string{"cost"}) {
		t.Errorf("without it again: dropped %v", v.Dropped)
	}
}
