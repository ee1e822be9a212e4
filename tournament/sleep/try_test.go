package sleep

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
)

// TestTrialInstallsOfANight: only with their owner's word does a night put a challenger in
// place on trial, after its trial has gone on or where it waits for cases; what cannot be
// taken back in one skill keeps no other from its turn.
func TestTrialInstallsOfANight(t *testing.T) {
	open := proved(10)
	open.Decision = pareto.Promising
	goes, waits, kept, left := failing("goes", 90), failing("waits", 90), failing("kept", 90), failing("left", 90)
	goes.Challenger, goes.Fresh, goes.Rollouts, waits.Challenger = "b", 5, 40, "c"
	kept.Challenger, kept.Fresh, kept.Rollouts = "b", 5, 40
	left.Challenger, left.Fresh, left.Rollouts = "b", 5, 40
	stays, yours := proved(10), proved(10)
	stays.Kept, stays.Settled, yours.Settled = true, "it stays", "it is yours to keep"
	for _, tries := range []bool{false, true} {
		h := &house{outlooks: map[string]Outlook{"goes": goes, "kept": kept, "left": left, "waits": waits}, results: map[string]Result{"goes": open, "kept": stays, "left": yours}}
		c := h.cycle(Stored(openStore(t)))
		var placed []string
		c.Parts.Place = func(_ context.Context, k Task) (Placed, error) {
			placed = append(placed, k.Skill)
			return Placed{Done: k.Skill == "goes", Note: "said", Spent: eval.Spent{Rollouts: 40, CostKnown: true}}, nil
		}
		c.Parts.Settle = func(_ context.Context, k Task) (Placed, error) {
			if k.Skill == "goes" {
				return Placed{}, &Hopeless{Err: errors.New("its folder cannot be written")}
			}
			return Placed{}, nil
		}
		n, err := c.Run(t.Context(), Plan{Policy: Auto, Tries: tries, Caps: Caps{Rollouts: 300}})
		if err != nil {
			t.Fatal(err)
		}
		if n.Probed().Rollouts != int64(40*len(placed)) || n.Spent().Rollouts > 300 { // the cap on rollouts is not about probes
			t.Errorf("tries %v: probes took %+v, the rest %+v", tries, n.Probed(), n.Spent())
		}
		if slices.Sort(placed); tries && !slices.Equal(placed, []string{"goes", "waits"}) || !tries && len(placed) > 0 {
			t.Errorf("tries %v: placed %v", tries, placed)
		}
		if len(h.tried) != 3 || len(h.installed) != 0 || n.Ended.IsZero() {
			t.Errorf("tries %v: %+v, installed %v", tries, h.tried, h.installed)
		}
		stage := func(skill string) (out []Stage) {
			for _, k := range n.Steps {
				if k.Kind == Try && k.Skill == skill {
					out = append(out, k.Stage)
				}
			}
			return out
		}
		want := []Stage{Failed}
		if tries {
			want = append(want, Done)
		}
		if got := stage("goes"); !slices.Equal(got, want) {
			t.Errorf("tries %v: goes %v, want %v", tries, got, want)
		}
		if got := stage("waits"); tries && !slices.Equal(got, []Stage{Skipped}) {
			t.Errorf("waits: %v", got)
		}
	}
}

// TestTriesAreNarrowed: a night that goes on without --try puts nothing more in place.
func TestTriesAreNarrowed(t *testing.T) {
	goes := failing("goes", 90)
	goes.Challenger, goes.Fresh, goes.Rollouts = "b", 5, 40
	open := Result{Decision: pareto.Promising, Incumbent: "a", Challenger: "b", Spent: eval.Spent{Rollouts: 10, CostKnown: true}}
	h := &house{outlooks: map[string]Outlook{"goes": goes}, results: map[string]Result{"goes": open}}
	c := h.cycle(Stored(openStore(t)))
	ctx, kill := context.WithCancel(t.Context())
	c.Parts.Place = func(context.Context, Task) (Placed, error) { kill(); return Placed{}, ctx.Err() }
	if _, err := c.Run(ctx, Plan{Tries: true, Caps: Caps{Rollouts: 300}}); err == nil {
		t.Fatal("it was not interrupted")
	}
	c.Parts.Place = func(context.Context, Task) (Placed, error) {
		t.Error("placed")
		return Placed{Done: true}, nil
	}
	n, err := c.Run(t.Context(), Plan{Caps: Caps{Rollouts: 300}})
	if err != nil || n.Ended.IsZero() || n.TakenOver != 1 {
		t.Fatalf("%+v, %v", n, err)
	}
	if k := n.Steps[len(n.Steps)-1]; k.Kind != Try || k.Stage != Skipped {
		t.Errorf("%+v", k)
	}
}
