package pages

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/corrections"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest"
	harvestcorrections "github.com/skill-evolve/evolve/harvest/corrections"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament/report/charts"
	"github.com/skill-evolve/evolve/tournament/report/serve"
	"github.com/skill-evolve/evolve/tournament/status"
)

// Uses are the uses of a skill, by a person.
func (p *Program) Uses(ctx context.Context, name string) ([]charts.Use, error) {
	return look(ctx, p, func(r *request) (out []charts.Use, err error) {
		reg, err := ingest.Registry(ctx, r.Layout, r.Store)
		if err != nil {
			return nil, err
		}
		for _, n := range append([]string{name}, reg.AliasesOf(name)...) {
			all, err := r.Store.Invocations(ctx, n)
			if err != nil {
				return nil, err
			}
			for i := range all {
				if u := &all[i]; !u.Headless {
					out = append(out, charts.Use{Time: u.Time, Corrected: u.Feedback.Label == harvest.Corrected})
				}
			}
		}
		return out, nil
	})
}

// Most of what the page of corrections shows.
const (
	shownRules  = 50
	shownQuotes = 5
)

// Corrections are what was corrected in the uses of a skill; for a file of standing
// instructions, all that concerns such files.
func (p *Program) Corrections(ctx context.Context, name string) (*serve.Corrections, error) {
	return look(ctx, p, func(r *request) (*serve.Corrections, error) {
		reg, err := r.Layout.Registry()
		of := name
		if subject.Parse(name).Kind == subject.File {
			of = ""
		} else if err == nil {
			err = ingest.Known(ctx, r.Store, reg, name)
		}
		if err != nil {
			return nil, err
		}
		all, err := corrections.Report(ctx, r.Store, r.Layout, of, 0)
		if err != nil {
			return nil, err
		}
		if of == "" {
			all.Rules = slices.DeleteFunc(all.Rules, func(x harvestcorrections.Rule) bool { return x.Concerns != "standing" })
		}
		n := &all.Funnel
		out := &serve.Corrections{Turns: n.Turns, Corrected: n.Corrected, Unread: max(0, n.Replied-n.Read), Command: strings.TrimSpace("evolve corrections " + of)}
		for i, x := range all.Rules {
			if i == shownRules {
				break
			}
			c := serve.Correction{Title: strings.TrimPrefix(strings.TrimPrefix(corrections.Title(x), name+": "), "standing instructions: "), Written: corrections.Standing(x)}
			for k, q := range x.Quotes {
				if k == shownQuotes {
					break
				}
				quote := serve.Quote{Words: q.Words, Time: q.Time}
				if q.Copied {
					quote.Note = "(not your own words: the agent wrote them first)"
				}
				c.Quotes = append(c.Quotes, quote)
			}
			out.Rules = append(out.Rules, c)
		}
		return out, nil
	})
}

// Forecast is what a run would do and cost.
func (p *Program) Forecast(ctx context.Context, name string) (*serve.Forecast, error) {
	return with(ctx, p, datadir.Tries, func(r *request) (*serve.Forecast, error) {
		if _, err := r.Layout.Live(name); err != nil {
			return nil, err
		}
		out := &serve.Forecast{Command: "evolve --skill " + name}
		f, err := r.Command.Forecast(ctx, name)
		if err != nil {
			if out.Why = p.Explain(err); out.Why.Kind == problem.Failed {
				return nil, err
			}
			return out, nil
		}
		out.Lines = p.lines(f.String())
		return out, nil
	})
}

// costs are what runs at work have spent so far. A run's bill is stored when it ends;
// until then it is read from its records, once for each event.
type costs struct {
	mu    sync.Mutex
	run   string
	at    int
	spent eval.Spent
}

func (c *costs) of(ctx context.Context, db *store.Store, run string, events int) (eval.Spent, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run == run && c.at == events {
		return c.spent, nil
	}
	sum, err := status.SpentSoFar(ctx, db, run)
	if err != nil {
		return sum, err
	}
	c.run, c.at, c.spent = run, events, sum
	return sum, nil
}
