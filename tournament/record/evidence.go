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
// clusters were not measured for it yet, and no case of them was spent on
// another challenger. spent is Journal.SpentCases of the trial's incumbent.
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

// Provable counts what Fresh counts, split by whether it could prove anything
// today: idle are all of them if c leaves uses out that only the judge could
// hear (Unheard). Pairs that wait for a trusted judge are fresh once it is.
func (t *TrialRecord) Provable(test []eval.Case, spent *Spent, c Calibration) (fresh, idle int, err error) {
	st, err := t.read()
	if err != nil {
		return 0, 0, err
	}
	list, _ := st.Usable(test, spent, t.Challenger, st.Clusters, nil)
	for _, k := range list {
		fresh += len(k.Cases)
	}
	if Unheard(test, c) {
		return 0, fresh, nil
	}
	return fresh + len(st.Waiting), 0, nil
}
