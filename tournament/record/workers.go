package record

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/pareto"
)

// A Control is a pair that one worker of a fleet measured, and another one once more, to see
// whether they agree.
type Control struct {
	Cluster string `json:"cluster"`
	Worker  string `json:"worker"` // that measured the pair
	By      string `json:"by"`     // that repeated it
	// Seen and Again are the differences in quality that they saw, in [-1, 1].
	Seen  float64 `json:"seen"`
	Again float64 `json:"again"`
}

// Controls is how the workers of a fleet agree on what they measured twice.
type Controls struct {
	Pairs   int `json:"pairs"`
	Same    int `json:"same"`    // the same text was better, or neither
	Dropped int `json:"dropped"` // by this run, because its budget or its workers did not suffice
	// Workers is that of each, the one that most surely differs first.
	Workers []Deviation `json:"workers,omitempty"`
}

// A Deviation is by how much more than others, on the same requests, a worker reports the
// challenger to be better, on average; in [-2, 2].
type Deviation struct {
	Worker  string  `json:"worker"`
	Pairs   int     `json:"pairs"`
	Differs float64 `json:"differs"`
	// EValue is against "no difference", whichever of the workers is looked at.
	EValue float64 `json:"e_value"`
}

// Agreement sums up the controls of a trial; nil if there are none and none was dropped.
func Agreement(all []Control, dropped int) *Controls {
	if len(all)+dropped == 0 {
		return nil
	}
	out := &Controls{Pairs: len(all), Dropped: dropped}
	more, less := map[string]*pareto.Process{}, map[string]*pareto.Process{}
	sums := map[string]float64{}
	for _, c := range all {
		if sign(c.Seen) == sign(c.Again) {
			out.Same++
		}
		for w, d := range map[string]float64{c.Worker: c.Seen - c.Again, c.By: c.Again - c.Seen} {
			if more[w] == nil {
				more[w], less[w] = &pareto.Process{}, &pareto.Process{}
			}
			sums[w] += d
			more[w].Add(d / 2)
			less[w].Add(-d / 2)
		}
	}
	for w, sum := range sums {
		n := more[w].N()
		out.Workers = append(out.Workers, Deviation{w, n, sum / float64(n), (more[w].E() + less[w].E()) / 2 / float64(len(sums))})
	}
	slices.SortFunc(out.Workers, func(a, b Deviation) int {
		return cmp.Or(cmp.Compare(b.EValue, a.EValue), cmp.Compare(math.Abs(b.Differs), math.Abs(a.Differs)), strings.Compare(a.Worker, b.Worker))
	})
	return out
}

// sign is which text was better.
func sign(d float64) int {
	const none = 1e-9
	switch {
	case d > none:
		return 1
	case d < -none:
		return -1
	}
	return 0
}

// String is a line for the owner.
func (c *Controls) String() string {
	s := fmt.Sprintf("%s on other workers: same result in %d", plain.Counted(c.Pairs, "control pair"), c.Same)
	if c.Pairs == 0 {
		return plain.Counted(c.Dropped, "control pair") + " not measured on other workers: the budget or the workers did not suffice"
	}
	if len(c.Workers) > 0 && c.Same < c.Pairs {
		w := c.Workers[0]
		by := "which may be chance"
		if chance := pareto.Chance(w.EValue); chance != pareto.Chance(1) {
			by = chance
		}
		s += fmt.Sprintf("; worker %.12s differs by %+.2f on average (%s, %s)", w.Worker, w.Differs, plain.Counted(w.Pairs, "pair"), by)
	}
	if c.Dropped > 0 {
		s += fmt.Sprintf("; %d more were not measured: the budget or the workers did not suffice", c.Dropped)
	}
	return s
}
