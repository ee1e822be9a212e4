package gate

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// TestHold: a proof at the level of a single trial goes on under a stricter one with
// all its pairs, and stays proven alone; what is under it already, or closed by its
// pairs, or waits for its first run, is left alone.
func TestHold(t *testing.T) {
	ctx := context.Background()
	m := &recordtest.Memory{}
	held := heldOut(40)
	inc, cha := variant(t, "bad"), variant(t, "good")
	try := func(run string, level float64) *Verdict {
		t.Helper()
		g := newGate(m, duel{}, run, 0)
		g.Objectives = []string{"quality"}
		if level > 0 {
			g.Config = pareto.DefaultConfig().Within(level)
		}
		v, err := g.Try(ctx, inc, cha, held)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	first := try("owner", 0)
	if first.Verdict != pareto.Promote || first.Number != 1 || first.Lifetime != 0.025 {
		t.Fatalf("%s as trial %d at %g", first.Verdict, first.Number, first.Lifetime)
	}
	rec, err := m.Trial(ctx, "s", inc.SHA(), cha.SHA())
	if err != nil || rec == nil {
		t.Fatalf("%v, %v", rec, err)
	}
	proof := *rec
	const level = 0.001
	if changed, err := proof.Hold(level); err != nil || !changed || !proof.Decision.IsOpen() {
		t.Fatalf("held: %v, %v, %s", changed, err, proof.Decision)
	}
	if alone, err := proof.ProvenAlone(); err != nil || !alone {
		t.Errorf("proven alone: %v, %v", alone, err)
	}
	if said, err := proof.OverLifetime(&record.TrialNumber{Number: 7}); err != nil || said == "" {
		t.Errorf("%q, %v", said, err)
	}
	if said, err := proof.OverLifetime(&record.TrialNumber{Number: 1}); err != nil || said != "" {
		t.Errorf("of the first trial %q, %v", said, err)
	}
	kept, err := proof.Kept()
	if err != nil || kept.Cases() != first.Cases {
		t.Errorf("%d pairs, %v; want all %d", kept.Cases(), err, first.Cases)
	}
	for _, laxer := range []float64{level, 2 * level, 1} {
		before := bytes.Clone(proof.State)
		if changed, err := proof.Hold(laxer); err != nil || changed || !bytes.Equal(proof.State, before) {
			t.Errorf("held again at %g: %v, %v", laxer, changed, err)
		}
	}
	if err := m.SaveTrial(ctx, &proof); err != nil {
		t.Fatal(err)
	}
	then := try("night", level)
	if then.Verdict != pareto.Promote || then.Cases <= first.Cases || then.Number != 1 || !then.Lasts(level) {
		t.Errorf("the night: %s on %d cases as trial %d, e = %g of %g", then.Verdict, then.Cases, then.Number, then.EValue, then.Asks(level))
	}
	rejected := *rec
	rejected.Decision = pareto.Reject
	if changed, err := rejected.Hold(level); err != nil || changed {
		t.Errorf("a rejected one: %v, %v", changed, err)
	}
	if alone, err := rejected.ProvenAlone(); err != nil || alone {
		t.Errorf("a rejected one is proven alone: %v, %v", alone, err)
	}
}

// TestGateSaysWhatALaterProofIsWorth: the first trial of a skill is a single one, the
// second is not.
func TestGateSaysWhatALaterProofIsWorth(t *testing.T) {
	j := &recordtest.Memory{}
	for i, challenger := range []string{"no better", "good"} {
		g := newGate(j, duel{}, fmt.Sprintf("r%d", i), 0)
		g.Objectives = []string{"quality"}
		v, err := g.Try(context.Background(), variant(t, "bad"), variant(t, challenger), heldOut(40)[4*i:4+36*i])
		if err != nil {
			t.Fatal(err)
		}
		if v.Number != i+1 || (v.Verdict == pareto.Promote) != (i == 1) {
			t.Fatalf("trial %d: number %d, %s: %s", i+1, v.Number, v.Verdict, v.Reason)
		}
		said := slices.ContainsFunc(v.Warnings, func(w string) bool {
			return strings.HasPrefix(w, "better as a single trial (at most 1 time in 33 by chance); as trial 2 of s it takes 1 in 150: ")
		})
		if said != (i == 1) {
			t.Errorf("trial %d: warnings %q", i+1, v.Warnings)
		}
	}
}
