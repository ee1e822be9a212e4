package sleep

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
)

// dying is a journal that fails at its n-th write, like a process that is killed
// there, before or after the write.
type dying struct {
	Journal
	left  int
	after bool
}

var errKilled = errors.New("killed")

func (d *dying) write(f func() error) error {
	d.left--
	if d.left == 0 {
		if d.after {
			if err := f(); err != nil {
				return err
			}
		}
		return errKilled
	}
	if d.left < 0 {
		return errKilled
	}
	return f()
}

func (d *dying) SaveNight(ctx context.Context, n *Night) error {
	return d.write(func() error { return d.Journal.SaveNight(ctx, n) })
}

func (d *dying) SaveState(ctx context.Context, g int64, s *State) error {
	return d.write(func() error { return d.Journal.SaveState(ctx, g, s) })
}

func (d *dying) Release(context.Context, Lease) error { return errKilled } // the dead give nothing back

// drifted is a skill whose installed version was proved on another model, with so
// many held-out cases that its gate has not used.
func drifted(skill string, cases int) Outlook {
	o := failing(skill, 3)
	o.Drift = &Drift{Version: o.Incumbent, Previous: "old-" + skill, From: Model{Agent: "claude", Asked: "one"}, To: Model{Agent: "claude", Asked: "two"},
		Cases: cases, Tries: 2}
	return o
}

// staged is a skill that has a proof of an earlier night.
func staged(skill string) Outlook {
	o := failing(skill, 30)
	r := proved(0)
	r.Incumbent, r.Challenger = o.Incumbent, "next-"+skill
	o.Proved = &Proof{Run: "earlier", Result: r}
	return o
}

// TestKilledAtEveryStep: if a night is killed at any write, the next process
// ends it as if nothing had happened: the same spending, every run once, each
// install once, each alarm reported once, each version rolled back once.
func TestKilledAtEveryStep(t *testing.T) {
	for _, c := range []struct {
		name       string
		build      func() *house
		rollback   bool
		installed  []string
		rolledBack []string
		runs       int
		trials     map[string]int // of the lifetime
		kills      int            // at least
	}{
		{"searches, installs, an alarm", func() *house {
			return &house{outlooks: map[string]Outlook{"a": failing("a", 90), "b": failing("b", 60), "c": failing("c", 30)},
				results: map[string]Result{"a": proved(100), "b": {Decision: pareto.Undecided, Incumbent: "i", Challenger: "u", Spent: eval.Spent{Rollouts: 80}},
					"c": proved(70)},
				alarms: map[string]*Alarm{"b": {Version: "v", Alpha: 0.05, At: 4, NewSessions: 9}}}
		}, false, []string{"a", "c"}, nil, 3, map[string]int{"a": 1, "b": 1, "c": 1}, 20},
		{"comparisons, what was staged, versions taken back", func() *house {
			return &house{outlooks: map[string]Outlook{"bad": drifted("bad", 9), "good": drifted("good", 9), "idle": drifted("idle", 9), "staged": staged("staged"), "watched": failing("watched", 3)},
				alarms: map[string]*Alarm{"watched": {Version: "v", Alpha: 0.05, At: 4, NewSessions: 9}}}
		}, true, []string{"staged"}, []string{"watched"}, 3, map[string]int{"staged": 1, "bad": 0}, 20},
	} {
		plan := Plan{Policy: Auto, Caps: Caps{Rollouts: 300}}
		whole := c.build()
		cycle := whole.cycle(Stored(openStore(t)))
		cycle.Rollback = c.rollback
		want, err := cycle.Run(t.Context(), plan)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(whole.installed, c.installed) || !reflect.DeepEqual(whole.rolledBack, c.rolledBack) || len(whole.runs) != c.runs {
			t.Fatalf("%s: installed %v, rolled back %v, %d runs; want %v, %v, %d", c.name, whole.installed, whole.rolledBack, len(whole.runs), c.installed, c.rolledBack, c.runs)
		}
		deaths := 0
		for _, after := range []bool{false, true} {
			for at := 1; ; at++ {
				db := openStore(t)
				h := c.build()
				d := &dying{Journal: Stored(db), left: at, after: after}
				cycle := h.cycle(d)
				cycle.Owner, cycle.Rollback = "the dead", c.rollback
				if _, err := cycle.Run(t.Context(), plan); err == nil {
					break
				} else if !errors.Is(err, errKilled) {
					t.Fatal(err)
				}
				deaths++
				if last, err := Nights(t.Context(), db, 1); err == nil && len(last) == 1 && !last[0].Ended.IsZero() {
					continue // it died of its last breath
				}
				next := h.cycle(Stored(db))
				next.RunID, next.Rollback = cycle.RunID, c.rollback // ids go on
				next.Dead = func(owner string) bool { return owner == "the dead" }
				got, err := next.Run(t.Context(), plan)
				if err != nil {
					t.Fatalf("%s: after a kill at write %d: %v", c.name, at, err)
				}
				if g, w := got.Spent(), want.Spent(); g != w || !reflect.DeepEqual(h.installed, whole.installed) || !reflect.DeepEqual(h.rolledBack, whole.rolledBack) || len(h.runs) != c.runs {
					t.Errorf("%s: kill at write %d (after %v): spent %+v, installed %v, rolled back %v, runs %v; want %+v, %v, %v, %d", c.name, at, after, g, h.installed, h.rolledBack, h.runs,
						w, whole.installed, whole.rolledBack, c.runs)
				}
				if g, w := notes(got), notes(want); !reflect.DeepEqual(g, w) {
					t.Errorf("%s: kill at write %d (after %v): told %q, want %q", c.name, at, after, g, w)
				}
				for s, n := range c.trials {
					st, err := next.Journal.State(t.Context(), s)
					if err != nil || st.Lifetime.Tested != n {
						t.Errorf("%s: kill at write %d: %s has %d trials in its lifetime, %v; want %d", c.name, at, s, st.Lifetime.Tested, err, n)
					}
				}
				if n, err := Nights(t.Context(), db, 0); err != nil || len(n) != 1 || n[0].Ended.IsZero() {
					t.Errorf("%s: kill at write %d: %d nights, %v; want one that ended", c.name, at, len(n), err)
				}
			}
		}
		if deaths < c.kills {
			t.Errorf("%s: only %d kills", c.name, deaths)
		}
	}
}

