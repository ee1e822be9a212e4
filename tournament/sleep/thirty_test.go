package sleep

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"pgregory.net/rapid"
)

// A street is a house of skills whose searches find nothing under less than they
// need, and whose owner goes on using them.
type street struct {
	house
	needs  map[string]int64    // rollouts
	served map[string][]string // nights in which a skill was searched to the end
	night  string
}

func (s *street) parts() Parts {
	p := s.house.parts()
	p.Try = func(_ context.Context, k Task) (Result, error) {
		s.tried = append(s.tried, k)
		r := Result{Spent: eval.Spent{Rollouts: k.Caps.Rollouts, CostKnown: true}}
		if need := s.needs[k.Skill]; need > k.Caps.Rollouts {
			r.Stopped, r.StoppedBy = true, "max-rollouts"
			return r, nil
		} else if need > 0 {
			r.Spent.Rollouts = need
		}
		s.served[k.Skill] = append(s.served[k.Skill], s.night)
		return r, nil
	}
	return p
}

// newStreet has n skills that fail less and less often; need is the rollouts
// that each search takes.
func newStreet(n int, need func(k int) int64) *street {
	s := &street{house: house{outlooks: map[string]Outlook{}}, needs: map[string]int64{}, served: map[string][]string{}}
	for k := range n {
		name := fmt.Sprintf("s%02d", k)
		o := failing(name, 90-2*k)
		s.needs[name] = need(k)
		o.Needs = Caps{Rollouts: s.needs[name]}
		s.outlooks[name] = o
	}
	return s
}

func (s *street) nights(t testing.TB, j Journal, n int, caps Caps) (out []*Night) {
	t.Helper()
	for k := range n {
		s.night = fmt.Sprint(k)
		c := s.cycle(j)
		c.Parts = s.parts()
		at := evening.AddDate(0, 0, k)
		c.Now = func() time.Time { return at }
		night, err := c.Run(t.Context(), Plan{Policy: Staging, Caps: caps})
		if err != nil {
			t.Fatal(err)
		}
		if got := night.Spent().Rollouts; got > caps.Rollouts {
			t.Fatalf("night %d spent %d of %d", k, got, caps.Rollouts)
		}
		out = append(out, night)
	}
	return out
}

// TestThirtySkills: a budget that carries one search a night is not divided among
// thirty: each night one is searched to the end, the one that gains most first, and
// the others wait and keep their need. In thirty nights everybody has had a turn.
func TestThirtySkills(t *testing.T) {
	s := newStreet(30, func(int) int64 { return 186 })
	j := Stored(openStore(t))
	nights := s.nights(t, j, 30, Caps{Rollouts: 240})
	for k, n := range nights {
		if len(s.tried) < k+1 || s.tried[k].Skill != fmt.Sprintf("s%02d", k) || s.tried[k].Caps.Rollouts != 240 {
			t.Fatalf("night %d tried %+v, want s%02d with all of the 240", k+1, s.tried[min(k, len(s.tried)-1):], k)
		}
		waits := 0
		for _, step := range n.Steps {
			if step.Stage == Waits {
				waits++
				if !strings.Contains(step.Note, "186 rollouts") || !strings.Contains(step.Note, "54 are left") {
					t.Fatalf("night %d: %s waits without its figures: %q", k+1, step.Skill, step.Note)
				}
			}
		}
		if want := 29 - k; waits != want {
			t.Errorf("night %d: %d wait, want %d", k+1, waits, want)
		}
	}
}

// TestHighGainDoesNotStarve: the skill that is corrected most is corrected anew
// every day, and finds nothing: the others have their turn all the same.
func TestHighGainDoesNotStarve(t *testing.T) {
	s := newStreet(5, func(int) int64 { return 150 })
	j := Stored(openStore(t))
	for day := range 10 {
		for name, o := range s.outlooks {
			if name == "s00" || name == "s01" { // both of them
				for i := range 12 {
					o.Uses = append(o.Uses, Use{Session: fmt.Sprint("d", day, i), At: evening.AddDate(0, 0, day).Add(-time.Duration(i) * time.Hour), Failed: i < 4})
				}
				s.outlooks[name] = o
			}
		}
		s.night = fmt.Sprint(day)
		c := s.cycle(j)
		c.Parts = s.parts()
		c.Now = func() time.Time { return evening.AddDate(0, 0, day) }
		if _, err := c.Run(t.Context(), Plan{Policy: Staging, Caps: Caps{Rollouts: 240}}); err != nil {
			t.Fatal(err)
		}
	}
	var order []string
	for _, k := range s.tried {
		order = append(order, k.Skill)
	}
	if len(order) < 10 || !slices.Equal(order[:5], []string{"s00", "s01", "s02", "s03", "s04"}) {
		t.Errorf("searched in the order %q, want each of the five once before any of them again", order)
	}
	if len(s.served["s00"]) < 3 {
		t.Errorf("s00 was searched in the nights %q: it has a need again, and the night has room", s.served["s00"])
	}
}

