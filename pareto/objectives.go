package pareto

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// An Objective is a quantity that a trial measures: an index of Objectives.
type Objective int

// The objectives, in the order in which everything lists them.
const (
	Quality Objective = iota
	Latency
	Cost
	Retries
	objectives = 4
)

// Objectives is the table of them.
var Objectives = [objectives]struct {
	Name string
	// Ratio: a Pair has a LogRatio of it. Of all but quality, less is better.
	Ratio bool
	Of    func(*Pair) *float64
	limit func(*Config) *Limit
}{
	{"quality", false, func(p *Pair) *float64 { return &p.Quality }, func(c *Config) *Limit { return &c.Quality }},
	{"latency", true, func(p *Pair) *float64 { return &p.Latency }, func(c *Config) *Limit { return &c.Latency }},
	{"cost", true, func(p *Pair) *float64 { return &p.Cost }, func(c *Config) *Limit { return &c.Cost }},
	{"retries", false, func(p *Pair) *float64 { return &p.Retries }, func(c *Config) *Limit { return &c.Retries }},
}

func (o Objective) String() string { return Objectives[o].Name }

// In reports whether o is among the named objectives: quality always is, and
// nil means all.
func (o Objective) In(names []string) bool {
	return names == nil || o == Quality || slices.Contains(names, o.String())
}

// Names are the names of all objectives.
func Names() (names []string) {
	for _, o := range Objectives {
		names = append(names, o.Name)
	}
	return names
}

// clip is the largest ratio of two costs or durations that a Pair tells apart:
// a runaway answer costs more than that, but a mean of few pairs would be that
// of one of them. Bill keeps the whole.
const clip = 16

// Mean is the weighted mean of an objective's differences, nil if no pair has one.
func Mean(pairs []Pair, o Objective) *float64 {
	sum, weights := 0., 0.
	for i := range pairs {
		if d := *Objectives[o].Of(&pairs[i]); !math.IsNaN(d) {
			w, _ := pairs[i].weight()
			sum, weights = sum+w*max(-1, min(1, d)), weights+w
		}
	}
	if weights == 0 {
		return nil
	}
	sum /= weights
	return &sum
}

// LogRatio is the difference of two costs or durations in the unit of a Pair:
// log(incumbent/challenger) / log 16, clipped to [-1, 1], so that a quarter of
// the cost is +0.5 and a sixteenth or less is +1. NaN if either is unknown or
// not positive.
func LogRatio(incumbent, challenger float64) float64 {
	if !(incumbent > 0) || !(challenger > 0) {
		return math.NaN()
	}
	// Inf/Inf is NaN, and stays it.
	return max(-1, min(1, math.Log(incumbent/challenger)/math.Log(clip)))
}

// Times is the ratio of the challenger's cost or duration to the incumbent's
// of which d is the LogRatio.
func Times(d float64) float64 { return math.Pow(clip, -d) }

// A Set is a set of objectives; its JSON has their names.
type Set uint8

// Without is the set of the objectives that are not In these names.
func Without(names []string) (s Set) {
	for o := range Objective(objectives) {
		if !o.In(names) {
			s |= 1 << o
		}
	}
	return s
}

// Has reports whether o is in the set.
func (s Set) Has(o Objective) bool { return s>>o&1 == 1 }

// Names are the names of the objectives in the set.
func (s Set) Names() (names []string) {
	for o := range Objective(objectives) {
		if s.Has(o) {
			names = append(names, o.String())
		}
	}
	return names
}

// MarshalJSON writes the names.
func (s Set) MarshalJSON() ([]byte, error) { return json.Marshal(s.Names()) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Set) UnmarshalJSON(b []byte) error {
	var names []string
	if err := json.Unmarshal(b, &names); err != nil {
		return fmt.Errorf("read objectives: %w", err)
	}
	*s = 0
	for _, name := range names {
		o := slices.Index(Names(), name)
		if o < 0 {
			return fmt.Errorf("read objectives: unknown objective %q", name)
		}
		*s |= 1 << o
	}
	return nil
}

func (p Pair) values() (v [objectives]float64) {
	for o, x := range Objectives {
		v[o] = *x.Of(&p)
	}
	return v
}

func (c Config) limits() (l [objectives]Limit) {
	for o, x := range Objectives {
		l[o] = *x.limit(&c)
	}
	return l
}
