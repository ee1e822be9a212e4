package record

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
)

// divided are n cases, the first of which the changed lines apply to, and a state with that.
func divided(n, applies int) (*State, []eval.Case, []Use) {
	rule := pareto.DefaultConfig().WithRest()
	st := &State{Version: 1, Start: pareto.NewTrial(rule), Trial: pareto.NewTrial(rule)}
	p := &Parts{Cases: map[string]Part{}}
	var cases []eval.Case
	var uses []Use
	for i := range n {
		at := time.Date(2026, 11, 1, 9, i, 0, 0, time.UTC)
		c := eval.Case{ID: fmt.Sprint("c", i), Prompt: fmt.Sprint("request number ", i), Split: eval.Test,
			Source: &eval.Source{Origin: Mined, Session: fmt.Sprint("s", i), Stratum: Corrected, Time: at}}
		part := Rest
		if i < applies {
			part = Applies
		}
		p.Cases[c.ID] = part
		cases, uses = append(cases, c), append(uses, Use{Time: at, Session: c.Source.Session, Stratum: Corrected, Replays: true, Part: part})
	}
	st.Divide(p)
	return st, cases, uses
}

func stored(t *testing.T, st *State) *TrialRecord {
	t.Helper()
	rec := &TrialRecord{Decision: st.Trial.Verdict()}
	if err := rec.Save(st); err != nil {
		t.Fatal(err)
	}
	return rec
}

