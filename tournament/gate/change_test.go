package gate

import (
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// TestTrialGoesOnThroughAnEdit: after its owner's edit a trial is continued under its name
// and number, with its evidence, by pairs of the edited texts; cases that it has used are
// not used again, and nothing is kept under the edited texts' names but their rollouts.
func TestTrialGoesOnThroughAnEdit(t *testing.T) {
	good, bad := variant(t, "good"), variant(t, "bad")
	m, all := &recordtest.Memory{}, heldOut(6)
	first, err := newGate(m, duel{}, "r1", 0).Try(t.Context(), bad, good, all[:4])
	if err != nil || first.Cases != 4 || !first.Verdict.IsOpen() {
		t.Fatalf("%+v, %v", first, err)
	}
	without, with := variant(t, "bad, edited"), variant(t, "good, edited")
	g := newGate(m, duel{}, "r2", 0)
	g.Trial = &record.Change{Base: bad.SHA(), Challenger: good.SHA()}
	for range 2 { // and once more: nothing is paid for twice
		v, err := g.Try(t.Context(), without, with, all)
		if err != nil || v.Cases != 6 || v.Wins != 6 || v.Number != 1 || v.Round != 0 {
			t.Fatalf("%+v, %v; want it to go on to 6 cases as trial 1", v, err)
		}
	}
	if len(m.Trials) != 1 {
		t.Errorf("%d trials, want the one", len(m.Trials))
	}
	rec, err := m.Trial(t.Context(), "s", bad.SHA(), good.SHA())
	if err != nil || rec == nil || rec.Run != "r2" {
		t.Fatalf("%+v, %v", rec, err)
	}
	kept, err := rec.Kept()
	if err != nil {
		t.Fatal(err)
	}
	straight, err := newGate(&recordtest.Memory{}, duel{}, "r1", 0).Try(t.Context(), bad, good, all)
	if err != nil || straight.EValue != kept.EValue() {
		t.Errorf("e = %g, without an edit %g, %v", kept.EValue(), straight.EValue, err)
	}
	if spent, err := m.SpentCases(t.Context(), "s"); err != nil || len(spent.By) != 6 {
		t.Errorf("%d cases spent, %v; want 6", len(spent.By), err)
	}
	ran := map[string]int{}
	for _, r := range m.Rollouts {
		ran[r.Candidate]++
		if !strings.Contains(r.Arm, r.Candidate[:16]) {
			t.Errorf("%.16s ran in arm %s", r.Candidate, r.Arm)
		}
	}
	if ran[bad.SHA()] != 4 || ran[without.SHA()] != 2 {
		t.Errorf("rollouts %v, want those of the texts that were run", ran)
	}
}

// TestTrialOfAnOlderEvolve: a trial that an older evolve started again for an edited text
// has a list of clusters that it may not use, and takes the rule of the run that begins it.
func TestTrialOfAnOlderEvolve(t *testing.T) {
	good, bad := variant(t, "good"), variant(t, "bad")
	m, all := &recordtest.Memory{}, heldOut(60)
	var barred []string
	for _, c := range all[:40] {
		barred = append(barred, c.ID)
	}
	rec := &record.TrialRecord{Skill: "s", Incumbent: bad.SHA(), Challenger: good.SHA(), Run: "rebase", Decision: pareto.Undecided}
	if err := rec.Save(&record.State{Version: 1, Excluded: barred}); err != nil {
		t.Fatal(err)
	}
	if _, begun := rec.Begun(); begun {
		t.Error("a trial that waits for its first run has begun")
	}
	if n, err := rec.Fresh(all, nil, nil); err != nil || n != 20 {
		t.Errorf("%d fresh, error %v; want 20", n, err)
	}
	if err := m.SaveTrial(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	strict := pareto.DefaultConfig().Within(1e-9) // 20 wins prove nothing at that level
	for _, run := range []string{"r1", "r1", "r2"} {
		g := newGate(m, duel{}, run, 0)
		if g.Config = strict; run == "r2" {
			g.Config = pareto.DefaultConfig()
		}
		v, err := g.Try(t.Context(), bad, good, all)
		if err != nil {
			t.Fatal(err)
		}
		if v.Cases != 20 || !v.Verdict.IsOpen() {
			t.Errorf("run %s: %s after %d cases, want undecided after the 20 fresh ones at the level of the first run", run, v.Verdict, v.Cases)
		}
	}
	rec, err := m.Trial(t.Context(), "s", bad.SHA(), good.SHA())
	if err != nil {
		t.Fatal(err)
	}
	if heard, err := clustersOf(rec); err != nil || len(heard) != 60 || !slices.Contains(heard, all[0].ID) {
		t.Errorf("clusters %v, error %v; want all 60: 40 barred, 20 heard", heard, err)
	}
}
