package record

import (
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

// Fresh counts the held-out cases that the trial can continue with: their
// clusters are not part of it yet, and no case of them was spent on another
// challenger, or the judge's decision on them is still withheld. spent is
// Journal.SpentCases of the trial's incumbent.
func (t *TrialRecord) Fresh(test []eval.Case, spent *Spent) (int, error) {
	fresh, idle, err := t.Provable(test, spent, Calibration{})
	return fresh + idle, err
}

// Copies counts the cases of test that the trial cannot use because it has
// used the same request under another name, or that was spent or read.
func (t *TrialRecord) Copies(test []eval.Case, spent *Spent) (int, error) {
	st, err := t.read()
	if err != nil {
		return 0, err
	}
	_, n := st.Usable(test, spent, t.Challenger, st.Clusters, nil)
	return n, nil
}

// Provable counts what Fresh counts, split by whether it could prove
// anything: idle are the cases that only a judge decides whom c does not
// trust, if the owner has not compared the answers either.
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
	list, _ := st.Usable(test, spent, t.Challenger, st.Clusters, nil)
	for _, k := range list {
		count(len(k.Cases), c.Trusted() || !JudgeOnly(k.Cases...))
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
