package release

import (
	"context"

	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// OverLifetime describes how the proof of a trial fares among all trials of
// its skill, "" if it holds among them too, or there is none. The owner may
// install it all the same. number is that of the trial.
func OverLifetime(ctx context.Context, db *store.Store, t *record.TrialRecord) (said string, number int, err error) {
	if alone, err := t.ProvenAlone(); err != nil || !alone {
		return "", 0, err
	}
	round, _ := t.Begun()
	n, err := db.TrialNumber(ctx, t.Skill, t.Incumbent, t.Challenger, round)
	if err != nil || n == nil {
		return "", 0, err
	}
	said, err = t.OverLifetime(n)
	return said, n.Number, err
}
