package gate

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// A restarted trial has no evidence, takes the rule of the run that begins it,
// and never hears a cluster that its challenger's ancestor was tried on; another
// challenger of the same text may.
func TestRestart(t *testing.T) {
	ctx := context.Background()
	good, bad, rival := variant(t, "good"), variant(t, "bad"), variant(t, "worse")
	m := &recordtest.Memory{}
	all := heldOut(60)
	var barred []string
	for _, c := range all[:40] {
		barred = append(barred, c.ID)
	}
	rec, err := record.Restart("s", bad.SHA(), good.SHA(), "rebase", barred[:39], time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	for want := range 2 { // the 40th later, once
		changed, err := rec.Exclude(barred[39:])
		if err != nil || changed != (want == 0) {
			t.Fatalf("changed %v, error %v", changed, err)
		}
	}
	if d, err := rec.Evidence(); err != nil || d.Cases != 0 || !d.Verdict.IsOpen() {
		t.Errorf("evidence %+v, error %v; want none", d, err)
	}
	if n, err := rec.Fresh(all, nil); err != nil || n != 20 {
		t.Errorf("%d fresh, error %v; want 20", n, err)
	}
	if err := m.SaveTrial(ctx, rec); err != nil {
		t.Fatal(err)
	}
	strict := pareto.DefaultConfig().Within(1e-9) // 20 wins prove nothing at that level
	for _, run := range []string{"r1", "r1", "r2"} {
		g := newGate(m, duel{}, run, 0)
		if g.Config = strict; run == "r2" {
			g.Config = pareto.DefaultConfig()
		}
		v, err := g.Try(ctx, bad, good, all)
		if err != nil {
			t.Fatal(err)
		}
		if v.Cases != 20 || !v.Verdict.IsOpen() {
			t.Errorf("run %s: %s after %d cases, want undecided after the 20 fresh ones at the level of the first run", run, v.Verdict, v.Cases)
		}
	}
	if rec, err = m.Trial(ctx, "s", bad.SHA(), good.SHA()); err != nil {
		t.Fatal(err)
	}
	heard, err := clustersOf(rec)
	if err != nil || len(heard) != 60 || !slices.Contains(heard, all[0].ID) {
		t.Errorf("clusters %v, error %v; want all 60: 40 barred, 20 heard", heard, err)
	}
	if changed, err := rec.Exclude([]string{all[59].ID}); err != nil || changed {
		t.Errorf("what was heard is barred too: %v, %v", changed, err)
	}
	spent, err := m.SpentCases(ctx, "s")
	if err != nil || len(spent.By) != 20 {
		t.Fatalf("%d cases spent, error %v", len(spent.By), err)
	}
	other, err := newGate(m, duel{}, "r3", 0).Try(ctx, bad, rival, all)
	if err != nil || other.Cases == 0 {
		t.Errorf("another challenger heard %+v, error %v; the barred cases are fresh to it", other, err)
	}
}
