package pareto

import (
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

// Only returns p with the named objectives and quality alone.
func (p Pair) Only(names []string) Pair {
	for o, x := range Objectives {
		if !Objective(o).In(names) {
			*x.Of(&p) = math.NaN()
		}
	}
	return p
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
