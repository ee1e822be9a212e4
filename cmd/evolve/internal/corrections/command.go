// Package corrections is the command that shows what the user corrected, and has it read.
package corrections

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/corrections"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/harvest/reading"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/campaign"
)

// Parts are what the command works with, opened when it runs.
type Parts struct {
	Terminal *term.Terminal
	Store    func(context.Context) (*store.Store, error)
	Layout   func() *skill.Layout
	Runner   func(*backend.Spending) (*campaign.Runner, error)
	// Approve asks for an amount above which the owner wants to be asked, or which is more than
	// is left of a default cap.
	Approve func(f *backend.Spending, usd *float64, tokens int64, question string) error
}

type flags struct {
	backend.Spending
	skill string
	read  bool
	most  int
}

// Command is `evolve corrections`.
func (p Parts) Command() *cobra.Command {
	f := &flags{}
	c := &cobra.Command{
		Use:   "corrections [SKILL]",
		Short: "What you corrected, in your own words",
		Long: `corrections shows what you told your agents about their work: how many of your turns
were corrections, how many of these one general rule would have prevented, how many
can be asked again from a checkout, and how many cases came of the uses of your
skills. Below are the rules, the most frequent first, each with your words, and
which file says it already, a skill or standing instructions (AGENTS.md, CLAUDE.md,
rules), or could say it: the repository's, which others may get too, or your own. A
rule of a skill may be no longer needed: the model passes its cases without the skill,
in all rollouts that runs and comparisons have stored.

--read lets a model (--reflect-agent, --reflect-model) read what nobody has read yet,
and put the rules together that are one, after a forecast; each reply is paid for
once. Without it only words count that are hardly ever anything else, and nothing has
a rule; rules that no model has put together are grouped by their words.`,
		Example: "  evolve corrections\n  evolve corrections dataviz\n  evolve corrections --read --dry-run",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return problem.Inputf("`evolve corrections`, or `evolve corrections SKILL`", "corrections are those of all skills or of one")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				f.skill = args[0]
			}
			return p.run(c.Context(), f)
		},
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.IntVarP(&f.most, "count", "n", 10, "rules to show")
	fl.BoolVar(&f.read, "read", false, "have a model read what was not read yet")
	f.Register(fl, "with --read: print the forecast and stop")
	return c
}

func (p Parts) run(ctx context.Context, f *flags) error {
	if err := f.Check(); err != nil {
		return err
	}
	switch {
	case f.most < 1:
		return problem.Inputf("for example -n 10", "-n %d is less than 1", f.most)
	case f.DryRun && !f.read:
		return problem.Inputf("`evolve corrections --read --dry-run`", "without --read nothing is spent: --dry-run has nothing to forecast")
	}
	db, err := p.Store(ctx)
	if err != nil {
		return err
	}
	reg, err := p.Layout().Registry()
	if err != nil {
		return err
	}
	if f.skill != "" {
		if err := ingest.Known(ctx, db, reg, f.skill); err != nil {
			return err
		}
	}
	var stop error
	if f.read {
		if _, stop, err = p.Read(ctx, &f.Spending, f.skill); err != nil || f.DryRun {
			return err
		}
	}
	r, err := Report(ctx, db, p.Layout(), f.skill, 0)
	if err != nil {
		return err
	}
	if err := p.Terminal.Print(r, words(r, f)); err != nil {
		return err
	}
	return stop
}

// Prepare prepares the reading of what was said of a skill, "" for everything. It must be
// closed, with an error too.
func (p Parts) Prepare(ctx context.Context, f *backend.Spending, name string) (*campaign.Reading, error) {
	runner, err := p.Runner(f)
	if err != nil {
		return nil, err
	}
	return runner.PrepareReading(ctx, campaign.ReadingOptions{Spec: f.Who.Spec(), Skill: name, WallClock: f.WallClock})
}

// Fund says what a command may cost; answers: it has requests answered, too.
func (p Parts) Fund(ctx context.Context, f *backend.Spending, answers bool) error {
	runner, err := p.Runner(f)
	if err != nil {
		return err
	}
	f.Purse, err = runner.Purse(ctx, f.Who.Spec(), f.Caps, answers)
	return err
}

// Read has a model read what Prepare found, and funds that unless the command has done so.
// stop is why it ended early; what was read is kept.
func (p Parts) Read(ctx context.Context, f *backend.Spending, name string) (spent eval.Spent, stop, err error) {
	g, err := p.Prepare(ctx, f, name)
	defer func() { g.Close() }() // with an error too
	if err != nil {
		return spent, nil, err
	}
	fc := g.Forecast
	if fc.Calls() == 0 && !f.DryRun {
		if n := fc.Stats.Unread; n > 0 {
			p.Terminal.Say("%s not read: their projects' text may not go to %s, see `evolve privacy`", plain.Counted(n, "moment"), fc.Model)
		}
		return spent, nil, nil
	}
	p.Terminal.Say("%s", fc)
	if f.DryRun {
		if p.Terminal.JSON {
			err = p.Terminal.PrintJSON(fc)
		}
		return spent, nil, err
	}
	if f.Purse == nil {
		if err := p.Fund(ctx, f, false); err != nil {
			return spent, nil, err
		}
	}
	if err := p.Approve(f, fc.CostUSD, fc.Tokens, "Spend about %s on reading?"); err != nil {
		return spent, nil, err
	}
	done, err := g.Run(ctx, f.Purse.Part())
	if err != nil && done.Stats == (reading.Stats{}) {
		return spent, nil, err
	}
	p.Terminal.Say("read: %s", readWords(done))
	if err != nil {
		err = &problem.Error{Kind: KindOf(err), Err: err, Hint: "what was read is kept; the same command continues"}
	}
	return done.Spent, err, nil
}

// KindOf is the kind of what ended a reading.
func KindOf(err error) problem.Kind {
	if known, ok := errors.AsType[*problem.Error](err); ok {
		return known.Kind
	}
	if _, spent := errors.AsType[*eval.BudgetError](err); spent || eval.IsPending(err) {
		return problem.Stopped
	}
	return problem.Failed
}

// Latest is the number of newest sessions in which a harvest looks for corrections.
const Latest = 300

// Report lists the corrections in stored sessions, and says which of their rules are in a
// text that agents load. name limits it to one skill; "" is all. most limits it to so many
// of the newest sessions; 0 is all.
func Report(ctx context.Context, db *store.Store, l *skill.Layout, name string, most int) (*corrections.Report, error) {
	all, err := db.Sessions(ctx, store.SessionFilter{Skill: name, Text: true, Work: true, Limit: most})
	if err != nil {
		return nil, err
	}
	cases, err := db.Cases(ctx, "")
	if err != nil {
		return nil, err
	}
	var sessions []*harvest.Session
	for i := range all {
		sessions = append(sessions, &all[i])
	}
	wordings, _, err := reading.Grouper{Memory: db}.Group(ctx, sessions)
	if err != nil {
		return nil, err
	}
	r := corrections.Of(sessions, cases, name, wordings)
	Place(l, sessions, r)
	return r, r.Unneeded(cases, func(c *eval.Case) ([]eval.Rollout, error) {
		return db.Rollouts(ctx, store.RolloutFilter{Candidate: eval.NoSkill, Skill: c.Skill, Case: c.ID})
	})
}

// Place says in which of the texts that sessions load today the rules of r are, or where those
// could be written that are in none.
func Place(l *skill.Layout, sessions []*harvest.Session, r *corrections.Report) {
	p := newPlaces(l, sessions)
	r.Standing(p.texts(r))
	p.place(r)
}
