package gate

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/content"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// requests are held-out cases that ask different things, in sentences.
func requests(from, n int) []eval.Case {
	out := heldOutFrom(from, n)
	for i := range out {
		r := rand.New(rand.NewPCG(uint64(from+i), 7))
		var words []string
		for range 20 {
			words = append(words, fmt.Sprint("w", r.IntN(5000)))
		}
		out[i].Prompt = strings.Join(words, " ")
	}
	return out
}

// again are cases as they come back under other names.
func again(cases []eval.Case, change func(c *eval.Case)) []eval.Case {
	out := slices.Clone(cases)
	for i := range out {
		change(&out[i])
	}
	return out
}

// TestHeardOnceOnly: a case that a trial has used is not fresh to it under
// any name, and neither is a copy.
func TestHeardOnceOnly(t *testing.T) {
	good, bad := variant(t, "good"), variant(t, "bad")
	heard := requests(0, 5)
	for name, c := range map[string]struct {
		test        []eval.Case
		fresh, left int
	}{
		"the same":               {heard, 0, 0},
		"cluster renamed":        {again(heard, func(c *eval.Case) { c.Cluster = "team-" + c.ID }), 0, 0},
		"all in one cluster":     {again(heard, func(c *eval.Case) { c.Cluster = "team" }), 0, 0},
		"edited":                 {again(heard, func(c *eval.Case) { c.Prompt = "Quite another request"; c.Cluster = "new" }), 0, 0},
		"other ids":              {again(heard, func(c *eval.Case) { c.ID = "b-" + c.ID }), 0, 5},
		"other ids and clusters": {again(heard, func(c *eval.Case) { c.ID, c.Cluster = "b-"+c.ID, "x"+c.ID }), 0, 5},
		"other signs":            {again(heard, func(c *eval.Case) { c.ID, c.Prompt = "b-"+c.ID, strings.ToUpper(c.Prompt)+"!" }), 0, 5},
		"copied beside":          {append(slices.Clone(heard), again(heard, func(c *eval.Case) { c.ID = "b-" + c.ID })...), 0, 5},
		"nearly copied beside":   {append(slices.Clone(heard), again(heard, func(c *eval.Case) { c.ID = "b-" + c.ID; c.Prompt += " now" })...), 0, 5},
		"with a new one":         {append(again(heard, func(c *eval.Case) { c.ID = "b-" + c.ID }), requests(9, 1)...), 1, 5},
		"its cluster has more":   {append(slices.Clone(heard), again(requests(9, 1), func(c *eval.Case) { c.Cluster = heard[0].ID })...), 0, 0},
		"a new one twice":        {append(requests(9, 1), again(requests(9, 1), func(c *eval.Case) { c.ID = "b-" + c.ID })...), 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			m := &recordtest.Memory{}
			first, err := newGate(m, duel{}, "r1", 0).Try(t.Context(), bad, good, heard)
			if err != nil || first.Cases != 5 || !first.Verdict.IsOpen() {
				t.Fatalf("%+v, %v", first, err)
			}
			rec, err := m.Trial(t.Context(), "s", bad.SHA(), good.SHA())
			if err != nil {
				t.Fatal(err)
			}
			spent, err := m.SpentCases(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			fresh, err := rec.Fresh(c.test, spent, nil)
			left, err2 := rec.Copies(c.test, spent)
			if err != nil || err2 != nil || fresh != c.fresh || left != c.left {
				t.Errorf("%d fresh, %d left out, %v, %v; want %d and %d", fresh, left, err, err2, c.fresh, c.left)
			}
			v, err := newGate(m, duel{}, "r2", 0).Try(t.Context(), bad, good, c.test)
			if err != nil || v.Fresh != c.fresh || v.Cases != 5+c.fresh {
				t.Errorf("the gate heard %+v, %v; want %d more", v, err, c.fresh)
			}
			if said := slices.Contains(v.Warnings, record.Repeated(c.left)); said != (c.left > 0) {
				t.Errorf("%d are left out, warnings %q", c.left, v.Warnings)
			}
			// The same run again makes the same of it.
			if w, err := newGate(m, duel{}, "r2", 0).Try(t.Context(), bad, good, c.test); err != nil || w.Fresh != v.Fresh || w.EValue != v.EValue {
				t.Errorf("resumed %+v, %v", w, err)
			}
			// To another challenger they are spent, too.
			other, err := newGate(m, duel{}, "r3", 0).Try(t.Context(), bad, variant(t, "rival"), c.test)
			if err != nil || c.fresh == 0 && other.Cases != 0 {
				t.Errorf("another challenger heard %d, %v", other.Cases, err)
			}
		})
	}
}

