package work

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// rebased reports the results for the challengers of texts that were found to
// be edited by their owner since then, whichever process of the night found
// the edit. The reason why one was dropped must not be lost as a line on
// stderr at night.
func (s *Worker) rebased(ctx context.Context, since time.Time) ([]sleep.Step, error) {
	runs, err := s.Store.RunsNamed(ctx, candidate.CarryingPrefix, since)
	if err != nil {
		return nil, err
	}
	var out []sleep.Step
	for _, run := range slices.Backward(runs) { // the oldest first
		var r candidate.Carrying
		if err := json.Unmarshal(run.Config, &r); err != nil {
			return nil, fmt.Errorf("read run %s: %w", run.ID, err)
		}
		if r.Again { // it was reported in an earlier night, or to its owner
			continue
		}
		k := sleep.Step{Kind: sleep.Rebase, Skill: run.Skill, Run: run.ID, Stage: sleep.Done, Note: run.Note, Began: run.Started, Ended: run.Ended}
		switch r.Outcome {
		case candidate.HeldBack:
			k.Stage = sleep.Skipped
		case candidate.CarriedOver:
			k.Result = &sleep.Result{Incumbent: r.Onto, Challenger: run.Challenger, Simulated: run.Simulated}
		}
		out = append(out, k)
	}
	return out, nil
}