// TestTooSmallANight: no night of this size can carry the search. It is tried
// once with everything there is, reported with the figure that is needed, and
// not tried again before there are new corrections or a larger night.
func TestTooSmallANight(t *testing.T) {
	s := newStreet(1, func(int) int64 { return 186 })
	j := Stored(openStore(t))
	nights := s.nights(t, j, 3, Caps{Rollouts: 100})
	if len(s.tried) != 1 || s.tried[0].Caps.Rollouts != 100 {
		t.Fatalf("tried %+v, want one search with all of the 100", s.tried)
	}
	if note := nights[0].Steps[1].Note; !strings.Contains(note, "186 rollouts") || !strings.Contains(note, "a night has 100") {
		t.Errorf("it says %q, want the figure that is needed", note)
	}
	if s.nights(t, j, 2, Caps{Rollouts: 240}); len(s.tried) != 2 || len(s.served["s00"]) != 1 {
		t.Errorf("under a larger budget: tried %+v, served %v; want it searched to the end, once", s.tried, s.served)
	}
}

// TestNightTooSmallToSearch: a night that could not find anything reads and
// measures nothing for a search, and continues trials; a skill that waits for
// more than the night has keeps no other from its turn.
func TestNightTooSmallToSearch(t *testing.T) {
	s := newStreet(3, func(int) int64 { return 186 })
	for _, name := range []string{"s01", "s02"} {
		o := s.outlooks[name]
		o.Challenger, o.Fresh, o.Rollouts = "c-"+name, 5, 4
		s.outlooks[name] = o
		s.needs[name] = 0
	}
	nights := s.nights(t, Stored(openStore(t)), 4, Caps{Rollouts: 5})
	var got []string
	for _, k := range s.tried {
		got = append(got, k.Skill)
	}
	if want := []string{"s01", "s02", "s01", "s02"}; !slices.Equal(got, want) {
		t.Errorf("tried %q, want %q", got, want)
	}
	if k := nights[0].Steps[1]; k.Skill != "s00" || k.Stage != Waits || !strings.Contains(k.Note, "186 rollouts") {
		t.Errorf("s00: %s, %q; want it to wait, with the figure", k.Stage, k.Note)
	}
	if got := nights[0].Later(); got != 1 {
		t.Errorf("%d more nights until all have had their turn that can have one, want 1", got)
	}
}

// TestCapBeforeAVerdict: a search that a cap of another kind ended before it came to
// anything, with a part of the night, has not used its corrections up; with all of
// one, it has.
func TestCapBeforeAVerdict(t *testing.T) {
	h := &house{outlooks: map[string]Outlook{"a": failing("a", 90), "b": failing("b", 60)},
		results: map[string]Result{"a": {Spent: eval.Spent{Rollouts: 100, CostUSD: 0.4, CostKnown: true}},
			"b": {Stopped: true, StoppedBy: "max-cost-usd", Spent: eval.Spent{Rollouts: 30, CostUSD: 0.6, CostKnown: true}}}}
	for name, o := range h.outlooks {
		o.Needs.Rollouts = 100
		h.outlooks[name] = o
	}
	j := Stored(openStore(t))
	caps := Caps{Rollouts: 240, CostUSD: 1}
	n, err := h.cycle(j).Run(t.Context(), Plan{Caps: caps})
	if err != nil || len(h.tried) != 2 {
		t.Fatalf("tried %+v, %v, want both", h.tried, err)
	}
	if st, err := j.State(t.Context(), "b"); err != nil || !st.Searched.IsZero() {
		t.Errorf("b was searched at %v, %v: a cap stopped it", st.Searched, err)
	}
	if note := n.Steps[2].Note; !strings.Contains(note, "max-cost-usd") || !strings.Contains(note, "searched again") {
		t.Errorf("it says %q, want what stopped it and that it goes on", note)
	}
	for range 3 {
		if _, err = h.cycle(j).Run(t.Context(), Plan{Caps: caps}); err != nil {
			t.Fatal(err)
		}
	}
	if len(h.tried) != 3 || h.tried[2].Skill != "b" || h.tried[2].Caps != caps {
		t.Errorf("then it tried %+v; want b once more with the whole night, and then no more", h.tried[2:])
	}
}

