package candidate

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Unrun refuses to continue a run that only stored a text: a suggestion, or a text that the
// firewall held before its check.
func Unrun(ctx context.Context, db *store.Store, run *record.Run) error {
	var f struct {
		Skill   string `json:"skill"`
		Suggest bool   `json:"suggest"`
	}
	if err := json.Unmarshal(run.Config, &f); err != nil {
		return fmt.Errorf("read run %s: %w", run.ID, err)
	}
	switch {
	case f.Suggest:
		return problem.Inputf(fmt.Sprintf("`evolve suggest %s` shows it again, `evolve report %s` says what can be done with it", f.Skill, run.ID),
			"run %s wrote a suggestion, and is over: there is nothing to continue", run.ID)
	case f.Skill != "":
		return nil
	}
	made, err := db.Candidates(ctx, run.ID)
	if err != nil {
		return err
	}
	hint := fmt.Sprintf("`evolve check %s` tries a text", run.Skill)
	if len(made) > 0 {
		hint = fmt.Sprintf("`evolve approve %s@%s` lets it be tried; then the same `evolve check` tries it", run.Skill, plain.Short(made[0].SHA))
	}
	return problem.Inputf(hint, "run %s only holds a text that was to be checked: there is nothing to continue", run.ID)
}
