package status

import (
	"context"
	"errors"
	"fmt"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release/tracked"
	"github.com/skill-evolve/evolve/tournament/report"
)

// RunReport finds a run and builds its report.
func (rd *Reader) RunReport(ctx context.Context, name string) (*report.Model, error) {
	run, err := rd.FindRun(ctx, name)
	if err != nil {
		return nil, err
	}
	data, err := runData(ctx, rd.Store, run)
	if err != nil {
		return nil, err
	}
	if data.Lessons, err = lessons(ctx, rd.Store, &data.Run); err != nil {
		return nil, err
	}
	if data.Run.Status, err = rd.RunStatus(&data.Run); err != nil {
		return nil, err
	}
	if live, err := rd.Layout.Live(data.Run.Skill); err == nil && data.Run.Challenger != "" {
		name := live.Name
		if subject.Parse(name).Kind == subject.Hook { // by its bytes alone
			name += "@" + plain.Short(data.Run.Challenger)
		}
		if data.Promote, err = tracked.Command(ctx, rd.Store, live, data.Run.Challenger, name); err != nil {
			return nil, err
		}
	}
	return report.Build(data)
}

// FindRun completes a run's name; "last" is the newest.
func (rd *Reader) FindRun(ctx context.Context, name string) (string, error) {
	var many *store.AmbiguousError
	if name == "last" {
		runs, err := rd.Store.Runs(ctx, "")
		if err != nil {
			return "", err
		}
		if len(runs) == 0 {
			return "", problem.Inputf("`evolve demo` makes one without a key", "there is no run yet")
		}
		return runs[0].ID, nil
	}
	r, err := rd.Store.Run(ctx, name)
	switch {
	case errors.Is(err, store.ErrNotFound):
		runs, err := rd.Store.Runs(ctx, name) // of that skill
		if err != nil {
			return "", err
		}
		if len(runs) > 0 {
			return runs[0].ID, nil
		}
		return "", problem.Inputf("`evolve runs` lists them; \"last\" is the newest", "no run is named %q", name)
	case errors.As(err, &many):
		return "", problem.Inputf(fmt.Sprintf("it may be %s or %s", many.Matches[0], many.Matches[1]), "%q names several runs", name)
	case err != nil:
		return "", err
	}
	return r.ID, nil
}

// RunStatus is the present status of a run. A run that is marked as running
// and on which no process works was killed: a process that ends by itself
// records how.
func (rd *Reader) RunStatus(r *record.Run) (record.RunStatus, error) {
	if r.Status != record.Running {
		return r.Status, nil
	}
	busy, err := rd.Locks.Running(r.ID)
	if err != nil || busy {
		return r.Status, err
	}
	return record.Killed, nil
}
