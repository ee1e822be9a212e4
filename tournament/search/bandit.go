package search

import (
	"math/rand/v2"
	"slices"
)

// The operators of the loop, in the order in which ties are broken.
var operatorNames = []string{"reflect", "ablate", "merge", "prune", "rephrase", "examples"}

// prior holds what an operator is worth before anything was seen: pseudo-wins in
// two pseudo-tries. Reflection is what has the evidence; a rewrite or an example
// is a gamble.
var prior = map[string]float64{"reflect": 1.7, "ablate": 0.35, "merge": 0.5, "prune": 0.1, "rephrase": 0.15, "examples": 0.1}

// floor keeps every operator alive: what failed ten times may be what is needed
// once the others have done their work.
const floor = 0.02

// operators chooses by observed success, the cost in rollouts considered.
type operators struct {
	names             []string
	tries, wins, cost map[string]float64
}

func newOperators(names []string) *operators {
	return &operators{names, map[string]float64{}, map[string]float64{}, map[string]float64{}}
}

// learn records one application.
func (o *operators) learn(op string, won bool, rollouts int64) {
	o.tries[op]++
	if won {
		o.wins[op]++
	}
	o.cost[op] += float64(rollouts)
}

// worth is the expected share of improvements per application; an operator that
// costs more than the average is worth less in proportion, at most by half.
func (o *operators) worth(op string) float64 {
	w := (prior[op] + o.wins[op]) / (2 + o.tries[op])
	tries, cost := 0.0, 0.0
	for _, n := range o.names {
		tries, cost = tries+o.tries[n], cost+o.cost[n]
	}
	if o.tries[op] > 0 && cost > 0 {
		rel := (o.cost[op] / o.tries[op]) / (cost / tries)
		w /= min(max(rel, 0.5), 2)
	}
	return max(w, floor)
}

// order draws all operators without replacement, the worthier the earlier: the
// first that has something to work on is applied. urgent multiplies the worth of
// an operator that the state of the search calls for; 0 or absent is 1.
func (o *operators) order(rng *rand.Rand, urgent map[string]float64) []string {
	worth := func(op string) float64 {
		w := o.worth(op)
		if f := urgent[op]; f > 0 {
			w *= f
		}
		return w
	}
	left := slices.Clone(o.names)
	var out []string
	for len(left) > 0 {
		total := 0.0
		for _, op := range left {
			total += worth(op)
		}
		x, at := rng.Float64()*total, len(left)-1
		for i, op := range left {
			if x -= worth(op); x < 0 {
				at = i
				break
			}
		}
		out = append(out, left[at])
		left = slices.Delete(left, at, at+1)
	}
	return out
}
