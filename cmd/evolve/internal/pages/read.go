package pages

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/skill-evolve/evolve/eval/fleet/watch"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/report/serve"
	"github.com/skill-evolve/evolve/tournament/sleep"
	"github.com/skill-evolve/evolve/tournament/status"
)

// Status is the status of every skill.
func (p *Program) Status(ctx context.Context) (*status.Report, error) {
	return look(ctx, p, func(r *request) (*status.Report, error) { return r.Reader.Status(ctx) })
}

// Log returns the lineage of a skill's texts.
func (p *Program) Log(ctx context.Context, name string) (*status.Log, error) {
	return look(ctx, p, func(r *request) (*status.Log, error) {
		t, err := candidate.Open(ctx, r.Store, r.Layout, name)
		if err != nil {
			return nil, err
		}
		return status.LogOf(ctx, t, r.Reader.Now(), func(path string) string { return r.Layout.TargetOf(name, path) })
	})
}

// Diff compares two texts of a skill.
func (p *Program) Diff(ctx context.Context, name, from, to string) (*report.Diff, error) {
	return look(ctx, p, func(r *request) (*report.Diff, error) {
		args := []string{name}
		for _, at := range []string{from, to} {
			if at != "" {
				args = append(args, at)
			}
		}
		old, new, err := candidate.Two(ctx, r.Store, r.Layout, args)
		if err != nil {
			return nil, err
		}
		return report.Between(old.Label, new.Label, old.Doc, new.Doc)
	})
}

// shownRuns is the number of runs in the list.
const shownRuns = 200

// Runs are the newest runs.
func (p *Program) Runs(ctx context.Context) ([]serve.Run, error) {
	return look(ctx, p, func(r *request) (out []serve.Run, err error) {
		all, err := r.Store.Runs(ctx, "")
		if err != nil {
			return nil, err
		}
		for i := range all {
			if len(out) == shownRuns {
				break
			}
			k, err := r.run(&all[i])
			if err != nil {
				return nil, err
			}
			v, err := candidate.VerdictOf(k.Verdict)
			if err != nil {
				return nil, err
			}
			if v != nil {
				k.Decision = pareto.Answer(v.Verdict, v.Route)
				if n := v.Wins + v.Losses + v.Ties; n > 0 {
					k.Result = fmt.Sprintf("on %s %d better, %d worse, %d the same", plain.Counted(n, "request"), v.Wins, v.Losses, v.Ties)
				}
			}
			out = append(out, k)
		}
		return out, nil
	})
}

// run is the current state of a run.
func (r *request) run(of *record.Run) (k serve.Run, err error) {
	k.Run = *of
	if of.Status != record.Finished && of.Status != record.Failed {
		if k.Working, err = r.Reader.Locks.Running(of.ID); err != nil {
			return k, err
		}
	}
	k.Status, err = r.Reader.RunStatus(of)
	return k, err
}

// Report is the report of a run.
func (p *Program) Report(ctx context.Context, run string) (*report.Model, error) {
	return look(ctx, p, func(r *request) (*report.Model, error) { return r.Reader.RunReport(ctx, run) })
}

// Progress is the progress of a run.
func (p *Program) Progress(ctx context.Context, run string) (*serve.Progress, error) {
	return look(ctx, p, func(r *request) (*serve.Progress, error) {
		id, err := r.Reader.FindRun(ctx, run)
		if err != nil {
			return nil, err
		}
		of, err := r.Store.Run(ctx, id)
		if err != nil {
			return nil, err
		}
		k, err := r.run(of)
		if err != nil {
			return nil, err
		}
		events, err := r.Store.Events(ctx, id)
		if err != nil {
			return nil, err
		}
		at := &serve.Progress{Run: k, Steps: report.Timeline(events)}
		if k.Working {
			if at.Spent, err = p.costs.of(ctx, r.Store, id, len(events)); err != nil {
				return nil, err
			}
			at.Spent.Simulated = of.Simulated
		}
		var c campaign.Config
		if len(of.Config) > 0 && json.Unmarshal(of.Config, &c) == nil { // of a newer evolve: then the cap is not shown
			at.Cap = c.Caps().Rollouts
		}
		return at, nil
	})
}

// Fleet is what the fleet is at.
func (p *Program) Fleet(ctx context.Context) (*watch.State, error) {
	return look(ctx, p, func(r *request) (*watch.State, error) { return r.Command.Fleet(ctx) })
}

// Nights are all nights, the newest first.
func (p *Program) Nights(ctx context.Context) ([]*status.Night, error) {
	return look(ctx, p, func(r *request) (out []*status.Night, err error) {
		all, err := sleep.Nights(ctx, r.Store, 0)
		for i := range all {
			out = append(out, status.NightOf(&all[i]))
		}
		return out, err
	})
}

// Night is the report of a night.
func (p *Program) Night(ctx context.Context, id string) (*status.Night, error) {
	return look(ctx, p, func(r *request) (*status.Night, error) {
		n, err := r.Reader.Night(ctx, id)
		if err == nil && n == nil {
			err = problem.Inputf("`evolve sleep status` shows the last one", "no night is named %q", id)
		}
		return n, err
	})
}
