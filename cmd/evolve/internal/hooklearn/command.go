// Package hooklearn is the command that has a model read why calls were refused, and proposes
// rules of the settings, or rule files, that would have held.
package hooklearn

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/corrections"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/hooktest"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/usage"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/problem"
	rules "github.com/skill-evolve/evolve/harvest/corrections"
	"github.com/skill-evolve/evolve/harvest/events"
	"github.com/skill-evolve/evolve/harvest/refusals"
	"github.com/skill-evolve/evolve/store"
)

// Parts are what the command works with, opened when it runs.
type Parts struct {
	corrections.Parts
	Tests hooktest.Parts // which reads sessions
}

type flags struct {
	backend.Spending
	since, out string
}

// Command is `evolve hooks learn`.
func (p Parts) Command() *cobra.Command {
	f := &flags{}
	c := &cobra.Command{
		Use:   "learn",
		Short: "Find the rules for which you refused calls, and a guard for each",
		Long: `learn has a model (--reflect-agent, --reflect-model) read what you said when you
refused a call, after a forecast: most refusals are a matter of time ("not yet"), and
some name a rule that holds for later calls, too. Each refusal is read twice, among
others and in another order, and only what both readings find counts. The newest 60
are read at a time, of sessions that were harvested, and each is paid for once. Calls
that ran, and that you then corrected by a rule, count too, if a check of a case forbids
them and your words name what it forbids.

Where one tool and the beginning of a command or a path tells the calls of a rule, it
proposes an entry for Claude Code's settings, and says what that would have been about
in all recorded calls: deny if the rule tells that much and no such call ran or had
your permission, else ask; and what a guard that the older sessions alone teach does in
the newer ones. It puts nothing in place. Where no entry tells the calls, but words of
their commands do, --out writes a rule file that stops them, with its cases;
` + "`evolve hooks test`" + ` tries it.

Of rules that you corrected in at least 4 recorded sessions, the model says whether
certain commands have to run before something else ("lint before you commit"), and which
of those that ran. The older half of the sessions chooses the rule file, and the newer
half shows what it does; it is proposed only if the older half tells what you corrected
from what you accepted.`,
		Example: "  evolve hooks learn --dry-run\n  evolve hooks learn --since 180d",
		Args:    usage.None,
		RunE:    func(c *cobra.Command, _ []string) error { return p.run(c.Context(), f) },
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringVar(&f.since, "since", "90d", "how far back sessions are read")
	fl.StringVar(&f.out, "out", "", "write rule files into this `FOLDER`")
	f.Register(fl, "print the forecast and stop")
	return c
}

func (p Parts) run(ctx context.Context, f *flags) error {
	if err := f.Check(); err != nil {
		return err
	}
	calling := func(e *events.Event) bool { return e.Name == events.PreToolUse }
	sessions, from, err := p.Tests.Recorded(ctx, f.since, "", calling)
	if err != nil {
		return err
	}
	var calls []*refusals.Call
	for _, s := range sessions {
		calls = append(calls, s.Refused...)
	}
	db, err := p.Tests.Store(ctx)
	if err != nil {
		return err
	}
	corrected, report, err := p.corrected(ctx, db, sessions)
	if err != nil {
		return err
	}
	stats, spent, stop, err := p.read(ctx, f, calls, corrected)
	if err != nil || f.DryRun {
		return err
	}
	l, err := p.Tests.Label(ctx, db, sessions, hooktest.Choice{Since: from, Wants: calling})
	if err != nil {
		return err
	}
	worded, err := wordings(ctx, db, l.Sessions)
	if err != nil {
		return err
	}
	r := &Result{Schema: 1, Since: from, Stats: stats, Spent: spent, Stored: l.Stored, Unusable: l.Unusable, Others: []Mechanical{}, Orders: corrected, Rules: rulesOf(l.Sessions, p.Tests.What, worded)}
	for i := range r.Rules {
		r.Rules[i].propose(l.Sessions, p.Tests.Redactor())
	}
	for _, o := range r.Orders {
		o.learn()
	}
	place(p.Layout(), r.Rules)
	if db != nil {
		if r.Others, err = mechanical(ctx, db, report, r); err != nil {
			return err
		}
	}
	if f.out != "" {
		stop = errors.Join(stop, r.write(f.out))
	}
	return errors.Join(p.Terminal.Print(r, r.text()), stop) // what was paid for is shown in any case
}

// corrected are the rules that were corrected, and which of them may be about an order.
func (p Parts) corrected(ctx context.Context, db *store.Store, sessions []*hooktest.Session) ([]*Order, *rules.Report, error) {
	if db == nil {
		return nil, nil, nil
	}
	report, err := corrections.Report(ctx, db, p.Layout(), "", corrections.Latest)
	if err != nil {
		return nil, nil, err
	}
	out, err := ordersOf(ctx, db, report, sessions)
	return out, report, err
}

// write writes the rule files into a folder.
func (r *Result) write(out string) error {
	dir, err := filepath.Abs(out)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return problem.Inputf("name a folder that can be written", "write rule files: %v", err)
	}
	var errs []error
	for i := range r.Rules {
		if r.Rules[i].File != nil {
			errs = append(errs, r.Rules[i].write(dir))
		}
	}
	for _, o := range r.Orders {
		if o.None == "" {
			errs = append(errs, o.write(dir))
		}
	}
	return errors.Join(errs...)
}

// read has a model read why calls were refused, after a forecast. stop is why it ended early;
// what was read is kept.
func (p Parts) read(ctx context.Context, f *flags, calls []*refusals.Call, corrected []*Order) (stats refusals.Stats, spent eval.Spent, stop, err error) {
	if len(calls)+len(corrected) == 0 && !f.DryRun {
		return stats, spent, nil, nil
	}
	db, err := p.Store(ctx)
	if err != nil {
		return stats, spent, nil, err
	}
	runner, err := p.Runner(&f.Spending)
	if err != nil {
		return stats, spent, nil, err
	}
	g, err := prepare(ctx, runner, db, f.Who.Spec(), f.WallClock, calls, corrected)
	defer func() { g.close() }() // with an error too
	if err != nil {
		return stats, spent, nil, err
	}
	if g.Forecast.calls() == 0 && !f.DryRun {
		return g.Forecast.Stats, spent, nil, nil
	}
	p.Terminal.Say("%s", g.Forecast)
	if f.DryRun {
		if p.Terminal.JSON {
			err = p.Terminal.PrintJSON(g.Forecast)
		}
		return stats, spent, nil, err
	}
	if err := p.Fund(ctx, &f.Spending, false); err != nil {
		return stats, spent, nil, err
	}
	if err := p.Approve(&f.Spending, g.Forecast.CostUSD, g.Forecast.Tokens, "Spend about %s on reading?"); err != nil {
		return stats, spent, nil, err
	}
	budget := f.Purse.Part()
	if stats, err = g.run(ctx, budget); err != nil {
		stop = &problem.Error{Kind: corrections.KindOf(err), Err: err, Hint: "what was read is kept; the same command continues"}
	}
	if errors.Is(err, context.Canceled) {
		return stats, spent, nil, err
	}
	return stats, budget.Spent(), stop, nil
}
