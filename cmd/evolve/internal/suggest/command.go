// Package suggest is the command that writes what the user corrected into a text, and shows
// it beside the user's own words.
package suggest

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/corrections"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/release/tracked"
	"github.com/skill-evolve/evolve/tournament/suggest"
)

// Parts are what the command works with, opened when it runs.
type Parts struct {
	corrections.Parts // of `evolve corrections --read`
	// Mine makes cases of what was read.
	Mine func(ctx context.Context, db *store.Store, name string) error
}

type flags struct {
	backend.Spending
	smoke, again bool
}

// Command is `evolve suggest`.
func (p Parts) Command() *cobra.Command {
	f := &flags{}
	c := &cobra.Command{
		Use:   "suggest SKILL",
		Short: "Write your corrections into a text, beside your words",
		Long: `suggest has a model (--reflect-agent, --reflect-model) write your corrections into
the live text of a skill or an instructions file, in one call after a forecast. What
you said of a skill and nobody has read yet is read first. It shows each sentence that
changed with your words that taught it, and changes no file: the text is a candidate as
any other. The locked lines stay, and what asks for more than the skill may do is held
until you approve it; so is what weakens a locked line, says the model in a second call.

Nothing is known of a suggestion but what taught it. So a trial of it counts only what
you ask for from now on: on the requests that it was written from, a text that is worse
would look better. --smoke answers those once more with it, after a forecast of its own;
that shows whether it does what it was written for, and is never evidence.

The caps are those of reading, suggestion and smoke test together. A part that is
forecast to take more than is left of a default cap asks on a terminal, and is not
begun without one.`,
		Example: "  evolve suggest dataviz\n  evolve suggest ~/.claude/CLAUDE.md --dry-run\n  evolve suggest dataviz --smoke",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return problem.Inputf("`evolve corrections` lists what you corrected", "`evolve suggest` needs a skill, or a file of standing instructions")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return p.run(c.Context(), f, args[0]) },
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.BoolVar(&f.smoke, "smoke", false, "answer the requests that taught it once more, with it")
	fl.BoolVar(&f.again, "again", false, "ask the model once more although you corrected nothing since")
	f.Register(fl, "print the forecasts and stop")
	return c
}

func (p Parts) run(ctx context.Context, f *flags, arg string) error {
	if err := f.Check(); err != nil {
		return err
	}
	arg, at := subject.Cut(arg)
	if at != "" {
		return problem.Inputf("`evolve suggest "+arg+"`", "a suggestion is made of the live text: leave out @%s", at)
	}
	live, err := p.Layout().Live(arg)
	if err != nil {
		return err
	}
	runner, err := p.Runner(&f.Spending)
	if err != nil {
		return err
	}
	o := suggest.Options{Spec: f.Who.Spec(), Skill: live.Name, Caps: f.Caps, WallClock: f.WallClock, Again: f.again}
	var before forecasts
	var read eval.Spent
	if subject.Parse(live.Name).Kind == subject.Skill { // else it could be every turn of all sessions
		if err := p.canSmoke(ctx, f, runner, o); err != nil {
			return err
		}
		if before.Reading, read, err = p.read(ctx, f, live.Name); err != nil {
			return err
		}
	}
	s, err := suggest.Prepare(ctx, runner, o)
	defer func() { s.Close() }() // with an error too
	if err != nil {
		return err
	}
	for _, line := range s.Left {
		p.Terminal.Say("%s", line)
	}
	if f.DryRun {
		return p.forecast(ctx, f, s, &before)
	}
	if s.Forecast.Corrections == 0 {
		r := &result{Schema: 1, Skill: live.Name, Changes: []suggest.Change{}, Spent: read, Reading: read}
		return errors.Join(s.Bill(ctx, read), p.Terminal.Print(r, r.spent()+nothing(live.Name)))
	}
	made, err := p.make(ctx, f, s, read)
	if reply, ok := errors.AsType[*mutate.ReplyError](err); ok && reply.Nothing {
		r := &result{Schema: 1, Skill: live.Name, Changes: []suggest.Change{}, Reading: read, Spent: f.Purse.Budget.Spent()}
		return p.Terminal.Print(r, r.spent()+nothingNew(live.Name))
	}
	if err != nil {
		return err
	}
	r := resultOf(live.Name, s, made, read)
	if r.promote, err = p.promote(ctx, live, made.SHA); err != nil {
		return err
	}
	r.tracked = live.Tracked
	may := f.smoke
	if may {
		if may, err = s.MayRun(ctx, made); err != nil {
			return err
		}
	}
	if may {
		if r.Smoke, err = p.smoke(ctx, f, s, made); r.Smoke != nil {
			r.add(r.Smoke.Spent)
			err = errors.Join(err, s.Charge(ctx, made, r.Smoke.Spent))
		}
	}
	return errors.Join(p.Terminal.Print(r, r.words()), err) // what was paid for is shown in any case
}

// canSmoke refuses a smoke test that cannot be made, before anything is paid.
func (p Parts) canSmoke(ctx context.Context, f *flags, runner *campaign.Runner, o suggest.Options) error {
	if !f.smoke || f.DryRun {
		return nil
	}
	s, err := suggest.Prepare(ctx, runner, o)
	defer func() { s.Close() }() // with an error too
	if err != nil {
		return err
	}
	return s.CanSmoke(ctx)
}

