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
	// Until is when it is taken back unless its trial decides, or gets a pair, before.
	Until time.Time `json:"until"`
	// Ends is why the next run or night takes it back, "" if none does by now; Proved: its
	// trial has proved it, and it was not kept yet.
	Ends   pareto.Removal `json:"ends,omitempty"`
	Proved bool           `json:"proved,omitempty"`

	skill string
}

// trialInstall is what is known of the live text if it is a trial install, else nil.
func trialInstall(ctx context.Context, db *store.Store, live *skill.Live, now time.Time) (*TrialInstall, error) {
	on, err := release.TryingOf(ctx, db, live)
	if on == nil || err != nil {
		return nil, err
	}
	t := &TrialInstall{Version: on.Version.N, Since: on.Since, ByNight: on.ByNight, Ground: on.Ground.Doc.Hash(), EValue: 1, Proved: on.Proved(), skill: live.Name}
	if pin, err := release.Pinned(ctx, db, live.Name); err != nil {
		return nil, err
	} else if !t.Proved && pin == nil { // a pinned skill stays as it is
		if t.Ends, err = on.Ends(now); err != nil {
			return nil, err
		}
	}
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
	said := pareto.Promises(t.Wins, t.Losses, t.EValue)
	switch {
	case t.Proved:
		return fmt.Sprintf("trial install since %s, better: `evolve promote %s` keeps it; %s", t.Since.Local().Format("2 Jan"), t.skill, said)
	case t.Ends != pareto.Stays:
		return fmt.Sprintf("trial install since %s, %s: the next run or night takes it back; %s", t.Since.Local().Format("2 Jan"), t.Ends, said)
	}
	return fmt.Sprintf("trial install %s to %s: %s", t.Since.Local().Format("2 Jan"), t.Until.Local().Format("2 Jan"), said)
}