// TestDryRunSaysWhoIsServed: steps that a night would serve are listed with
// their rollouts, and the others wait.
func TestDryRunSaysWhoIsServed(t *testing.T) {
	s := newStreet(30, func(int) int64 { return 110 })
	n, err := s.cycle(Stored(openStore(t))).Run(t.Context(), Plan{Caps: Caps{Rollouts: 240}, Dry: true})
	if err != nil {
		t.Fatal(err)
	}
	got := map[Stage]int{}
	total := int64(0)
	for _, k := range n.Steps {
		got[k.Stage]++
		total += k.Caps.Rollouts
	}
	if got[Planned] != 2 || got[Waits] != 28 || total != 240 {
		t.Errorf("%v, %d rollouts; want two served with 240 rollouts together, and 28 that wait", got, total)
	}
	if got := n.Later(); got != 14 {
		t.Errorf("all have had their turn in %d more nights, want 14", got)
	}
}

// anySteps draws what a night may be asked for.
func anySteps(t *rapid.T) (whole Caps, steps []Step) {
	maybe := func(what string, most int64) int64 {
		if !rapid.Bool().Draw(t, "a cap on "+what) {
			return 0
		}
		return rapid.Int64Range(1, most).Draw(t, what)
	}
	whole = Caps{Rollouts: maybe("rollouts", 500), CostUSD: float64(maybe("cents", 1000)) / 100, Tokens: maybe("tokens", 1e6), Duration: time.Duration(maybe("time", 1e12))}
	for k := range rapid.IntRange(1, 8).Draw(t, "steps") {
		s := Step{Skill: fmt.Sprint(k), Stage: Planned, Kind: rapid.SampledFrom([]Kind{Continue, Search, Compare}).Draw(t, "kind"), Gain: rapid.Float64Range(0, 20).Draw(t, "gain")}
		if s.Kind == Search {
			s.Needs = Caps{Rollouts: rapid.Int64Range(0, 400).Draw(t, "need"), CostUSD: rapid.Float64Range(0, 5).Draw(t, "dollars")}
		} else {
			s.Rollouts = rapid.Int64Range(1, 100).Draw(t, "useful")
		}
		steps = append(steps, s)
	}
	return whole, steps
}

// fits reports whether a is no cap that b has not, and none above it.
func fits(a, b Caps) bool {
	over := func(a, b float64) bool { return b > 0 && (a <= 0 || a > b*(1+1e-9)) }
	return !over(float64(a.Rollouts), float64(b.Rollouts)) && !over(a.CostUSD, b.CostUSD) &&
		!over(float64(a.Tokens), float64(b.Tokens)) && !over(float64(a.Duration), float64(b.Duration))
}

