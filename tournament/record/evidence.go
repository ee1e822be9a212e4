package record

import (
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
)

// Evidence decodes the trial's state: its decision so far, and the sums of
// its pairs.
func (t *TrialRecord) Evidence() (pareto.Decision, error) {
	trial, err := t.Kept()
	if err != nil {
		return pareto.Decision{}, err
	}
	return trial.Decide(), nil
}

// Kept is the trial itself: its rule and its present pairs.
func (t *TrialRecord) Kept() (*pareto.Trial, error) {
	var st struct { // what it had come to before this run, and on other models, is as long again
		Version int           `json:"version"`
		Trial   *pareto.Trial `json:"trial"`
	}
	if err := t.decode(&st, &st.Version); err != nil {
		return nil, err
	}
	return begun(st.Trial), nil
}

// LastPair is when the trial last got a pair, the zero time if it got none, or an older
// evolve has measured them.
func (t *TrialRecord) LastPair() (time.Time, error) {
	st, err := t.read()
	if err != nil {
		return time.Time{}, err
	}
	return st.LastPair, nil
}

// Model is what its pairs were measured on, as far as it is known. The zero Model is of a
// trial that an older evolve began.
func (t *TrialRecord) Model() (Model, error) {
	st, err := t.read()
	if err != nil {
		return Model{}, err
	}
	return st.On, nil
}

// Fresh counts the held-out cases that the trial can continue with: their
// clusters are not part of it yet, and no case of them was spent on another
// challenger. spent is Journal.SpentCases, and uses are those of State.Begins.
func (t *TrialRecord) Fresh(test []eval.Case, spent *Spent, uses []Use) (int, error) {
	fresh, idle, err := t.Provable(test, spent, uses, Calibration{})
	return fresh + idle, err
}

// Copies counts the cases of test that the trial cannot use because it has
// used the same request under another name, or that was spent or read.
func (t *TrialRecord) Copies(test []eval.Case, spent *Spent) (int, error) {
	st, err := t.read()
	if err != nil {
		return 0, err
	}
	_, n := st.Usable(test, spent, t.Challenger, slices.Concat(st.Clusters, st.Rest), nil)
	return n, nil
}

// Provable counts what Fresh counts, split by whether it could prove anything
// today: idle are those that the judge has a say in while c does not trust it, and
// all of them if these are too many to do without (Unheard). Pairs that wait for a
// trusted judge are among them.
func (t *TrialRecord) Provable(test []eval.Case, spent *Spent, uses []Use, c Calibration) (fresh, idle int, err error) {
	st, err := t.read()
	if err != nil {
		return 0, 0, err
	}
	test = st.next(test)
	list, _ := st.Usable(test, spent, t.Challenger, slices.Concat(st.Clusters, st.Rest, waiting(st.Waiting)), nil)
	ByArrival(list)
	list, _ = st.Begins(list, uses)
	unheard := Unheard(test, uses, c)
	count := func(cases int, waits bool) {
		if waits {
			idle += cases
		} else {
			fresh += cases
		}
	}
	for _, k := range list {
		count(len(k.Cases), unheard || !c.Trusted() && Asks(k.Cases...))
	}
	for _, w := range st.Waiting {
		count(len(st.Strata[w.Cluster]), unheard)
	}
	return fresh, idle, nil
}
