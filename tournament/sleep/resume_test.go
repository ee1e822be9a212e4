package sleep

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

func TestCapsWithin(t *testing.T) {
	got := Caps{Rollouts: 240, CostUSD: 100, Duration: time.Hour}.Within(Caps{Rollouts: 300, CostUSD: 0.5, Tokens: 9})
	if want := (Caps{Rollouts: 240, CostUSD: 0.5, Tokens: 9, Duration: time.Hour}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// interrupted is a night of two skills, "a" before "b", whose process ended in the
// run of a after it had spent so many rollouts.
func interrupted(t *testing.T, spent int64) (*house, Journal) {
	t.Helper()
	h := &house{outlooks: map[string]Outlook{"a": failing("a", 90), "b": failing("b", 30)},
		results: map[string]Result{"a": proved(200), "b": proved(60)}, trouble: map[string]error{"a": errors.New("killed")}}
	j := Stored(openStore(t))
	c := h.cycle(j)
	c.Parts.Try = func(context.Context, Task) (Result, error) { return Result{}, errors.New("killed") } // it tells nothing
	if _, err := c.Run(t.Context(), Plan{Policy: Auto, Caps: Caps{Rollouts: 400, CostUSD: 100}}); err == nil {
		t.Fatal("it ended")
	}
	h.runs = map[string]int64{"run1": spent}
	h.trouble = nil
	return h, j
}

func (h *house) resumed(j Journal) *Cycle {
	c := h.cycle(j)
	c.Parts.Spent = func(_ context.Context, run string) (eval.Spent, error) {
		return eval.Spent{Rollouts: h.runs[run], CostUSD: float64(h.runs[run]) / 10, CostKnown: true}, nil
	}
	return c
}

// TestResumedUnderLess: a continued night spends, with its earlier spending,
// no more than the present caps, and installs nothing under the policy stage.
func TestResumedUnderLess(t *testing.T) {
	h, j := interrupted(t, 80)
	c := h.resumed(j)
	var left Caps
	var used bool
	c.OnResume = func(n *Night) { left, used = n.Left() }
	n, err := c.Run(t.Context(), Plan{Policy: Staging, Caps: Caps{Rollouts: 100, CostUSD: 8.5}})
	if err != nil {
		t.Fatal(err)
	}
	if left != (Caps{Rollouts: 20, CostUSD: 0.5}) || used {
		t.Errorf("it says %+v left (used up: %v), want 20 rollouts and $0.50", left, used)
	}
	if len(h.tried) != 1 || h.tried[0].Run != "run1" || h.tried[0].Caps.Rollouts > 100 || h.tried[0].Caps.CostUSD > 8.5 {
		t.Errorf("tried %+v; want the run that was begun, with 100 rollouts and $8.50 at most", h.tried)
	}
	if n.Policy != Staging || len(h.installed) != 0 || n.Spent().Rollouts > 100 {
		t.Errorf("policy %s, installed %v, spent %+v: want it staged within 100 rollouts", n.Policy, h.installed, n.Spent())
	}
}

// TestResumedWithNothingLeft: what was spent exceeds what is asked for now: the run
// is ended by its cap, and nothing else begins.
func TestResumedWithNothingLeft(t *testing.T) {
	h, j := interrupted(t, 80)
	if _, err := h.resumed(j).Run(t.Context(), Plan{Policy: Auto, Caps: Caps{Rollouts: 5, CostUSD: 0.5}}); err != nil {
		t.Fatal(err)
	}
	if len(h.tried) != 1 || h.tried[0].Caps.Rollouts != 5 || h.tried[0].Caps.CostUSD != 0.5 {
		t.Errorf("tried %+v; want one run, held to 5 rollouts and $0.50", h.tried)
	}
}

// TestResumedUnderMore: a larger budget and a laxer policy do not widen a night.
func TestResumedUnderMore(t *testing.T) {
	h, j := interrupted(t, 80)
	n, err := h.resumed(j).Run(t.Context(), Plan{Policy: Auto, Caps: Caps{Rollouts: 1000, CostUSD: 500, Tokens: 7}})
	if err != nil {
		t.Fatal(err)
	}
	if want := (Caps{Rollouts: 400, CostUSD: 100, Tokens: 7}); n.Caps != want || !reflect.DeepEqual(h.installed, []string{"a", "b"}) {
		t.Errorf("caps %+v, installed %v; want %+v, and both installed", n.Caps, h.installed, want)
	}
}

// TestResumedForOneSkill: the others are skipped, with a reason.
func TestResumedForOneSkill(t *testing.T) {
	h, j := interrupted(t, 80)
	n, err := h.resumed(j).Run(t.Context(), Plan{Policy: Auto, Skills: []string{"b"}})
	if err != nil {
		t.Fatal(err)
	}
	if s := n.Steps[1]; s.Skill != "a" || s.Stage != Skipped || s.Note == "" || s.Spent.Rollouts != 80 {
		t.Errorf("a: %+v, want it skipped with its reason and what it spent", s)
	}
	if !reflect.DeepEqual(h.installed, []string{"b"}) || len(h.tried) != 1 {
		t.Errorf("tried %+v, installed %v, want b alone", h.tried, h.installed)
	}
}

// TestStagePolicyOverABegunInstallation: an installation that has not
// happened waits; one that is in place already is reported as installed.
func TestStagePolicyOverABegunInstallation(t *testing.T) {
	for _, placed := range []bool{false, true} {
		h := &house{outlooks: map[string]Outlook{"a": staged("a")}}
		j := Stored(openStore(t))
		c := h.cycle(j)
		c.Parts.Install = func(context.Context, Task, Result) (Placed, error) {
			if placed {
				o := h.outlooks["a"]
				o.Incumbent = o.Proved.Result.Challenger
				h.outlooks["a"] = o
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return Placed{}, ctx.Err()
		}
		if _, err := c.Run(t.Context(), Plan{Policy: Auto}); err == nil {
			t.Fatal("it ended")
		}
		n, err := h.resumed(j).Run(t.Context(), Plan{Policy: Staging})
		if err != nil {
			t.Fatal(err)
		}
		want := Skipped
		if placed {
			want = Done
		}
		if s := n.Steps[1]; s.Stage != want || s.Note == "" || len(h.installed) == 1 != placed {
			t.Errorf("in place %v: %+v, installed %v; want it %s", placed, s, h.installed, want)
		}
	}
}

// TestDryRunOfAnOpenNight: it shows what remains, and keeps nothing.
func TestDryRunOfAnOpenNight(t *testing.T) {
	h, j := interrupted(t, 80)
	before, err := j.LastNight(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n, err := h.resumed(j).Run(t.Context(), Plan{Policy: Staging, Caps: Caps{Rollouts: 100}, Dry: true})
	if err != nil {
		t.Fatal(err)
	}
	if n.ID != before.ID || n.Policy != Staging || n.Caps.Rollouts != 100 || len(n.Steps) != 3 || n.Steps[1].Run != "run1" || len(h.tried) != 0 {
		t.Errorf("%+v, tried %v; want what remains of %s", n, h.tried, before.ID)
	}
	if after, err := j.LastNight(t.Context()); err != nil || !reflect.DeepEqual(after, before) {
		t.Errorf("the night is now %+v, %v; want %+v", after, err, before)
	}
}

// TestInstallationThatFails: what concerns one folder fails its step and the night
// goes on; any other error is tried again by the next processes, and given up in the
// end. Either way a later night picks the proof up again.
func TestInstallationThatFails(t *testing.T) {
	for _, hopeless := range []bool{true, false} {
		h := &house{outlooks: map[string]Outlook{"a": staged("a"), "b": failing("b", 30)}, results: map[string]Result{"b": proved(60)}}
		j := Stored(openStore(t))
		broken := errors.New("the folder cannot be written")
		whole := h.parts().Install
		attempts := 0
		c := h.cycle(j)
		c.Parts.Install = func(ctx context.Context, k Task, r Result) (Placed, error) {
			if k.Skill != "a" {
				return whole(ctx, k, r)
			}
			attempts++
			if hopeless {
				return Placed{}, &Hopeless{broken}
			}
			return Placed{}, broken
		}
		want := 1
		if !hopeless {
			want = tries
			for range tries {
				if _, err := c.Run(t.Context(), Plan{Policy: Auto}); !errors.Is(err, broken) {
					t.Fatalf("%v, want the folder's error", err)
				}
			}
		}
		n, err := c.Run(t.Context(), Plan{Policy: Auto})
		if err != nil || attempts != want || n.Ended.IsZero() {
			t.Fatalf("hopeless %v: %v after %d attempts, ended %v; want it to end after %d", hopeless, err, attempts, n.Ended, want)
		}
		if s := n.Steps[1]; s.Kind != Install || s.Stage != Failed || !strings.Contains(s.Note, broken.Error()) || !reflect.DeepEqual(h.installed, []string{"b"}) {
			t.Errorf("hopeless %v: %+v, installed %v; want a failed with its reason, and b installed", hopeless, s, h.installed)
		}
		h.outlooks["b"] = failing("b", 3)
		if _, err := h.cycle(j).Run(t.Context(), Plan{Policy: Auto}); err != nil || !slices.Contains(h.installed, "a") {
			t.Errorf("hopeless %v: the night after: %v, installed %v; want a picked up", hopeless, err, h.installed)
		}
	}
}
