package campaign

import (
	"context"

	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/mutate/standing"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/trying"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Prepare reads the skill, harvests, and fixes every input of the run's
// decisions. Errors: *WaitingError and *TooFewCasesError, among others. With
// an error the Campaign is nil, or has only what was spent; it must be closed
// either way.
func (r *Runner) Prepare(ctx context.Context, f Config, o Options) (*Campaign, error) {
	if err := refuseHook(f.Skill); err != nil {
		return nil, err
	}
	live, err := r.Layout.Live(f.Skill)
	if err != nil {
		return nil, err
	}
	f.Schema, f.Subject = 2, subject.Parse(f.Skill)
	if err := r.refusePinned(ctx, f.Skill); err != nil {
		return nil, err
	}
	if err := r.refuseManaged(ctx, live, o.To, f.NoGate); err != nil {
		return nil, err
	}
	if w := check.Unloadable(live.Doc, f.Profile, live.Name); w != nil {
		return nil, problem.Inputf("agents would not load it as it is; mend it first", "%s: line %d: %s", skill.Called(live.Name), w.Line, w.Reason)
	}
	if err := live.Evolve(f.Evolve); err != nil {
		return nil, err
	}
	back, err := r.Backends(ctx, &f.Spec)
	if err != nil {
		return nil, err
	}
	loads := standing.Loader{Layout: r.Layout}
	if err := loads.Check(live.Name, agent.KindOf(f.Agent).Sessions); err != nil {
		back.Close()
		return nil, err
	}
	db, err := r.ready(ctx, &f, o, back)
	if err != nil {
		back.Close() // folders for temporary files; what stays behind does no harm
		return nil, err
	}
	c := &Campaign{runner: r, Config: f, Live: live, options: o, back: back, db: db, found: loads.Notes(live.Name)}
	if !o.Night { // else it has its share
		if c.held, err = r.Hold(ctx, db, &c.Config, false); err != nil {
			return c, err
		}
	}
	if err := r.Installer(db).Record(ctx, live); err != nil {
		return c, err
	}
	if err := c.settleTry(ctx, live); err != nil {
		return c, err
	}
	if c.Live, err = trying.Ground(ctx, db, live); err != nil {
		return c, err
	}
	if err := c.lockSkill(ctx); err != nil {
		return c, err
	}
	runs, err := db.Runs(ctx, f.Skill)
	if err != nil {
		return c, err
	}
	if c.Config.Seed < 0 {
		c.Config.Seed = int64(len(runs)) + 1
	}
	id, err := c.chooseID(ctx)
	if err != nil {
		return c, err
	}
	c.run = &record.Run{ID: id, Skill: f.Skill, Seed: c.Config.Seed}
	c.budget = c.Config.Budget(r.Now)
	if err := c.begin(ctx); err != nil {
		return c, err
	}
	if err := c.gather(ctx); err != nil {
		return c, c.discard(ctx, err)
	}
	return c, c.discard(ctx, c.freeze(ctx))
}

// settleTry keeps a trial install that was proved, and takes back one whose time is over.
func (c *Campaign) settleTry(ctx context.Context, live *skill.Live) error {
	s, err := c.runner.Installer(c.db).SettleTry(ctx, live)
	if s.Words != "" {
		c.Settled = s
		c.runner.Say("%s", s.Words)
	}
	return err
}

// ready makes sure that the agents can be asked, before there is a store.
func (r *Runner) ready(ctx context.Context, f *Config, o Options, back *agent.Backends) (*store.Store, error) {
	if err := f.Settle(back); err != nil {
		return nil, err
	}
	if !o.DryRun {
		if err := back.Ping(ctx); err != nil {
			return nil, err
		}
	}
	return r.Store(ctx)
}
