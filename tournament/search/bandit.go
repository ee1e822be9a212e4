package search

import (
	"math/rand/v2"
	"slices"
)

// floor keeps every operator in use: one that failed ten times may be needed
// once the others have done their work.
const floor = 0.02

// operators chooses by observed success relative to the cost in rollouts.
type operators struct {
	moves             []Move
	tries, wins, cost map[string]float64 // by name
}

func newOperators(moves []Move) *operators {
	return &operators{moves, map[string]float64{}, map[string]float64{}, map[string]float64{}}
}

// learn records one application.
func (o *operators) learn(op string, won bool, rollouts int64) {
	o.tries[op]++
	if won {
		o.wins[op]++
	}
	o.cost[op] += float64(rollouts)
}

// worth is the expected share of improvements per application; for an
// operator that costs more than the average it is lower in proportion, at
// most by half.
func (o *operators) worth(m Move) float64 {
	op := m.Name()
	w := (m.Prior() + o.wins[op]) / (2 + o.tries[op])
	tries, cost := 0.0, 0.0
	for _, m := range o.moves {
		tries, cost = tries+o.tries[m.Name()], cost+o.cost[m.Name()]
	}
	if o.tries[op] > 0 && cost > 0 {
		rel := (o.cost[op] / o.tries[op]) / (cost / tries)
		w /= min(max(rel, 0.5), 2)
	}
	return max(w, floor)
}

// order draws all moves without replacement, by worth: the first that has
// something to work on is made. urgency multiplies the worth of a move.
func (o *operators) order(rng *rand.Rand, urgency func(Move) float64) (out []Move) {
	left, worth := slices.Clone(o.moves), make([]float64, len(o.moves))
	for i, m := range left {
		worth[i] = o.worth(m) * urgency(m)
	}
	for len(left) > 0 {
		total := 0.0
		for _, w := range worth {
			total += w
		}
		x, at := rng.Float64()*total, len(left)-1
		for i, w := range worth {
			if x -= w; x < 0 {
				at = i
				break
			}
		}
		out = append(out, left[at])
		left, worth = slices.Delete(left, at, at+1), slices.Delete(worth, at, at+1)
	}
	return out
}

// urgencyOf is how much the state of the search favours a move.
func (s *State) urgencyOf(m Move) float64 {
	if u, ok := m.(Urgent); ok {
		return u.Urgency(s)
	}
	return 1
}
