package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// A retirement is a night's proposal to retire a skill: on the model of today the
// live text is worth no more than no skill at all. Nothing acts on it but the
// owner.
type retirement struct {
	Skill string `json:"skill"`
	SHA   string `json:"sha256"` // of the live text
	Model string `json:"model"`  // in words
	Why   string `json:"why"`
}

func (r retirement) String() string {
	return fmt.Sprintf("%s: proposed for retirement, on %s: %s; `evolve compare %[1]s none` measures it again, `evolve pin %[1]s` keeps it", r.Skill, r.Model, r.Why)
}

// retirements are the proposals that stand: about the text that is live, of a
// skill that is not pinned. By name.
func (a *app) retirements(ctx context.Context, db *store.Store) ([]retirement, error) {
	out := []retirement{}
	states, err := db.SleepStates(ctx)
	if err != nil {
		return nil, err
	}
	for name, body := range states {
		var st sleep.State
		if err := json.Unmarshal(body, &st); err != nil {
			return nil, fmt.Errorf("read the nights of %s: %w", name, err)
		}
		if len(st.Certificates) == 0 {
			continue
		}
		live, err := a.skill(name)
		if err != nil {
			continue // removed, or broken: there is nothing to retire
		}
		c := st.Retiring(live.doc.Hash())
		if c == nil {
			continue
		}
		if p, err := db.Pinned(ctx, name); err != nil {
			return nil, err
		} else if p != nil {
			continue
		}
		out = append(out, retirement{name, c.Version, c.Model.String(), c.Worth})
	}
	slices.SortFunc(out, func(a, b retirement) int { return cmp.Compare(a.Skill, b.Skill) })
	return out, nil
}
