package sleep

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

// alley is a house of skills that all need a search, the first one most.
func alley(names ...string) *house {
	h := &house{outlooks: map[string]Outlook{}, results: map[string]Result{}, trouble: map[string]error{}}
	for i, n := range names {
		h.outlooks[n] = failing(n, 90-10*i)
		h.results[n] = Result{Reason: "nothing beat it", Spent: eval.Spent{Rollouts: 20, CostKnown: true}}
	}
	return h
}

// fails lets a skill meet trouble of a kind, before its first answer.
func (h *house) fails(kind string, names ...string) {
	for _, n := range names {
		h.trouble[n] = &Trouble{Kind: kind, Err: errors.New(kind + ": boom")}
		h.results[n] = Result{}
	}
}

// night runs one and returns whom it tried, in order.
func (h *house) night(t *testing.T, j Journal, at time.Time) (n *Night, tried []string, err error) {
	t.Helper()
	h.tried = nil
	c := h.cycle(j)
	c.Now = func() time.Time { return at }
	n, err = c.Run(t.Context(), Plan{Policy: Staging, Caps: Caps{Rollouts: 1000}})
	for _, k := range h.tried {
		tried = append(tried, k.Skill)
	}
	return n, tried, err
}

// corrected gives every skill new corrections, after at.
func (h *house) corrected(at time.Time) {
	for name, o := range h.outlooks {
		for i := range 6 {
			o.Uses = append(o.Uses, Use{Session: fmt.Sprint(at, i), At: at.Add(time.Duration(i+1) * time.Minute), Failed: true})
		}
		h.outlooks[name] = o
	}
}

// TestOneSkillsTrouble: a skill that always fails ends its own step alone, and is tried
// again in the next night, then after two, four and eight.
func TestOneSkillsTrouble(t *testing.T) {
	h := alley("gamma", "beta", "alpha")
	h.fails("server_error", "gamma")
	j := Stored(openStore(t))
	var failed []int
	for night := range 17 {
		at := evening.AddDate(0, 0, night)
		h.corrected(at.AddDate(0, 0, -1))
		n, tried, err := h.night(t, j, at)
		if err != nil || n.Ended.IsZero() {
			t.Fatalf("night %d: %v: want it to end", night+1, err)
		}
		if !slices.Contains(tried, "alpha") || !slices.Contains(tried, "beta") {
			t.Errorf("night %d: tried %v, want alpha and beta in every night", night+1, tried)
		}
		k := n.Steps[slices.IndexFunc(n.Steps, func(s Step) bool { return s.Skill == "gamma" })]
		if slices.Contains(tried, "gamma") {
			failed = append(failed, night+1)
			if k.Stage != Failed || !strings.Contains(k.Note, "boom") {
				t.Errorf("night %d: gamma %s: %s, want it failed with the reason", night+1, k.Stage, k.Note)
			}
		} else if k.Stage != Skipped || !strings.Contains(k.Note, "nights in a row (server_error): passed by for ") {
			t.Errorf("night %d: gamma %s: %s, want it passed by with the reason", night+1, k.Stage, k.Note)
		}
	}
	if want := []int{1, 2, 4, 8, 16}; !reflect.DeepEqual(failed, want) {
		t.Errorf("gamma was tried in the nights %v, want %v", failed, want)
	}
}