// TestFreshOfAPart: a trial goes on with requests to which the changes apply, with others as
// soon as it needs them, and with those that nobody has decided.
func TestFreshOfAPart(t *testing.T) {
	st, cases, uses := divided(60, 20)
	undecided := cases[0]
	undecided.ID, undecided.Prompt = "new", "something else entirely"
	cases = append(cases, undecided)
	fresh := func() int {
		n, err := stored(t, st).Fresh(cases, nil, uses)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := fresh(); n != 21 {
		t.Errorf("%d fresh of 20 and 1 undecided", n)
	}
	list, _ := st.Usable(st.Of(cases, Applies), nil, "", nil, nil)
	for _, c := range list[:12] {
		st.Use(c, pareto.Pair{Quality: 1}, nil)
	}
	if !st.Trial.WantsRest() {
		t.Fatalf("%+v", st.Trial.Decide())
	}
	if n := fresh(); n != 41 {
		t.Errorf("%d fresh of 40 others and 1 undecided", n)
	}
	rest, _ := st.Usable(st.Of(cases, Rest), nil, "", nil, nil)
	for _, c := range rest[:5] {
		st.Use(c, pareto.Pair{}, nil)
	}
	if n := fresh(); n != 36 || st.Trial.RestCases() != 5 || st.Trial.Cases() != len(st.Clusters) {
		t.Errorf("%d fresh after 5 others, %d pairs of %v", n, st.Trial.Cases(), st.Clusters)
	}
}

// TestRestIsKept: what another run finds is what was stored, and what this run added itself
// is told apart.
func TestRestIsKept(t *testing.T) {
	st, cases, _ := divided(30, 10)
	use := func(part Part, n int) {
		list, _ := st.Usable(st.Of(cases, part), nil, "", append(st.Clusters, st.Rest...), nil)
		for _, c := range list[:n] {
			st.Use(c, pareto.Pair{Quality: 0.1}, nil)
		}
	}
	use(Applies, 3)
	use(Rest, 4)
	rec := stored(t, st)
	rec.Run = "r1"
	next, resumed, err := rec.Begin("r2", pareto.DefaultConfig(), Model{Agent: "a"})
	if err != nil || len(resumed) != 0 || len(next.Rest) != 4 || len(next.Clusters) != 3 || next.Trial.RestCases() != 4 || len(next.Parts) != 30 {
		t.Fatalf("%+v, %v, %v", next, resumed, err)
	}
	again, resumed, err := rec.Begin("r1", pareto.DefaultConfig(), Model{Agent: "a"})
	if err != nil || len(resumed) != 7 || len(again.Rest) != 0 || len(again.Parts) != 30 {
		t.Fatalf("%+v, %v, %v", again, resumed, err)
	}
	was := next.Restart(pareto.DefaultConfig().WithRest())
	if len(was.Clusters) != 7 || next.Trial.RestCases() != 0 || len(next.Rest) != 0 {
		t.Errorf("%+v after a restart", next)
	}
	if left, _ := next.Usable(next.Of(cases, Rest), nil, "", nil, nil); len(left) != 16 {
		t.Errorf("%d of 16 others are left", len(left))
	}
}

// TestWeightsOfTheRest: whatever share of each stratum can be replayed, the weighted pairs of a
// random sample stand for all uses of the rest.
func TestWeightsOfTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(100, 160).Draw(t, "uses")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		replays := map[string]float64{Corrected: rapid.Float64Range(0.3, 1).Draw(t, "corrected"), eval.Silent: rapid.Float64Range(0.3, 1).Draw(t, "silent")}
		st := &State{Version: 1, Trial: pareto.NewTrial(pareto.DefaultConfig().WithRest())}
		p := &Parts{Cases: map[string]Part{}}
		var uses []Use
		var list []Cluster
		count := map[string]float64{}
		for i := range n {
			at := time.Date(2026, 11, 1, 9, i, 0, 0, time.UTC)
			s := eval.Silent
			if i%3 == 0 {
				s = Corrected
			}
			again := rng.Float64() < replays[s]
			uses = append(uses, Use{Time: at, Stratum: s, Part: Rest, Replays: again}, Use{Time: at, Stratum: Corrected, Part: Applies})
			count[s]++
			if again {
				c := &eval.Case{ID: fmt.Sprint("c", i), Source: &eval.Source{Origin: Mined, Stratum: s, Time: at}}
				p.Cases[c.ID] = Rest
				list = append(list, Cluster{Name: "rest:" + c.ID, Cases: []*eval.Case{c}, Place: Place{Time: at}})
			}
		}
		st.Divide(p)
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		got, _ := st.BeginsRest(list, uses)
		if len(got) < len(list)*3/4 { // Alone leaves out some, as chance has it
			t.Skip("few")
		}
		for _, c := range got {
			st.Weigh(c, uses)
			st.Use(c, pareto.Pair{Quality: 0}, nil)
		}
		// What a pair of each stratum weighs in the end makes their shares those of the uses.
		last := map[string]float64{}
		cases := map[string]float64{}
		for _, c := range got {
			s := StratumOf(c.Cases[0])
			last[s] = st.Weights[c.Name].Cases[0]
			cases[s]++
		}
		share := last[Corrected] * cases[Corrected] / (last[Corrected]*cases[Corrected] + last[eval.Silent]*cases[eval.Silent])
		if want := count[Corrected] / float64(n); share < want-0.1 || share > want+0.1 {
			t.Fatalf("corrected pairs weigh %.3f of all, and %.3f of the uses were corrected (%v of %v)", share, want, cases, count)
		}
	})
}

// TestShare in words.
func TestShare(t *testing.T) {
	for want, s := range map[string]Share{
		"the changed rules apply to about 1 in 20 of your requests (14 of 280)":      {Applies: 14, Rest: 266},
		"the changed rules apply to none of your last 1 request":                     {Rest: 1},
		"the changed rules apply to 60 of your last 80 requests":                     {Applies: 60, Rest: 20},
		"it is not known to which requests the changed rules apply: 7 are undecided": {Left: 7},
		"the changed rules apply to about 1 in 2 of your requests (5 of 10)":         {Applies: 5, Rest: 5},
	} {
		if got := s.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	// A trial of a skill has no parts, and stores none.
	raw, err := json.Marshal(&State{Version: 1, Trial: pareto.NewTrial(pareto.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	st := new(State)
	if err := json.Unmarshal(raw, st); err != nil || st.Share(nil, 0) != nil {
		t.Errorf("%s, %v", raw, err)
	}
}
