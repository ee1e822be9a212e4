package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	learned "github.com/skill-evolve/evolve/cmd/evolve/internal/corrections"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/ending"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/harvested"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/spf13/cobra"
)

func newHarvestCommand(a *global) *cobra.Command {
	f := harvestFlags{}
	var only string
	var sidecars string
	var events, ended bool
	c := &cobra.Command{
		Use:   "harvest [SKILL]",
		Short: "Read what is new in your sessions, and make cases of it",
		Long: `harvest reads the sessions that are new since the last harvest, stores them with
their secrets replaced, and turns the uses of your skills into cases. It asks no
model: a correction becomes a check that quotes it, and the next
` + "`evolve --skill NAME`" + ` lets a model write better checks.

As far as you chose with --moments, it keeps what agents did in sessions that are
new or have changed: commands with exit status, changed lines, and refusals.

At its end the text of old sessions expires: after as long as their agent keeps
it, after keep_days of config.yaml (90) at the latest. Cases keep what they need;
counts, times and labels stay.`,
		Example: "  evolve harvest --since 30d\n  evolve harvest --exclude-project '/home/you/client-*'\n  evolve harvest --events --skill dataviz > events.jsonl",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if ended {
				return harvestEnded(c.Context(), a)
			}
			err := runHarvest(c.Context(), a, f, only, sidecars, events)
			return expireAnyway(c.Context(), a, f.headless, err)
		},
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringVar(&f.source, "source", "auto", "whose sessions: "+strings.Join(backend.SourceNames(), ", "))
	fl.StringVar(&f.repo, "repo", "", "git repository whose Entire checkpoints are read, from all authors (default: your own checkpoints of the current repository)")
	fl.StringVar(&f.since, "since", "", "sessions of this age at most, for example 30d")
	fl.StringVar(&only, "skill", "", "make cases of this skill only")
	fl.StringSliceVar(&f.exclude, "exclude-project", nil, excludeHelp)
	fl.BoolVar(&f.headless, "include-headless", false, "count sessions that a program drove")
	f.choice.Flags(fl)
	fl.BoolVar(&events, "events", false, "print the skill events of every stored session as JSON Lines")
	fl.BoolFunc("ended", "read the sessions whose end a hook has recorded, and make no cases (started by that hook, with a log for stdout and stderr)", func(string) error {
		ended = true
		a.Stdout, a.Stderr = ending.Timed(a.Stdout, a.Now), ending.Timed(a.Stderr, a.Now)
		return nil
	})
	_ = fl.MarkHidden("ended") // it was just added
	fl.StringVar(&sidecars, "sidecar", "", "folder to write the skill events of each session into, as Entire does; existing content is kept")
	return c
}

func runHarvest(ctx context.Context, a *global, f harvestFlags, only, sidecars string, events bool) error {
	desk := a.projects(f)
	if err := desk.Check(ctx); err != nil { // before the store is made
		return err
	}
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	reg, err := ingest.Registry(ctx, a.layout(), db)
	if err != nil {
		return err
	}
	if only != "" {
		if err := ingest.Known(ctx, db, reg, only); err != nil {
			return err
		}
	}
	if err := recordAll(ctx, a, db, reg, only); err != nil {
		return err
	}
	h, err := harvestSessions(ctx, a, db, f)
	if err != nil {
		return err
	}
	stored, err := db.Sessions(ctx, store.SessionFilter{Bare: true})
	if err != nil {
		return err
	}
	g, err := a.ingester(db)
	if err != nil {
		return err
	}
	if g.Gate, err = desk.Decided(); err != nil {
		return err
	}
	r := &harvested.Report{Schema: 1, Report: *h, Stored: len(stored), Held: !g.Gate.Free()}
	r.AddStored(stored)
	if r.Skills, err = mineAll(ctx, a, db, only, f.headless); err != nil {
		return err
	}
	if r.Learned, err = learned.Report(ctx, db, a.layout(), only, learned.Latest); err != nil {
		return err
	}
	if sidecars != "" {
		n, err := g.WriteSidecars(ctx, sidecars)
		if err != nil {
			return err
		}
		a.Say("harvest: %d sidecars written or added to in %s", n, sidecars)
	}
	if r.Expired, err = expireText(ctx, a, f.headless); err != nil {
		return err
	}
	if events {
		if n := len(r.Problems); n > 0 {
			a.Say("harvest: %d places could not be read; `evolve harvest` lists them", n)
		}
		return printEvents(ctx, a, g, only)
	}
	return r.Print(&a.Terminal)
}

// mineAll makes cases, without a model, of all skills, or of one.
func mineAll(ctx context.Context, a *global, db *store.Store, only string, headless bool) ([]ingest.SkillCases, error) {
	g, err := a.ingester(db)
	if err != nil {
		return nil, err
	}
	reg, err := g.Layout.Registry()
	if err != nil {
		return nil, err
	}
	return g.MineAll(ctx, reg, only, headless, func(ctx context.Context, live *skill.Live) (bool, error) {
		trial, err := openTrialOf(ctx, a, db, live, skill.Harness)
		return trial != nil, err
	})
}

// recordAll records the live texts of all skills that can be read, or of one:
// new skills and edits by hand. It runs before cases are made, so that new
// cases are held out for challengers that were carried over to an edit.
func recordAll(ctx context.Context, a *global, db *store.Store, reg *skill.Registry, only string) error {
	in, err := a.installer(db)
	if err != nil {
		return err
	}
	for _, e := range reg.Entries {
		if only != "" && e.Name != only {
			continue
		}
		live, err := a.layout().Read(e)
		if err != nil {
			continue // of one that was used, the result has the reason
		}
		if err := in.Record(ctx, live); err != nil {
			return err
		}
	}
	return nil
}

// printEvents writes one line for each session that has skill events.
func printEvents(ctx context.Context, a *global, g *ingest.Ingester, only string) error {
	all, err := g.Events(ctx, only)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(a.Stdout)
	enc.SetEscapeHTML(false)
	for _, line := range all {
		if err := enc.Encode(line); err != nil {
			return fmt.Errorf("print events: %w", err)
		}
	}
	return nil
}