// purse is what all parts may cost, known once.
func (p Parts) purse(ctx context.Context, f *flags) error {
	if f.Purse != nil {
		return nil
	}
	return p.Fund(ctx, &f.Spending, f.smoke)
}

// forecasts are what `evolve suggest --dry-run --json` prints: schema 1.
type forecasts struct {
	Schema     int                       `json:"schema"`
	Reading    *campaign.ReadingForecast `json:"reading,omitempty"` // of what nobody has read yet
	Suggestion *suggest.Forecast         `json:"suggestion"`        // of what is known now
	Smoke      *suggest.SmokeForecast    `json:"smoke,omitempty"`   // of a suggestion that is made
}

// read has a model read what nobody has read yet of a skill. In a dry run it only returns
// what that would take.
func (p Parts) read(ctx context.Context, f *flags, name string) (fc *campaign.ReadingForecast, spent eval.Spent, err error) {
	if f.DryRun {
		g, err := p.Prepare(ctx, &f.Spending, name)
		defer func() { g.Close() }() // with an error too
		if err != nil {
			return nil, spent, err
		}
		return g.Forecast, spent, nil
	}
	if err := p.purse(ctx, f); err != nil {
		return nil, spent, err
	}
	spent, stop, err := p.Read(ctx, &f.Spending, name)
	if err != nil || stop != nil {
		return nil, spent, errors.Join(stop, err)
	}
	db, err := p.Store(ctx)
	if err != nil {
		return nil, spent, err
	}
	return nil, spent, p.Mine(ctx, db, name)
}

// forecast prints what the suggestion and what precedes and follows it would take.
func (p Parts) forecast(ctx context.Context, f *flags, s *suggest.Suggestion, all *forecasts) error {
	all.Schema, all.Suggestion = 1, s.Forecast
	if fc := all.Reading; fc != nil && fc.Calls() > 0 {
		p.Terminal.Say("%s", fc)
	}
	db, err := p.Store(ctx)
	if err != nil {
		return err
	}
	made, _, err := s.Find(ctx, db)
	if err != nil {
		return err
	}
	if made != nil && !f.again {
		s.Forecast.Calls, s.Forecast.Tokens, s.Forecast.CostUSD = 0, 0, new(float64)
	}
	p.Terminal.Say("%s", s.Forecast)
	if made != nil && f.smoke {
		t, err := s.Smoke(ctx, made)
		defer func() { t.Close() }() // with an error too
		if err != nil {
			return err
		}
		all.Smoke = t.Forecast
		p.Terminal.Say("%s", t.Forecast)
	}
	if p.Terminal.JSON {
		return p.Terminal.PrintJSON(all)
	}
	return nil
}

// make makes the suggestion after a forecast, or finds the one that was made. What reading took
// comes on its bill.
func (p Parts) make(ctx context.Context, f *flags, s *suggest.Suggestion, read eval.Spent) (*suggest.Made, error) {
	db, err := p.Store(ctx)
	if err != nil {
		return nil, err
	}
	if m, _, err := s.Find(ctx, db); err != nil {
		return nil, err
	} else if m != nil && !f.again {
		return m, s.Charge(ctx, m, read)
	}
	if f.smoke {
		if err := s.CanSmoke(ctx); err != nil { // by what was read meanwhile, too
			return nil, err
		}
	}
	p.Terminal.Say("%s", s.Forecast)
	if err := p.purse(ctx, f); err != nil {
		return nil, err
	}
	if err := p.Approve(&f.Spending, s.Forecast.CostUSD, s.Forecast.Tokens, "Spend about %s on a suggestion?"); err != nil {
		return nil, err
	}
	m, err := s.Make(ctx, f.Purse.Part(), read)
	if reply, ok := errors.AsType[*mutate.ReplyError](err); ok {
		return nil, &problem.Error{Err: reply, Hint: "the same command asks once more"}
	}
	return m, err
}

// smoke answers the requests that taught a suggestion once more, after a forecast.
func (p Parts) smoke(ctx context.Context, f *flags, s *suggest.Suggestion, m *suggest.Made) (*suggest.Smoked, error) {
	t, err := s.Smoke(ctx, m)
	defer func() { t.Close() }() // with an error too
	if err != nil {
		return nil, err
	}
	p.Terminal.Say("%s", t.Forecast)
	if err := p.purse(ctx, f); err != nil {
		return nil, err
	}
	if err := p.Approve(&f.Spending, t.Forecast.CostUSD, t.Forecast.Tokens, "Spend about %s on the smoke test?"); err != nil {
		return nil, err
	}
	r, err := t.Run(ctx, f.Purse)
	if _, spent := errors.AsType[*eval.BudgetError](err); spent {
		err = &problem.Error{Kind: problem.Stopped, Err: err, Hint: "the suggestion is kept; a smoke test begins anew each time"}
	}
	return r, err
}

// promote is the command that installs a suggestion.
func (p Parts) promote(ctx context.Context, live *skill.Live, sha string) (string, error) {
	db, err := p.Store(ctx)
	if err != nil {
		return "", err
	}
	command, err := tracked.Command(ctx, db, live, sha, subject.Parse(live.Name).Text()+"@"+plain.Short(sha))
	return command + " --unproven", err
}
