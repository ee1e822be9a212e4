package sleep

import (
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
)

// TestDescriptions: a night works on a description if misfires show need,
// once for the same ones; the harness comes first; both share the lifetime's
// error, and no policy installs one.
func TestDescriptions(t *testing.T) {
	misfiring := func(n int) *Triggers { return &Triggers{Description: "d", Train: 10, Tried: 20, Misfired: n} }
	quiet := failing("a", 3)
	for _, c := range []struct {
		name string
		o    Outlook
		st   Described
		want Kind // "" for nothing
		part Part
	}{
		{"no trigger cases", quiet, Described{}, "", Harness},
		{"too few misfires", with(quiet, misfiring(2)), Described{}, "", Harness},
		{"misfires", with(quiet, misfiring(3)), Described{}, Search, Description},
		{"the same misfires again", with(quiet, misfiring(3)), Described{"d", 3}, "", Harness},
		{"three more", with(quiet, misfiring(6)), Described{"d", 3}, Search, Description},
		{"another description", with(quiet, misfiring(3)), Described{"of old", 9}, Search, Description},
		{"nothing to learn from", with(quiet, &Triggers{Description: "d", Tried: 20, Misfired: 9}), Described{}, "", Harness},
		{"a challenger with fresh cases", with(quiet, &Triggers{Description: "d", Train: 10, Tried: 20, Misfired: 9, Challenger: "x", Fresh: 4, Rollouts: 16}), Described{}, Continue, Description},
		{"a challenger that waits", with(quiet, &Triggers{Description: "d", Train: 10, Tried: 20, Misfired: 9, Challenger: "x"}), Described{}, "", Harness},
		{"the harness is needed more", with(failing("a", 90), misfiring(9)), Described{}, Search, Harness},
		{"the harness is on trial", func() Outlook { o := with(quiet, misfiring(9)); o.Challenger = "h"; return o }(), Described{}, "", Harness},
		{"a proof waits", func() Outlook { o := with(staged("a"), misfiring(9)); o.Proved.Result.Kernel = false; return o }(), Described{}, Install, Harness},
	} {
		h := &house{outlooks: map[string]Outlook{"a": c.o}, results: map[string]Result{"a": {Decision: pareto.Promote, Incumbent: c.o.Incumbent, Challenger: "better",
			EValue: 1e6, Alpha: 0.02, Total: 0.025, Kernel: true, Against: "it changes the description", Spent: eval.Spent{Rollouts: 20, CostKnown: true}}}}
		j := Stored(openStore(t))
		cycle := h.cycle(j)
		l, err := j.Acquire(t.Context(), "test", evening, evening, func(string) bool { return false })
		if err != nil {
			t.Fatal(err)
		}
		st := NewState("a")
		st.Described = c.st
		if err := j.SaveState(t.Context(), l.Generation, st); err != nil {
			t.Fatal(err)
		}
		n, err := cycle.Run(t.Context(), Plan{Policy: Auto, Caps: Caps{Rollouts: 300}})
		if err != nil {
			t.Fatal(err)
		}
		if len(n.Steps) == 1 {
			if c.want != "" {
				t.Errorf("%s: nothing planned, want %s", c.name, c.want)
			}
			continue
		}
		s := n.Steps[1]
		if s.Kind != c.want || s.Part != c.part || len(h.installed) != 0 {
			t.Errorf("%s: %s %q, installed %v; want %s %q and nothing installed: %q", c.name, s.Kind, s.Part, h.installed, c.want, c.part, notes(n))
		}
		if c.part != Description {
			continue
		}
		if len(h.tried) != 1 || h.tried[0].Part != Description {
			t.Errorf("%s: tried %+v", c.name, h.tried)
		}
		if st, err = j.State(t.Context(), "a"); err != nil || st.Lifetime.Tested != 1 || !st.Searched.IsZero() {
			t.Errorf("%s: %d trials in the lifetime, harness searched at %v, %v; want one, and never", c.name, st.Lifetime.Tested, st.Searched, err)
		}
		if want := (Described{"d", c.o.Triggers.Misfired}); s.Kind == Search && st.Described != want {
			t.Errorf("%s: remembers %+v, want %+v", c.name, st.Described, want)
		}
	}
}

func with(o Outlook, t *Triggers) Outlook {
	o.Triggers = t
	return o
}
