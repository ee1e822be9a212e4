package record

import (
	"math"

	"github.com/skill-evolve/evolve/pareto"
)

// Count has the named objectives count, in the pairs that are there and in those to come;
// nil: those that do. The levels stay as they are, see pareto.Trial.Under.
func (st *State) Count(names []string) {
	rule := st.Trial.Config()
	if names == nil || rule.Without == pareto.Without(names) {
		return
	}
	for i := range pareto.Objectives {
		o := pareto.Objective(i)
		seen := st.Trial.Measured(o)
		for _, w := range st.Waiting {
			seen = seen || !rule.Without.Has(o) && !math.IsNaN(*pareto.Objectives[o].Of(&w.Pair))
		}
		if seen {
			st.Seen |= 1 << o
		}
	}
	rule.Without = pareto.Without(names)
	st.Trial = st.Trial.Under(rule)
}

// Dropped are the objectives that counted in pairs of the trial and do no more. Who left
// them out had seen them: what is proved without them is for people to install.
func (st *State) Dropped() pareto.Set { return st.Seen & st.Trial.Config().Without }

// Dropped is State.Dropped, by name.
func (t *TrialRecord) Dropped() ([]string, error) {
	st, err := t.read()
	if err != nil {
		return nil, err
	}
	return st.Dropped().Names(), nil
}

// Counts reports whether these objectives count in the trial as it is; nil: those that do.
func (t *TrialRecord) Counts(names []string) (bool, error) {
	trial, err := t.Kept()
	return names == nil || err == nil && trial.Config().Without == pareto.Without(names), err
}
