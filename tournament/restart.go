package tournament

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/pareto"
)

// Restart is the record of a trial that no run has begun: of a challenger that
// was re-based on a text that its owner has edited. It has no evidence, because
// evidence about another pair of texts is none about this one.
//
// barred are the clusters, and the prints of cases, that were spent on the challenger that it descends
// from. They may not speak again: what they said had a part in keeping that
// challenger on trial (a rejected one has no descendants), and the descendant
// does on them much as it did. A pair of theirs would be positive on average also
// where the change does nothing on new requests, and an e-process bounds the error
// only where each pair's mean, given all that is known, is not positive without an
// effect. To other challengers of the new incumbent they are as fresh as to any.
func Restart(skill, incumbent, challenger, run string, barred []string, at time.Time) (*TrialRecord, error) {
	r := &TrialRecord{Skill: skill, Incumbent: incumbent, Challenger: challenger, Run: run,
		Decision: pareto.Undecided, Updated: at.UTC().Truncate(time.Millisecond)}
	return r, r.write(&gateState{Version: 1, Barred: sorted(barred)})
}

// Bar adds clusters, and prints of cases, that may not speak in the trial any more, those aside that
// are part of it already. It reports whether that changes anything.
func (t *TrialRecord) Bar(clusters []string) (changed bool, err error) {
	var st gateState
	if _, err = t.read(); err != nil {
		return false, err
	}
	if err = json.Unmarshal(t.State, &st); err != nil { // a trial not begun stays so
		return false, fmt.Errorf("read trial of %.12s: %w", t.Challenger, err)
	}
	past, prints := st.past(), st.prints()
	for _, c := range clusters {
		if !slices.Contains(st.Clusters, c) && !slices.Contains(past, c) && !slices.Contains(prints, c) && !slices.Contains(st.Barred, c) {
			st.Barred, changed = append(st.Barred, c), true
		}
	}
	if !changed {
		return false, nil
	}
	st.Barred = sorted(st.Barred)
	return true, t.write(&st)
}

// Clusters lists those that have spoken in the trial, or may not any more.
func (t *TrialRecord) Clusters() ([]string, error) {
	heard, err := t.Heard()
	return slices.DeleteFunc(heard, isPrint), err
}

// Heard lists the clusters that have spoken in the trial, or may not any more, and
// the prints of their cases.
func (t *TrialRecord) Heard() ([]string, error) {
	st, err := t.read()
	if err != nil {
		return nil, err
	}
	return sorted(slices.Concat(st.Clusters, st.Barred, st.past(), st.prints())), nil
}

func (t *TrialRecord) write(st *gateState) error {
	raw, err := json.Marshal(st)
	if err != nil {
		return fmt.Errorf("encode trial of %.12s: %w", t.Challenger, err)
	}
	t.State = raw
	return nil
}

func sorted(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}
