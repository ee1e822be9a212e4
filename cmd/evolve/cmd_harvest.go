package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	learned "github.com/skill-evolve/evolve/cmd/evolve/internal/corrections"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest/corrections"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/spf13/cobra"
)

func newHarvestCommand(a *global) *cobra.Command {
	f := harvestFlags{}
	var only string
	var sidecars string
	var events bool
	c := &cobra.Command{
		Use:   "harvest",
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
	fl.StringVar(&sidecars, "sidecar", "", "folder to write the skill events of each session into, as Entire does; existing content is kept")
	return c
}

// A harvestReport is what `evolve harvest --json` prints: schema 1.
type harvestReport struct {
	Schema int `json:"schema"`
	ingest.Report
	Stored int `json:"stored"` // sessions, those of earlier harvests included
	// Expired counts the sessions whose text has expired now.
	Expired int                 `json:"expired,omitempty"`
	Skills  []ingest.SkillCases `json:"skills"`
	Learned *corrections.Report `json:"corrections"`
	held    bool                // there are sessions that may not be read, if there are any
}

func runHarvest(ctx context.Context, a *global, f harvestFlags, only, sidecars string, events bool) error {
	reg, err := a.layout().Registry()
	if err != nil {
		return err
	}
	desk := a.projects(f)
	if err := desk.Check(ctx); err != nil { // before the store is made
		return err
	}
	db, err := a.store(ctx)
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
	r := &harvestReport{Schema: 1, Report: *h, Stored: len(stored), held: !g.Gate.Free()}
	r.AddStored(stored)
	if r.Skills, err = mineAll(ctx, a, db, only, f.headless); err != nil {
		return err
	}
	if r.Learned, err = learned.Report(ctx, db, a.layout(), only); err != nil {
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
	return printHarvest(a, r)
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
		live, err := skill.ReadEntry(e)
		if err != nil {
			continue // of one that was used, the result has the reason
		}
		if err := in.Record(ctx, live); err != nil {
			return err
		}
	}
	return nil
}

// maxShown is the number of problems that are printed; --json has all.
const maxShown = 5

func printHarvest(a *global, r *harvestReport) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d new or changed sessions (%d stored), %d uses of skills in them, %d secrets replaced\n", r.Sessions, r.Stored, r.Invocations, r.Redactions)
	if len(r.Found) > 1 {
		for _, f := range r.Found {
			fmt.Fprintf(&b, "  %-12s %d sessions, %d uses in %s\n", f.Source, f.Sessions, f.Invocations, f.Where)
		}
	}
	if len(r.Skills) > 0 {
		b.WriteByte('\n')
		t := a.NewTable(&b)
		fmt.Fprintln(t, "SKILL\tUSES\tCORRECTED\tACCEPTED\tCASES\tNEW\t")
		for _, s := range r.Skills {
			fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%s\n", s.Skill, s.Uses, s.Corrected, s.Accepted, s.Cases, s.NewCases, s.Note)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	b.WriteString(learned.Learned(r.Learned))
	if n := len(r.Problems); n > 0 {
		fmt.Fprintf(&b, "\n%d places could not be read; everything else was:\n", n)
		for i, p := range r.Problems {
			if i == maxShown {
				fmt.Fprintf(&b, "  and %d more (--json lists them all)\n", n-maxShown)
				break
			}
			at := p.Path
			if p.Line > 0 {
				at += fmt.Sprintf(":%d", p.Line)
			}
			fmt.Fprintf(&b, "  %s: %s\n", at, p.Reason)
		}
	}
	if n := len(r.Remarks); n > 0 {
		fmt.Fprintf(&b, "\n%s (--json lists them); nothing is missing because of them\n", plain.Counted(n, "remark"))
	}
	fmt.Fprintf(&b, "\nnext: %s\n", r.next())
	return a.Print(r, b.String())
}

// next is the command to type after a harvest.
func (r *harvestReport) next() string {
	if r.Stored == 0 && r.held {
		return "no session was read: `evolve projects list` shows what was found, and `evolve projects allow PATH` allows a project"
	}
	if r.Stored == 0 {
		return "no sessions were found; --claude-home names another folder"
	}
	for _, s := range r.Skills {
		switch {
		case s.Quoted > 0:
			return fmt.Sprintf("`evolve --skill %s` lets a model write the checks of %s, and looks for a better text", s.Skill, plain.Counted(s.Quoted, "corrected use"))
		case s.Cases > 0:
			return fmt.Sprintf("`evolve --skill %s` looks for a better text", s.Skill)
		}
	}
	return "use your skills and correct them when they are wrong: cases are made from that"
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
