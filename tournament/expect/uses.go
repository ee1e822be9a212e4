package expect

import (
	"context"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Uses are all uses of a skill by people, by what became of them, and whether one of
// these cases was made of them. A case has the time at which the turn of its use began.
func Uses(ctx context.Context, db *store.Store, name string, cases []eval.Case) (out []record.Use, err error) {
	all, err := db.Invocations(ctx, name)
	if err != nil {
		return nil, err
	}
	sessions, err := db.Sessions(ctx, store.SessionFilter{Skill: name, Bare: true})
	if err != nil {
		return nil, err
	}
	var projects consent.Decisions // only to find them: worktrees are their repository
	workspace := map[string]string{}
	for i := range sessions {
		if s := &sessions[i]; len(s.WorkedIn()) > 0 {
			workspace[s.ID] = projects.Project(s.WorkedIn()[0])
		}
	}
	of := map[string][]int{} // places in out, by session, the oldest first
	for _, u := range all {
		if !u.Headless {
			of[u.Session] = append(of[u.Session], len(out))
			out = append(out, record.Use{Time: u.Time, Stratum: harvest.Stratum(u.Feedback), Session: u.Session, Workspace: workspace[u.Session]})
		}
	}
	for i := range cases {
		s := cases[i].Source
		if s == nil || s.Origin != record.Mined {
			continue
		}
		for _, k := range of[s.Session] {
			if !out[k].Time.Before(s.Time) && !out[k].Replays {
				out[k].Replays = true
				break
			}
		}
	}
	return out, nil
}
