package expect

import (
	"context"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Uses are all uses of a skill by people, by what became of them, and whether one of
// these cases was made of them. A case has the time at which the turn of its use began.
//
// Of a file of standing instructions they are the cases that a coin drew, as a sample of all
// requests: each stratum has the share that it has among all.
func Uses(ctx context.Context, db *store.Store, name string, cases []eval.Case) (out []record.Use, err error) {
	if subject.Parse(name).Kind == subject.File {
		return drawn(cases), nil
	}
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

// drawn are the uses that the drawn ones of these cases were made of, the oldest first.
func drawn(cases []eval.Case) (out []record.Use) {
	var projects consent.Decisions // as above
	for i := range cases {
		c := &cases[i]
		if c.Origin() != record.Mined || c.TrainOnly() {
			continue
		}
		u := record.Use{Time: c.Source.Time, Stratum: c.Source.Stratum, Session: c.Source.Session, Replays: true}
		if c.Workspace != nil {
			u.Workspace = projects.Project(c.Workspace.Repo)
		}
		out = append(out, u)
	}
	slices.SortStableFunc(out, func(a, b record.Use) int { return a.Time.Compare(b.Time) })
	return out
}
