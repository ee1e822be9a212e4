package pareto

import (
	"encoding/json"
	"fmt"
	"math"
)

// A Pair is the result of one cluster of held-out cases: the differences
// between challenger and incumbent, each in [-1, 1] and oriented so that
// positive favours the challenger. NaN if either arm has no value; the pair
// then is no evidence about that objective.
type Pair struct {
	Quality float64 // challenger - incumbent, replays averaged
	Latency float64 // LogRatio
	Cost    float64 // LogRatio
	Retries float64 // incumbent - challenger
	// Weight makes the pairs stand for use: the share of the pair's stratum
	// among all uses, over its share among the pairs, as both were known
	// before the pair was measured. Largest is the largest weight of any
	// stratum then. 0 is 1.
	Weight, Largest float64
	// Bill is what a request cost in each arm.
	Bill Bill
	// Workers are those of a fleet that had any part in it; nil: this machine measured it all.
	Workers []string
}

// A Bill is the mean of what a request took in the incumbent's arm and in the
// challenger's; both 0 if that is unknown.
type Bill struct {
	USD    [2]float64 `json:"usd,omitzero"`
	Tokens [2]float64 `json:"tokens,omitzero"`
}

// weight returns p's weight and the largest one that it could have had.
func (p *Pair) weight() (w, largest float64) {
	if !(p.Weight > 0) {
		return 1, 1
	}
	return p.Weight, max(p.Weight, p.Largest)
}

type pairState struct {
	Values []*float64 `json:"d"`           // quality, latency, cost, retries; null for unknown
	Weight []float64  `json:"w,omitempty"` // and the largest
	Bill   Bill       `json:"bill,omitzero"`
	By     []string   `json:"by,omitempty"` // workers
}

// MarshalJSON writes the four values, null for unknown, and what else is known.
func (p Pair) MarshalJSON() ([]byte, error) {
	s := pairState{Values: make([]*float64, objectives), Bill: p.Bill, By: p.Workers}
	values := p.values()
	for o := range s.Values {
		if !math.IsNaN(values[o]) {
			s.Values[o] = &values[o]
		}
	}
	if p.Weight > 0 {
		w, largest := p.weight()
		s.Weight = []float64{w, largest}
	}
	return json.Marshal(s)
}

// UnmarshalJSON reads what MarshalJSON wrote, or the values alone.
func (p *Pair) UnmarshalJSON(b []byte) error {
	var s pairState
	if err := json.Unmarshal(b, &s.Values); err != nil {
		if err := json.Unmarshal(b, &s); err != nil {
			return fmt.Errorf("read pair: %w", err)
		}
	}
	if len(s.Values) != objectives || len(s.Weight) != 0 && (len(s.Weight) != 2 || !(s.Weight[0] > 0) || !(s.Weight[1] >= s.Weight[0])) {
		return fmt.Errorf("read pair: %d values, weights %v; want %d, and none or two", len(s.Values), s.Weight, objectives)
	}
	*p = Pair{Bill: s.Bill, Workers: s.By}
	if len(s.Weight) == 2 {
		p.Weight, p.Largest = s.Weight[0], s.Weight[1]
	}
	for o, x := range s.Values {
		at := Objectives[o].Of(p)
		if *at = math.NaN(); x != nil {
			*at = *x
		}
	}
	return nil
}
