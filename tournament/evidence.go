package tournament

import (
	"encoding/json"
	"fmt"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
)

// Evidence reads the trial's state back: what it has come to, and the pairs'
// sums that it rests on.
func (t *TrialRecord) Evidence() (pareto.Decision, error) {
	st, err := t.read()
	if err != nil {
		return pareto.Decision{}, err
	}
	return st.Trial.Decide(), nil
}

// Kept is the trial itself: the rule, and the pairs that it rests on now.
func (t *TrialRecord) Kept() (*pareto.Trial, error) {
	st, err := t.read()
	if err != nil {
		return nil, err
	}
	return st.Trial, nil
}

// Fresh counts the held-out cases that the trial can go on with: their clusters
// are not part of it yet, and no case of them was spent on another challenger,
// or the judge's word on them is still withheld.
// spent is what Journal.SpentCases says of the trial's incumbent.
func (t *TrialRecord) Fresh(test []eval.Case, spent *Spent) (int, error) {
	st, err := t.read()
	if err != nil {
		return 0, err
	}
	n := 0
	list, _ := usable(test, spent, t.Challenger, st.used(st.Clusters, spent, t.Challenger, test))
	for _, c := range list {
		n += len(c.cases)
	}
	open := st.open()
	for i := range test {
		if open[eval.ClusterOf(&test[i])] {
			n++
		}
	}
	return n, nil
}

// Copies counts the cases of test that the trial cannot go on with because of what
// they ask alone: it was heard under other names, or is spent, or was read.
func (t *TrialRecord) Copies(test []eval.Case, spent *Spent) (int, error) {
	st, err := t.read()
	if err != nil {
		return 0, err
	}
	_, n := usable(test, spent, t.Challenger, st.used(st.Clusters, spent, t.Challenger, test))
	return n, nil
}

func (t *TrialRecord) read() (*gateState, error) {
	var st gateState
	if err := json.Unmarshal(t.State, &st); err != nil {
		return nil, fmt.Errorf("read trial of %.12s: %w", t.Challenger, err)
	}
	if st.Version != 1 {
		return nil, fmt.Errorf("read trial of %.12s: state of version %d, this program knows 1", t.Challenger, st.Version)
	}
	if st.Trial == nil { // not begun: there is no evidence under any rule
		st.Trial = pareto.NewTrial(pareto.DefaultConfig())
	}
	return &st, nil
}

// Provable counts what Fresh counts, apart by whether it could prove anything: idle
// are the cases that a judge alone decides which c does not trust, where the owner has
// not compared the answers either.
func (t *TrialRecord) Provable(test []eval.Case, spent *Spent, c Calibration) (fresh, idle int, err error) {
	st, err := t.read()
	if err != nil {
		return 0, 0, err
	}
	count := func(cases int, proves bool) {
		if proves {
			fresh += cases
		} else {
			idle += cases
		}
	}
	list, _ := usable(test, spent, t.Challenger, st.used(st.Clusters, spent, t.Challenger, test))
	for _, k := range list {
		count(len(k.cases), c.Trusted() || !JudgeOnly(k.cases...))
	}
	open := st.open()
	for i := range test {
		if name := eval.ClusterOf(&test[i]); open[name] {
			_, compared := c.outcome(st.Withheld[name])
			count(1, compared || c.Trusted())
		}
	}
	return fresh, idle, nil
}