// TestHeardByAnOlderEvolve: a trial that kept no prints bars all that was spent on its
// challenger, and a run that is resumed goes on with its own.
func TestHeardByAnOlderEvolve(t *testing.T) {
	good, bad := variant(t, "good"), variant(t, "bad")
	m, heard := &recordtest.Memory{}, requests(0, 3)
	if _, err := newGate(m, duel{}, "r1", 0).Try(t.Context(), bad, good, heard); err != nil {
		t.Fatal(err)
	}
	forget := func() {
		rec, err := m.Trial(t.Context(), "s", bad.SHA(), good.SHA())
		if err != nil {
			t.Fatal(err)
		}
		var st map[string]any
		if err := json.Unmarshal(rec.State, &st); err != nil || st["heard"] == nil {
			t.Fatalf("%v, no prints in %s", err, rec.State)
		}
		delete(st, "heard")
		if rec.State, err = json.Marshal(st); err != nil {
			t.Fatal(err)
		}
		if err := m.SaveTrial(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
	}
	forget()
	renamed := again(heard, func(c *eval.Case) { c.Cluster = "team-" + c.ID })
	test := append(renamed, requests(9, 3)...)
	v, err := newGate(m, duel{}, "r2", 0).Try(t.Context(), bad, good, test)
	if err != nil || v.Fresh != 3 || v.Cases != 6 {
		t.Fatalf("heard %+v, %v; want 3 more", v, err)
	}
	forget()
	w, err := newGate(m, duel{}, "r2", 0).Try(t.Context(), bad, good, test)
	if err != nil || w.Fresh != 3 || w.EValue != v.EValue {
		t.Errorf("resumed %+v, %v; want its own 3", w, err)
	}
}

// TestTrialThatIsGone: after a purge has removed a trial, its spent cases are
// not fresh to the same text when that comes again, now or later.
func TestTrialThatIsGone(t *testing.T) {
	good, bad := variant(t, "good"), variant(t, "bad")
	m, heard := &recordtest.Memory{}, requests(0, 3)
	if _, err := newGate(m, duel{}, "r1", 0).Try(t.Context(), bad, good, heard); err != nil {
		t.Fatal(err)
	}
	m.Trials = nil
	test := append(again(heard, func(c *eval.Case) { c.Cluster = "x-" + c.ID }), requests(9, 2)...)
	for _, run := range []string{"r2", "r2", "r3"} {
		v, err := newGate(m, duel{}, run, 0).Try(t.Context(), bad, good, test)
		if err != nil || v.Cases != 2 {
			t.Errorf("%s: heard %d, %v; want the 2 new ones", run, v.Cases, err)
		}
	}
}

func TestIndependent(t *testing.T) {
	train, val, test := requests(0, 2), requests(2, 2), requests(4, 6)
	for i := range train {
		train[i].Split, val[i].Split = eval.Train, eval.Val
	}
	test[0].Prompt = train[0].Prompt          // a copy
	test[1].Prompt = val[1].Prompt + " again" // nearly
	test[2].Cluster = eval.ClusterOf(&train[1])
	test[3].Prompt, test[3].Skill = train[0].Prompt, "t"
	test[5].Split = eval.Unassigned
	kept, copies := record.Independent(slices.Concat(train, test, val))
	var ids []string
	for _, c := range kept {
		ids = append(ids, c.ID)
	}
	if want := []string{"c000", "c001", "c007", "c008", "c009", "c002", "c003"}; copies != 3 || !slices.Equal(ids, want) {
		t.Errorf("kept %v, %d copies; want %v and 3", ids, copies, want)
	}
	if held, _ := record.HeldOut(slices.Concat(train, test, val)); len(held) != 2 {
		t.Errorf("%d held out, want 2", len(held))
	}
	if held, n := (&record.Spent{Read: map[string]bool{content.Print(nil, &test[4]): true}}).Unused(test[3:5], nil); len(held) != 1 || n != 1 {
		t.Errorf("%d are left of one that was read and is gone", len(held))
	}
}

// TestNoProofFromCopies is the null model: neither text is better, but on each case one
// of them is luckier, and stays so, night after night, while the cases come again under
// other names, copied, nearly copied and purged. Each speaks once, and what is proved by
// that stays below the level.
func TestNoProofFromCopies(t *testing.T) {
	const lives, nights = 200, 6
	wrong := 0
	for life := range lives {
		r := rand.New(rand.NewPCG(uint64(life), 11))
		first := requests(100*life, 12)
		sign := map[string]float64{} // by what is asked: a text that is luckier on it stays so
		for i := range first {
			sign[content.Of(&first[i])] = float64(r.IntN(3) - 1)
		}
		st, spent := &record.State{Trial: pareto.NewTrial(pareto.DefaultConfig())}, &record.Spent{By: map[string]string{}, ByPrint: map[string]string{}}
		test := first
		for night := range nights {
			list, _ := st.Usable(test, spent, "mine", st.Clusters, nil)
			for _, c := range list {
				d, known := sign[content.Of(c.Cases[0])]
				if !known {
					t.Fatalf("life %d, night %d: %q is fresh", life, night, c.Cases[0].Prompt)
				}
				st.Use(c, pareto.Pair{Quality: d}, spent)
				for _, k := range c.Cases {
					spent.By[k.ID], spent.ByPrint[spent.Print(k)] = "mine", "mine"
				}
			}
			more := again(first, func(c *eval.Case) {
				switch r.IntN(4) {
				case 0:
					c.Cluster = fmt.Sprint("team", night, c.ID)
				case 1:
					c.ID, c.Cluster = fmt.Sprint("n", night, c.ID), ""
				case 2:
					c.ID, c.Cluster, c.Prompt = fmt.Sprint("n", night, c.ID), "x"+c.ID, strings.ToUpper(c.Prompt)
				case 3:
					c.ID, c.Cluster, c.Prompt = fmt.Sprint("n", night, c.ID), "x"+c.ID, c.Prompt+" now"
				}
			})
			switch {
			case r.IntN(2) == 0: // the old ones stay beside
				test = append(slices.Clone(first), more...)
			default: // purged: only exact copies can be known again
				test = again(more, func(c *eval.Case) { c.Prompt = strings.TrimSuffix(c.Prompt, " now") })
			}
		}
		if len(st.Clusters) != len(first) {
			t.Fatalf("life %d: %d pairs of %d cases", life, len(st.Clusters), len(first))
		}
		if st.Trial.Verdict() == pareto.Promote {
			wrong++
		}
	}
	if wrong*20 > lives {
		t.Errorf("%d of %d lives proved what is not", wrong, lives)
	}
	t.Logf("%d of %d lives proved what is not", wrong, lives)
}

func BenchmarkHeldOut1000(b *testing.B) {
	cases := requests(0, 1000)
	for i := range cases {
		cases[i].Split = []eval.Split{eval.Train, eval.Val, eval.Test}[i%3]
	}
	for b.Loop() {
		test, _ := record.HeldOut(cases)
		if list, _ := new(record.State).Usable(test, &record.Spent{}, "", nil, nil); len(list) != 333 {
			b.Fatal(len(list))
		}
	}
}

// TestUnspentClusters: the gate has one pair of the cases of a session.
func TestUnspentClusters(t *testing.T) {
	cases := requests(0, 4)
	cases[1].Cluster = eval.ClusterOf(&cases[0])
	if n, clusters := (&record.Spent{}).Unspent(cases, nil); n != 4 || clusters != 3 {
		t.Errorf("%d cases in %d clusters, want 4 in 3", n, clusters)
	}
	spent := &record.Spent{By: map[string]string{cases[3].ID: "another challenger"}}
	if n, clusters := spent.Unspent(cases, nil); n != 3 || clusters != 2 {
		t.Errorf("%d cases in %d clusters, want 3 in 2", n, clusters)
	}
}
