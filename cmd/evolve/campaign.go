package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/campaign/probing"
	"github.com/skill-evolve/evolve/tournament/caps"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/report"
)

// runner prepares runs with these flags.
func (a *global) runner(f *runFlags) (*campaign.Runner, error) {
	o, err := a.outbox()
	if err != nil {
		return nil, err
	}
	open := a.opener(f.who.NoWait)
	open.Control, open.Night = control(a), f.night
	return &campaign.Runner{Control: open.Control, Backends: open.Backends, Store: a.store, Existing: a.existingStore, Installer: func(db *store.Store) *release.Installer { return a.installerWith(o, db) }, Layout: a.layout(), PriceOf: open.PriceOf, Default: open.DefaultCaps(f.flags), Dir: o.Dir, Access: a.access, Now: a.Now, Say: a.Say, Headless: f.harvest.headless,
		Harvest: func(ctx context.Context, db *store.Store) (*ingest.Report, error) {
			return harvestSessions(ctx, a, db, f.harvest)
		},
		Probe: probing.Answer, ProbeCaps: func() (eval.Caps, error) {
			p, err := a.machine.fixed()
			if err != nil {
				return eval.Caps{}, err
			}
			return open.ProbeCaps(p)
		},
		Watch: func(of report.Task) report.View { return a.Watch(of) }, Review: a.demo.review}, nil
}

// prepareRun prepares a run, or the continuation of one. The caller must close it, with an
// error too.
func prepareRun(ctx context.Context, a *global, f *runFlags) (*campaign.Campaign, error) {
	r, err := a.runner(f)
	if err != nil {
		return nil, err
	}
	if r.Review == nil && !f.yes && !a.Quiet && !a.JSON && term.IsTerminal(a.Stdin) && term.IsTerminal(a.Stderr) {
		r.Review = func(ctx context.Context, db *store.Store, name string) error { return offerReview(ctx, a, db, name) }
	}
	o := f.Options
	o.To = f.to
	o.Approve = func(m *campaign.MiningForecast) error {
		return approveSpending(a, f.yes, f.confirmOver, m.CostUSD, m.Beyond, "Spend about %s on reading these corrections?", "nothing was spent", "use --yes to spend it, or --no-harvest to continue with the stored cases")
	}
	if f.resume != "" {
		p, err := a.machine.fixed()
		if err != nil {
			return nil, err
		}
		if p != nil { // a run that began before there was one
			o.AtMost = eval.Caps{Rollouts: p.Caps.Rollouts, CostUSD: p.Caps.CostUSD, Tokens: p.Caps.Tokens, Duration: p.Caps.Duration}
		}
		return r.Resume(ctx, f.resume, f.Skill, o)
	}
	return r.Prepare(ctx, f.Config, o)
}

// afford asks for one part of a command that asks a model about what is stored.
func afford(a *global, f *backend.Spending, usd *float64, tokens int64, question, hint string) error {
	return f.Purse.Approve(usd, tokens, func(beyond *caps.BeyondError) error {
		return approveSpending(a, f.Yes, f.Over, usd, beyond, question, f.Purse.Spent(), hint)
	})
}

// approveSpending asks on a terminal before it spends more than over, or beyond a default
// cap, unless --yes is given. Without a terminal it refuses what is beyond a default cap.
func approveSpending(a *global, yes bool, over float64, usd *float64, beyond *caps.BeyondError, question, spent, hint string) error {
	ask, amount := usd != nil && *usd > confirmOver(a, over), ""
	if ask {
		amount = eval.FormatUSD(*usd)
	}
	if beyond != nil {
		a.Tell("%v", beyond)
		ask, amount, hint = true, beyond.Allowing, beyond.Hint()
	}
	terminal := term.IsTerminal(a.Stdin)
	if yes || !ask || beyond == nil && !terminal {
		return nil
	}
	if terminal {
		if ok, err := a.Confirm(fmt.Sprintf(question, amount)); ok || err != nil {
			return err
		}
	}
	return &problem.Error{Kind: problem.Stopped, Err: errors.New(spent), Hint: hint}
}
