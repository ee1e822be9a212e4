package record

import (
	"encoding/json"
	"fmt"

	"github.com/skill-evolve/evolve/pareto"
)

// A TrialNumber is a trial's number among all trials of a skill.
type TrialNumber struct {
	Number     int // from 1, in order of beginning
	Incumbent  string
	Challenger string
	Round      int
	Simulated  bool
	// Proved: a promotion at the level of its number. Before counts those at
	// the beginning of this one, of simulated trials among themselves.
	Proved bool
	Before int
}

// Level is the error rate that the skill's lifetime leaves for this trial:
// fixed when it began.
func (n *TrialNumber) Level() float64 {
	l := pareto.LOND{Alpha: pareto.LifetimeAlpha}
	return l.Share(n.Number, n.Before)
}

// Begun is the round of the trial, and whether any run has begun it: a
// trial that an older evolve began for an edited text may wait for its first one.
func (t *TrialRecord) Begun() (round int, ok bool) {
	var st struct {
		Trial json.RawMessage   `json:"trial"`
		Past  []json.RawMessage `json:"past"`
	}
	if err := json.Unmarshal(t.State, &st); err != nil {
		return 0, true // a trial that cannot be read has taken place all the same
	}
	return len(st.Past), string(st.Trial) != "null"
}

// ProvenAlone reports whether the pairs prove the challenger at the level of
// a single trial, pareto.DefaultConfig, at whatever level the trial itself is
// judged. A rejected one is not proven.
func (t *TrialRecord) ProvenAlone() (bool, error) {
	switch t.Decision {
	case pareto.Promote:
		return true, nil
	case pareto.Undecided, pareto.Promising:
	default:
		return false, nil
	}
	trial, err := t.Kept()
	if err != nil {
		return false, err
	}
	return provenAlone(trial), nil
}

// provenAlone reports whether t is proven at the level of a single trial.
// Pairs that a stricter trial added after that proof do not count: a trial at
// this level would have been closed.
func provenAlone(t *pareto.Trial) bool { return alone(t).Verdict == pareto.Promote }

// alone is the decision on the pairs at the level of a single trial, with the
// present e-value of the deciding objective.
func alone(t *pareto.Trial) pareto.Decision {
	now := t.Decide()
	if !now.Verdict.IsOpen() || t.Outdated() {
		return now
	}
	d := t.Under(t.Config().Within(pareto.LifetimeAlpha)).Decide()
	for i, o := range d.PerObjective {
		if o.Objective == d.Route {
			d.EValue, d.Workers = now.PerObjective[i].Better, t.WithoutEach(d.Route)
		}
	}
	return d
}

// Hold applies the level that is left for it to an undecided or promoted
// trial whose rule is laxer: its pairs are judged again as if that had been
// its level from the start, and unless they suffice it continues. It reports
// whether that changes anything. A trial that its pairs would close is
// unchanged, because no pairs could be added.
func (t *TrialRecord) Hold(level float64) (changed bool, err error) {
	if !t.Decision.IsOpen() && t.Decision != pareto.Promote {
		return false, nil
	}
	st, err := t.read()
	if err != nil {
		return false, err
	}
	if _, begun := t.Begun(); !begun {
		return false, nil // the rule of the run that begins it holds
	}
	rule := st.Trial.Config().Within(level)
	if st.Trial.Config().Quality.Alpha <= rule.Quality.Alpha*(1+1e-9) {
		return false, nil
	}
	if st.Trial.Outdated() {
		return false, nil // a promotion stands as it was, and an open one starts again
	}
	again := st.Trial.Under(rule)
	if !again.Verdict().IsOpen() {
		return false, nil
	}
	st.Trial = again
	if st.Start != nil {
		st.Start = st.Start.Under(rule)
	}
	t.Decision = again.Verdict()
	return true, t.Save(st)
}

// OverLifetime describes, in one line, a proof that holds for the trial alone
// but not as number n of its skill's trials; "" if it holds among all of
// them.
func (t *TrialRecord) OverLifetime(n *TrialNumber) (string, error) {
	trial, err := t.Kept()
	if err != nil {
		return "", err
	}
	return n.OverLifetime(t.Skill, trial), nil
}

// OverLifetime is TrialRecord.OverLifetime for a skill's trial of that
// number. The first trial is exempt: it is still a single one, so that its
// proof means what it seems to. Only trials to come make its level stricter;
// nights apply that level all the same.
func (n *TrialNumber) OverLifetime(skill string, t *pareto.Trial) string {
	d := alone(t)
	if n.Number <= 1 || d.Verdict != pareto.Promote || d.Lasts(n.Level()) {
		return ""
	}
	if d.Proof() >= d.Asks(n.Level()) {
		return fmt.Sprintf("better as a single trial; as trial %d of %s it is not shown yet that quality is no lower", n.Number, skill)
	}
	return fmt.Sprintf("better as a single trial (%s); as trial %d of %s it takes %s", pareto.Chance(d.Proof()), n.Number, skill, pareto.Proves(1/d.Asks(n.Level())))
}