// TestTroubleIsOver: an answer ends the setback; so do another text, and its owner's decision.
func TestTroubleIsOver(t *testing.T) {
	set := func(t *testing.T) (*house, Journal) {
		h, j := alley("gamma", "beta"), Stored(openStore(t))
		h.fails("server_error", "gamma")
		for night := range 2 {
			h.corrected(evening.AddDate(0, 0, night-1))
			if _, _, err := h.night(t, j, evening.AddDate(0, 0, night)); err != nil {
				t.Fatal(err)
			}
		}
		h.corrected(evening.AddDate(0, 0, 1))
		return h, j
	}
	at := evening.AddDate(0, 0, 2)
	t.Run("passed by", func(t *testing.T) {
		h, j := set(t)
		if _, tried, err := h.night(t, j, at); err != nil || slices.Contains(tried, "gamma") {
			t.Errorf("tried %v (%v), want gamma passed by", tried, err)
		}
	})
	t.Run("edited", func(t *testing.T) {
		h, j := set(t)
		o := h.outlooks["gamma"]
		o.Incumbent = "another text"
		h.outlooks["gamma"] = o
		if _, tried, err := h.night(t, j, at); err != nil || !slices.Contains(tried, "gamma") {
			t.Errorf("tried %v (%v), want gamma too", tried, err)
		}
	})
	t.Run("named", func(t *testing.T) {
		h, j := set(t)
		delete(h.trouble, "gamma")
		c := h.cycle(j)
		c.Now = func() time.Time { return at }
		if _, err := c.Run(t.Context(), Plan{Policy: Staging, Caps: Caps{Rollouts: 1000}, Skills: []string{"gamma"}}); err != nil {
			t.Fatal(err)
		}
		if st, err := j.State(t.Context(), "gamma"); err != nil || st.Setback != nil {
			t.Errorf("%+v (%v), want the setback over", st.Setback, err)
		}
	})
	t.Run("dry", func(t *testing.T) {
		h, j := set(t)
		for range 3 { // asking passes nobody by
			c := h.cycle(j)
			c.Now = func() time.Time { return at }
			n, err := c.Run(t.Context(), Plan{Policy: Staging, Dry: true, Caps: Caps{Rollouts: 1000}})
			if err != nil || !slices.ContainsFunc(n.Steps, func(s Step) bool { return s.Skill == "gamma" && s.Stage == Skipped }) {
				t.Fatalf("%+v (%v), want gamma passed by", n, err)
			}
		}
	})
}

