package campaign

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/lock"
	"github.com/skill-evolve/evolve/store/trying"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Resume restores a run as it began; name is the skill that it should be
// about, "" for any. The Campaign must be closed, even with an error.
func (r *Runner) Resume(ctx context.Context, id, name string, o Options) (*Campaign, error) {
	db, err := r.Store(ctx)
	if err != nil {
		return nil, err
	}
	run, err := db.Run(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, problem.Inputf("`evolve runs` lists them", "no run is named %q", id)
	} else if err != nil {
		return nil, err
	}
	if err := refuseHook(run.Skill); err != nil {
		return nil, err
	}
	if o.Lease != nil { // a night waits for the lock, or takes it over
	} else if busy, err := r.locks().Running(run.ID); err != nil {
		return nil, err
	} else if busy {
		return nil, lock.RunBusy(run.ID)
	}
	if err := candidate.Unrun(ctx, db, run); err != nil {
		return nil, err
	}
	var f Config
	if err := json.Unmarshal(run.Config, &f); err != nil {
		return nil, fmt.Errorf("read run %s: %w", run.ID, err)
	}
	if name != "" && name != f.Skill {
		return nil, problem.Inputf(fmt.Sprintf("`evolve --resume %s` without --skill", run.ID), "run %s is about %s, not %s", run.ID, f.Skill, name)
	}
	if err := r.refusePinned(ctx, f.Skill); err != nil {
		return nil, err
	}
	if run.Status == record.Finished {
		r.Say("run %s has ended already; walking it again from its records", run.ID)
	}
	f.Context = cmp.Or(f.Context, agent.ContextBare)
	live, err := r.begunWith(ctx, db, run, &f)
	if err != nil {
		return nil, err
	}
	back, err := r.Backends(ctx, &f.Spec)
	if err != nil {
		return nil, err
	}
	c := &Campaign{runner: r, Config: f, Live: live, Resumed: true, options: o, back: back, db: db, run: run}
	if err := back.Ping(ctx); err != nil {
		return c, err
	}
	if v, err := VariantOf(live); err != nil {
		return c, err
	} else if v.Rest != f.Rest {
		return c, problem.Inputf(f.startNew(), "the files beside SKILL.md changed since run %s began: nothing it measured would count", run.ID)
	}
	if err := c.lockSkill(ctx); err != nil {
		return c, err
	}
	if err := c.sameCases(ctx); err != nil {
		return c, err
	}
	switch _, left, err := r.Control.Clear(ctx, db, back, agent.Requests, c.cases); {
	case err != nil:
		return c, err
	case len(left) > 0: // without them the run would decide otherwise
		return c, left.Some()
	}
	for _, sha := range append(slices.Clone(f.Approved), f.Standing, f.Carried) {
		if err := c.mayShow(ctx, "candidate", sha, ""); err != nil {
			return c, err
		}
	}
	c.budget = f.budget(f.Caps().Within(o.AtMost), r.Now)
	if err := c.begin(ctx); err != nil {
		return c, err
	}
	if err := c.forgetMissing(ctx); err != nil {
		return c, err
	}
	c.found = append(c.found, fmt.Sprintf("resuming run %s", run.ID))
	if err := c.findNeighbours(ctx); err != nil {
		return c, err
	}
	return c, c.build(ctx)
}

// begunWith is the skill with the text that a run began with.
func (r *Runner) begunWith(ctx context.Context, db *store.Store, run *record.Run, f *Config) (*skill.Live, error) {
	live, err := r.Layout.Live(f.Skill)
	if err == nil {
		live, err = trying.Ground(ctx, db, live)
	}
	if err != nil {
		return nil, err
	}
	if got := live.Doc.Render(); string(got) != string(f.Incumbent) {
		// The decisions were about the text that the run began with, so it
		// continues with that; the compare-and-swap of a later installation
		// refuses if the live text differs.
		doc, err := skill.Parse(f.Incumbent, live.Doc.Options())
		if err != nil {
			return nil, fmt.Errorf("read the text that run %s began with: %w", run.ID, err)
		}
		live.Doc = doc
		r.Say("the live file has changed since run %s began; it continues with the text that it began with", run.ID)
	}
	if f.Evolve == "" {
		f.Evolve = skill.Harness // of an older evolve
	}
	return live, live.Evolve(f.Evolve)
}

// sameCases restores the cases that the run began with.
func (c *Campaign) sameCases(ctx context.Context) error {
	f := &c.Config
	stored, err := c.db.Cases(ctx, f.Skill)
	if err != nil {
		return err
	}
	for _, k := range stored {
		want, ok := f.Cases[k.ID]
		if !ok {
			continue
		}
		k.Split = eval.Split(f.Splits[k.ID])
		if caseHash(k) != want {
			return problem.Inputf(f.startNew(), "case %s was edited since run %s began", k.ID, c.run.ID)
		}
		c.cases = append(c.cases, k)
	}
	if len(c.cases) != len(f.Cases) {
		return problem.Inputf(f.startNew(), "%d cases were dropped since run %s began", len(f.Cases)-len(c.cases), c.run.ID)
	}
	return nil
}

func (c *Config) startNew() string {
	return fmt.Sprintf("start a new run with `evolve --skill %s`", c.Skill)
}

// Continued is the run that waits for answers to the requests of a command that was
// typed like this one, "" for none: who answers need not know of runs. db may be nil.
func Continued(ctx context.Context, db *store.Store, f *Config) (run string, err error) {
	if db == nil {
		return "", nil
	}
	runs, err := db.Runs(ctx, f.Skill)
	if err != nil {
		return "", err
	}
	for i := len(runs) - 1; i >= 0; i-- {
		r := runs[i]
		var was Config
		if r.Status == record.Stopped && r.StoppedBy == string(eval.Pending) && json.Unmarshal(r.Config, &was) == nil && was.Typed == f.Typed {
			return r.ID, nil
		}
	}
	return "", nil
}

// forgetMissing lets rollouts that the infrastructure failed be tried again;
// their spending stays on the bill.
func (c *Campaign) forgetMissing(ctx context.Context) error {
	rollouts, err := c.db.Rollouts(ctx, store.RolloutFilter{Run: c.run.ID})
	if err != nil {
		return err
	}
	kept := map[string]*eval.Completion{}
	for i := range rollouts {
		if r := &rollouts[i]; r.Status == eval.Missing {
			name, reply, err := eval.LostRecord(ctx, c.journal(), r)
			if err != nil {
				return err
			}
			if reply != nil {
				kept[name] = reply
			}
		}
	}
	_, err = c.db.ForgetMissing(ctx, c.run.ID, kept)
	return err
}
