package ingest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
)

// wordings are n wordings of each of so many requests, of which words do not show that they
// ask the same.
func wordings(requests, n int, of func(c *eval.Case, request int)) (out []eval.Case) {
	for r := range requests {
		for w := range n {
			c := eval.Case{ID: fmt.Sprintf("r%d-%d", r, w), Skill: "s", Split: eval.Test,
				Prompt: fmt.Sprintf("ask%d number%d in%d words%d of%d its%d own%d", w, r, w*r, w+r, w, r, r-w),
				Checks: []eval.Check{{Type: eval.Judge, Rubric: "the axes have names"}}}
			of(&c, r)
			out = append(out, c)
		}
	}
	return out
}

func TestJoinWordings(t *testing.T) {
	reference := func(c *eval.Case, r int) { c.Reference = fmt.Sprint("the answer is ", r) }
	file := func(c *eval.Case, r int) { c.Files = map[string]string{"a.csv": fmt.Sprint("x\n", r)} }
	for name, c := range map[string]struct {
		of                     func(c *eval.Case, r int)
		clusters, moved, alike int
	}{
		"the same reference":            {reference, 4, 8, 0},
		"the same checks of a file":     {file, 4, 8, 0},
		"the same checks alone":         {func(*eval.Case, int) {}, 12, 0, 12},
		"a reference each":              {func(c *eval.Case, _ int) { c.Reference = c.ID }, 12, 0, 0},
		"the same reference and a file": {func(c *eval.Case, r int) { reference(c, 0); file(c, r) }, 4, 8, 0},
		"clusters of their own":         {func(c *eval.Case, r int) { reference(c, r); c.Cluster = c.ID }, 12, 0, 0},
		"mined": {func(c *eval.Case, r int) {
			reference(c, r)
			c.Source = &eval.Source{Origin: "mined", Session: c.ID}
		}, 12, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			cases := wordings(4, 3, c.of)
			moved, alike := joinWordings(cases, nil)
			names := map[string]bool{}
			for i := range cases {
				names[eval.ClusterOf(&cases[i])] = true
			}
			if len(names) != c.clusters || moved != c.moved || alike != c.alike {
				t.Errorf("%d clusters, %d moved, %d alike; want %+v", len(names), moved, alike, c)
			}
			// What is imported later joins what is stored, and gets its split.
			again := wordings(4, 3, c.of)
			for i := range again {
				again[i].ID, again[i].Split = "later-"+again[i].ID, eval.Train
			}
			if joinWordings(again, cases); c.clusters == 4 && (again[0].Cluster != "r0-0" || again[0].Split != eval.Unassigned) {
				t.Errorf("imported later: %+v", again[0])
			}
		})
	}
}

// TestWordingsProveNothing: of an identical text, whose answers to one request are alike in all
// its wordings, a proof is as rare as promised, and without clusters it is not.
func TestWordingsProveNothing(t *testing.T) {
	const lives, cases = 1000, 200
	for _, n := range []int{5, 10} {
		list := wordings(cases/n, n, func(c *eval.Case, r int) { c.Reference = fmt.Sprint("the answer is ", r) })
		apart := wordings(cases/n, n, func(*eval.Case, int) {})
		joinWordings(list, nil)
		proved := func(list []eval.Case) float64 {
			rng := rand.New(rand.NewPCG(19, uint64(n)))
			won := 0
			for range lives {
				differs := map[int]float64{} // by request
				for r := range cases / n {
					differs[r] = float64(rng.IntN(2) - rng.IntN(2))
				}
				sum, of, order := map[string]float64{}, map[string]float64{}, []string{}
				for i := range list {
					name := eval.ClusterOf(&list[i])
					if of[name] == 0 {
						order = append(order, name)
					}
					d := differs[i/n]
					if rng.IntN(5) == 0 { // a run of luck
						d = float64(rng.IntN(2) - rng.IntN(2))
					}
					sum[name], of[name] = sum[name]+d, of[name]+1
				}
				trial := pareto.NewTrial(pareto.Config{})
				for _, name := range order {
					trial.Add(pareto.Pair{Quality: sum[name] / of[name]})
				}
				if trial.Verdict() == pareto.Promote {
					won++
				}
			}
			return float64(won) / lives
		}
		together, each := proved(list), proved(apart)
		t.Logf("%d wordings: proved in %.3f of lives as clusters, %.3f apart", n, together, each)
		if together > 0.05 || each < 0.08 {
			t.Errorf("%d wordings: proved in %.3f of lives as clusters, %.3f apart", n, together, each)
		}
	}
}
