package status

import (
	"context"
	"fmt"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/release"
)

// A TrialInstall is a text that is in place while its trial goes on.
type TrialInstall struct {
	Version int       `json:"version"`
	Since   time.Time `json:"since"`
	ByNight bool      `json:"by_night"` // else at its owner's word
	Ground  string    `json:"replaced"` // SHA-256 of the text that it replaced
	EValue  float64   `json:"e_value"`  // now, that it is better
	Cases   int       `json:"cases"`
	Wins    int       `json:"wins"`
	Losses  int       `json:"losses"`
	// Until is when it is taken back if its trial decides nothing, or hears nothing, before.
	Until time.Time `json:"until"`
}

// trialInstall is what is known of the live text if it is a trial install, else nil.
func trialInstall(ctx context.Context, db *store.Store, live *skill.Live) (*TrialInstall, error) {
	on, err := release.TryingOf(ctx, db, live)
	if on == nil || err != nil {
		return nil, err
	}
	t := &TrialInstall{Version: on.Version.N, Since: on.Since, ByNight: on.ByNight, Ground: on.Ground.Doc.Hash(), EValue: 1}
	if t.Until, err = on.Until(); err != nil || on.Trial == nil {
		return t, err
	}
	trial, err := on.Trial.Kept()
	if err != nil {
		return nil, err
	}
	d := trial.Decide()
	e, _ := trial.Now()
	t.EValue, t.Cases, t.Wins, t.Losses = pareto.Finite(e), counting(&d), d.Wins, d.Losses
	return t, nil
}

// String is a trial install in a line.
func (t *TrialInstall) String() string {
	return fmt.Sprintf("on trial %s to %s: %s", t.Since.Local().Format("2 Jan"), t.Until.Local().Format("2 Jan"),
		pareto.Promises(t.Wins, t.Losses, t.EValue))
}