// TestEverybodysTrouble: if a second skill meets the same trouble before any
// answer, the night stops and stays open, and no skill is held back for it;
// the next process begins with those that have not met it.
func TestEverybodysTrouble(t *testing.T) {
	h, j := alley("alpha", "beta", "gamma", "delta"), Stored(openStore(t))
	h.fails("server_error", "alpha", "beta", "gamma", "delta")
	n, tried, err := h.night(t, j, evening)
	if err == nil || !n.Ended.IsZero() || !reflect.DeepEqual(tried, []string{"alpha", "beta"}) {
		t.Fatalf("tried %v, ended %v (%v): want it to stop after the second", tried, n.Ended, err)
	}
	for _, s := range n.Steps {
		if s.Stage == Failed {
			t.Errorf("%s failed: %s", s.Skill, s.Note)
		}
	}
	h = alley("alpha", "beta", "gamma", "delta")
	h.fails("server_error", "alpha", "beta") // it was theirs after all
	n, tried, err = h.night(t, j, evening.Add(time.Hour))
	if err != nil || n.Ended.IsZero() || !reflect.DeepEqual(tried, []string{"gamma", "delta", "alpha", "beta"}) {
		t.Fatalf("tried %v, ended %v (%v): want the others first, and the night over", tried, n.Ended, err)
	}
	for name, want := range map[string]int{"alpha": 1, "beta": 1, "gamma": 0, "delta": 0} {
		st, err := j.State(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		if st.Setback != nil {
			got = st.Setback.Nights
		}
		if got != want {
			t.Errorf("%s: %d nights failed, want %d", name, got, want)
		}
	}
}

// TestTroubleOfTwoKinds, and an answer in between: both are their skills' own.
func TestTroubleOfTwoKinds(t *testing.T) {
	h := alley("alpha", "beta", "gamma")
	h.fails("server_error", "alpha")
	h.fails("bad_request", "beta")
	if n, tried, err := h.night(t, Stored(openStore(t)), evening); err != nil || n.Ended.IsZero() || len(tried) != 3 {
		t.Errorf("two kinds: tried %v (%v), want all", tried, err)
	}
	h = alley("alpha", "beta", "gamma", "delta")
	h.fails("server_error", "alpha", "gamma")
	if n, tried, err := h.night(t, Stored(openStore(t)), evening); err != nil || n.Ended.IsZero() || len(tried) != 4 {
		t.Errorf("an answer in between: tried %v (%v), want all", tried, err)
	}
}

// TestCommonTrouble: no skill is held back because a server cannot be
// reached.
func TestCommonTrouble(t *testing.T) {
	h, j := alley("alpha"), Stored(openStore(t))
	h.trouble["alpha"], h.results["alpha"] = &Trouble{Kind: "unreachable", Common: true, Err: errors.New("no route")}, Result{}
	for night := range 5 {
		if _, tried, err := h.night(t, j, evening.AddDate(0, 0, night)); err != nil || len(tried) != 1 {
			t.Errorf("night %d: tried %v (%v), want it tried", night+1, tried, err)
		}
	}
}

// TestTroubleAfterAnswers: what was paid for is continued by the next process, three
// times at most; the others are served meanwhile.
func TestTroubleAfterAnswers(t *testing.T) {
	h, j := alley("alpha", "beta"), Stored(openStore(t))
	h.trouble["alpha"] = &Trouble{Kind: "server_error", Err: errors.New("boom")}
	for process := range tries {
		n, tried, err := h.night(t, j, evening.Add(time.Duration(process)*time.Minute))
		if want := []string{"alpha"}; process == 0 {
			if !reflect.DeepEqual(tried, []string{"alpha", "beta"}) {
				t.Errorf("tried %v, want beta too", tried)
			}
		} else if !reflect.DeepEqual(tried, want) || h.tried[0].Run != "run1" && process == 0 {
			t.Errorf("process %d tried %v, want alpha alone", process, tried)
		}
		if over := process == tries-1; (err == nil) != over || n.Ended.IsZero() == over {
			t.Errorf("process %d: %v, ended %v", process, err, n.Ended)
		}
	}
}

// TestStaleNight: a night that goes on after hours harvests again, and serves who came
// into use meanwhile; what it had begun keeps its run.
func TestStaleNight(t *testing.T) {
	for _, test := range []struct {
		after time.Duration
		want  []string
	}{{5 * time.Hour, []string{"a", "b"}}, {7 * time.Hour, []string{"a", "newcomer", "b"}}} {
		h, j := interrupted(t, 80)
		h.outlooks["newcomer"] = failing("newcomer", 60)
		c := h.resumed(j)
		c.Now = func() time.Time { return evening.Add(test.after) }
		n, err := c.Run(t.Context(), Plan{Policy: Staging, Caps: Caps{Rollouts: 400}})
		if err != nil {
			t.Fatal(err)
		}
		var tried []string
		for _, k := range h.tried {
			tried = append(tried, k.Skill)
		}
		if !reflect.DeepEqual(tried, test.want) || h.tried[0].Run != "run1" {
			t.Errorf("after %v: tried %v, the first as %s, want %v and run1", test.after, tried, h.tried[0].Run, test.want)
		}
		if again := h.harvests == 2; again != (len(test.want) == 3) || n.Steps[0].Stage != Done {
			t.Errorf("after %v: %d harvests, %s", test.after, h.harvests, n.Steps[0].Stage)
		}
	}
}

// TestSkillThatCannotBeLookedAt does not block the other skills.
func TestSkillThatCannotBeLookedAt(t *testing.T) {
	h := alley("alpha", "beta")
	c := h.cycle(Stored(openStore(t)))
	look := c.Parts.Look
	c.Parts.Look = func(ctx context.Context, name string) (Outlook, error) {
		if name == "alpha" {
			return Outlook{}, &Trouble{Kind: "other", Err: errors.New("no such folder")}
		}
		return look(ctx, name)
	}
	n, err := c.Run(t.Context(), Plan{Policy: Staging, Caps: Caps{Rollouts: 400}})
	if err != nil || len(h.tried) != 1 || h.tried[0].Skill != "beta" {
		t.Fatalf("tried %v (%v), want beta", h.tried, err)
	}
	if s := n.Steps[1]; s.Skill != "alpha" || s.Stage != Failed || !strings.Contains(s.Note, "no such folder") {
		t.Errorf("%+v, want alpha failed with its reason", s)
	}
}
