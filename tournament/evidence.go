package tournament

import (
	"encoding/json"
	"fmt"

	"github.com/skill-evolve/evolve/pareto"
)

// Evidence reads the trial's state back: what it has come to, and the pairs'
// sums that it rests on.
func (t *TrialRecord) Evidence() (pareto.Decision, error) {
	var st gateState
	if err := json.Unmarshal(t.State, &st); err != nil {
		return pareto.Decision{}, fmt.Errorf("read trial of %.12s: %w", t.Challenger, err)
	}
	if st.Version != 1 || st.Trial == nil {
		return pareto.Decision{}, fmt.Errorf("read trial of %.12s: state of version %d, this program knows 1", t.Challenger, st.Version)
	}
	return st.Trial.Decide(), nil
}