// TestPortionsOfANight: for any steps, the portions of a night keep within
// its caps together, each is at least what its step needs, and a step waits
// only if the rest does not carry it.
func TestPortionsOfANight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole, steps := anySteps(t)
		left, sum := whole, Caps{}
		for i := range steps {
			c, ok := Portion(left, whole, steps[i:])
			if !ok {
				if i == 0 && !(steps[i].Kind == Search && cmp.Or(steps[i].Needs.Rollouts, minSearch) > 2*whole.Rollouts) {
					t.Fatalf("the first of %+v gets nothing of a whole night %+v", steps, whole)
				}
				if need := steps[i].least(whole); lacks(left, need, whole) == "" {
					t.Fatalf("%+v waits, with %+v left of %+v", steps[i], left, whole)
				}
				continue
			}
			if !fits(c, left) {
				t.Fatalf("%+v of %+v: a cap is exceeded, or became none", c, left)
			}
			need := steps[i].least(whole)
			if short := func(c, need, whole float64) bool { return whole > 0 && c < need*(1-1e-9) }; short(float64(c.Rollouts), float64(need.Rollouts), float64(whole.Rollouts)) ||
				short(c.CostUSD, need.CostUSD, whole.CostUSD) || short(float64(c.Tokens), float64(need.Tokens), float64(whole.Tokens)) ||
				short(float64(c.Duration), float64(need.Duration), float64(whole.Duration)) {
				t.Fatalf("%+v gets %+v, needs %+v", steps[i], c, need)
			}
			left = minus(left, c)
			sum = Caps{Rollouts: sum.Rollouts + c.Rollouts, CostUSD: sum.CostUSD + c.CostUSD, Tokens: sum.Tokens + c.Tokens, Duration: sum.Duration + c.Duration}
		}
		for _, over := range []bool{whole.Rollouts > 0 && sum.Rollouts > whole.Rollouts, whole.CostUSD > 0 && sum.CostUSD > whole.CostUSD*(1+1e-9),
			whole.Tokens > 0 && sum.Tokens > whole.Tokens, whole.Duration > 0 && sum.Duration > whole.Duration} {
			if over {
				t.Fatalf("%+v together of %+v", sum, whole)
			}
		}
	})
}

// TestEverybodyHasATurn: whatever the skills need, each night serves at least one,
// in order of gain those that fit; and all have been searched to the end within
// twice the nights that their needs take together. (A search is not divided over two
// nights, so a night may be left up to half empty: three searches of 0.6 nights
// take three nights, not two.)
func TestEverybodyHasATurn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		budget := rapid.Int64Range(50, 400).Draw(rt, "budget")
		needs := rapid.SliceOfN(rapid.Int64Range(10, 300), 1, 12).Draw(rt, "needs")
		s := newStreet(len(needs), func(k int) int64 { return min(needs[k], budget) })
		total := int64(0)
		for _, need := range s.needs {
			total += need
		}
		bound := int(2*total/budget) + 1
		j := &memory{states: map[string]*State{}}
		nights := s.nights(t, j, bound, Caps{Rollouts: budget})
		if len(s.served) != len(needs) {
			rt.Fatalf("needs %v of %d: after %d nights only %d of %d are served", needs, budget, bound, len(s.served), len(needs))
		}
		for name, at := range s.served {
			if len(at) != 1 {
				rt.Fatalf("%s was searched in the nights %v without a new correction", name, at)
			}
		}
		for k, n := range nights {
			var steps []Step
			for _, s := range n.Steps {
				if s.paid() {
					steps = append(steps, s)
				}
			}
			if !slices.IsSortedFunc(steps, func(a, b Step) int { return cmp.Compare(b.Gain, a.Gain) }) {
				rt.Fatalf("night %d is not in the order of gain: %+v", k+1, steps)
			}
			if len(steps) > 0 && steps[0].Stage != Done {
				rt.Fatalf("night %d: who gains most is not served: %+v", k+1, steps[0])
			}
		}
	})
}

// memory is a Journal without a disk.
type memory struct {
	nights []*Night
	states map[string]*State
}

func (m *memory) Acquire(context.Context, string, time.Time, time.Time, func(string) bool) (Lease, error) {
	return Lease{Generation: int64(len(m.nights) + 1)}, nil
}
func (m *memory) Renew(context.Context, Lease, time.Time) error { return nil }
func (m *memory) Release(context.Context, Lease) error          { return nil }
func (m *memory) LastNight(context.Context) (*Night, error) {
	if len(m.nights) == 0 {
		return nil, nil
	}
	return m.nights[len(m.nights)-1], nil
}
func (m *memory) SaveNight(_ context.Context, n *Night) error {
	if k := len(m.nights); k > 0 && m.nights[k-1].ID == n.ID {
		m.nights = m.nights[:k-1]
	}
	m.nights = append(m.nights, n)
	return nil
}
func (m *memory) State(_ context.Context, skill string) (*State, error) {
	if m.states[skill] == nil {
		m.states[skill] = NewState(skill)
	}
	return m.states[skill], nil
}
func (m *memory) SaveState(context.Context, int64, *State) error { return nil }