// notes are the notes of what a night has done, by step.
func notes(n *Night) (out []string) {
	for _, s := range n.Steps {
		out = append(out, string(s.Kind)+" "+s.Skill+" "+string(s.Stage)+": "+s.Note)
	}
	return out
}

// TestComparesOnce: a version is compared on a model once, and again when there are
// cases that the last comparison has not tried; whatever it finds, nothing is done.
func TestComparesOnce(t *testing.T) {
	ctx, h, j := t.Context(), &house{outlooks: map[string]Outlook{"a": drifted("a", 9), "b": failing("b", 90)}}, Stored(openStore(t))
	night := func(compared int, words string) {
		t.Helper()
		h.tried = nil
		n, err := h.cycle(j).Run(ctx, Plan{Policy: Auto, Caps: Caps{Rollouts: 300}})
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for i, k := range h.tried {
			if k.Kind == Compare {
				got++
				if i != len(h.tried)-1 {
					t.Errorf("%s: what is left goes to it, and it is the %dth of %d", words, i+1, len(h.tried))
				}
			}
		}
		if got != compared {
			t.Errorf("%s: %d comparisons, want %d: %q", words, got, compared, notes(n))
		}
	}
	h.compared = 5
	night(1, "first")
	if h.tried[len(h.tried)-1].Caps.Rollouts != 72 {
		t.Errorf("tried %+v; want 9 cases with two texts, twice, each twice at most", h.tried)
	}
	h.compared = 0
	night(1, "some were not tried")
	night(0, "all were tried")
	h.outlooks["a"] = drifted("a", 10)
	night(1, "a new case")
	other := drifted("a", 10)
	other.Drift.To.Asked = "three"
	h.outlooks["a"] = other
	night(1, "another model")
	other.Drift.To = other.Drift.From
	night(0, "the model that it was proved on")
	st, err := j.State(ctx, "a")
	if err != nil || len(st.Compared) != 4 || len(h.rolledBack)+len(h.installed) != 0 {
		t.Errorf("%+v, %v; rolled back %v, installed %v", st.Compared, err, h.rolledBack, h.installed)
	}
	if got := st.Compared[1].String(); got != "worse than no skill on claude/two: quality -0.20 (-0.30 to -0.10), 10 cases" {
		t.Errorf("%q", got)
	}
}

// TestPicksUpWhatIsStaged: a night with the policy auto installs what an earlier
// one proved, once nothing speaks against it, and enters it into the lifetime.
func TestPicksUpWhatIsStaged(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy Policy
		change func(*Result)
		want   bool
	}{
		{"nothing against it", Auto, func(*Result) {}, true},
		{"policy stage", Staging, func(*Result) {}, false},
		{"kernel not confirmed", Auto, func(r *Result) { r.Kernel = false }, false},
		{"flagged", Auto, func(r *Result) { r.Flagged = []string{"network"} }, false},
		{"simulated", Auto, func(r *Result) { r.Simulated = true }, false},
		{"no sandbox", Auto, func(r *Result) { r.Unboxed = true }, false},
		{"another model by now", Auto, func(r *Result) { r.Against = "it was proved on another model" }, false},
		{"proved by its owner's run, below the lifetime's level", Auto, func(r *Result) { r.Alpha, r.Total, r.EValue = 0.04, 0.05, 26 }, false},
		{"proved by its owner's run, with enough", Auto, func(r *Result) { r.Alpha, r.Total, r.EValue = 0.04, 0.05, 51 }, true},
	} {
		o := staged("a")
		c.change(&o.Proved.Result)
		h := &house{outlooks: map[string]Outlook{"a": o}}
		j := Stored(openStore(t))
		n, err := h.cycle(j).Run(t.Context(), Plan{Policy: c.policy, Caps: Caps{Rollouts: 300}})
		if err != nil {
			t.Fatal(err)
		}
		st, err := j.State(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		counted := 0
		if c.want {
			counted = 1
		}
		if got := len(h.installed) == 1; got != c.want || len(h.tried) != 0 || len(st.Lifetime.Rejected) != counted {
			t.Errorf("%s: installed %v, tried %v, %d promotions in the lifetime: %q", c.name, h.installed, h.tried, len(st.Lifetime.Rejected), notes(n))
		}
		if last := n.Steps[len(n.Steps)-1]; !c.want && (last.Stage != Skipped || last.Note == "") {
			t.Errorf("%s: %+v, want it skipped with its reason", c.name, last)
		}
	}
}
