// Package generate has a model write cases of a skill from its real ones.
package generate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/generated"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament/campaign"
)

// Options select the cases that a model writes.
type Options struct {
	agent.Spec // its mutator writes
	Skill      string
	N          int           // how many
	WallClock  time.Duration // of one call
}

// A Forecast is what writing cases may take, estimated before
// anything is spent.
type Forecast struct {
	Schema  int      `json:"schema"`
	Skill   string   `json:"skill"`
	Model   string   `json:"model"`
	Wanted  int      `json:"wanted"`
	Basis   int      `json:"basis"` // real cases that may be shown
	Calls   int      `json:"calls"`
	Most    int      `json:"max_calls"`
	Tokens  int64    `json:"tokens"` // estimated, of Calls
	CostUSD *float64 `json:"cost_usd"`

	// Sends are who gets how much text.
	Sends []outgoing.Send `json:"sends,omitempty"`

	free bool // the model is simulated
}

// The size of one call of the generator: the instruction and the reply; the
// material shown is added.
const (
	generateInstruction = 800
	generateReply       = 1800
	requestBytes        = 4 << 10 // of the instruction, on the high side
)

func (o *Options) forecast(cases []eval.Case) *Forecast {
	fc := &Forecast{Schema: 1, Skill: o.Skill, Model: agent.ModelName(o.ReflectAgent, o.ReflectModel), Wanted: o.N}
	fc.free = agent.KindOf(o.ReflectAgent).Simulated
	shown := 0
	for i := range cases {
		if c := &cases[i]; !c.Generated() && (c.Split == eval.Train || c.Split == eval.Val) {
			fc.Basis++
			shown += skill.Tokens(c.Prompt) + 120*len(c.Checks)
		}
	}
	fc.Calls, fc.Most = generated.CallsFor(o.N)
	in := int64(fc.Calls * (generateInstruction + 4*shown/max(1, fc.Basis) + 20*o.N))
	out := int64(fc.Calls * generateReply)
	fc.Tokens = in + out
	if fc.CostUSD = new(float64); !fc.free {
		fc.CostUSD = o.Price(o.ReflectModel).USD(&eval.Usage{Input: in, Output: out})
	}
	return fc
}

// String formats the forecast in one line.
func (fc *Forecast) String() string {
	line := fmt.Sprintf("forecast: %s of %s from %s by %s, %s (%d at most), about %s tokens, %s", plain.Counted(fc.Wanted, "case"), fc.Skill,
		plain.Counted(fc.Basis, "real one"), fc.Model, plain.Counted(fc.Calls, "call"), fc.Most, plain.Thousands(fc.Tokens), campaign.CostWords(fc.CostUSD, fc.free))
	return strings.Join(append([]string{line}, outgoing.Lines(fc.Sends)...), "\n")
}

// A Generation is a prepared writing of cases.
type Generation struct {
	Forecast *Forecast

	runner  *campaign.Runner
	options Options
	live    *skill.Live
	back    *agent.Backends
	cases   []eval.Case
	shown   []eval.Case // of these the model may be shown
}

// Generated is the result of a Generation.
type Generated struct {
	Stats    generated.Stats
	Added    []eval.Case
	Splits   map[eval.Split]int // all cases of the skill
	Spent    eval.Spent
	Stop     string // why there are fewer than wanted, "" if there are not
	Warnings []string
}

// Prepare opens the model that writes cases of a skill, and
// forecasts the cost. The Generation must be closed.
func Prepare(ctx context.Context, r *campaign.Runner, o Options) (*Generation, error) {
	live, err := r.Layout.Live(o.Skill)
	if err != nil {
		return nil, err
	}
	back, err := r.Backends(ctx, &o.Spec)
	if err != nil {
		return nil, err
	}
	g := &Generation{runner: r, options: o, live: live, back: back}
	db, err := r.Existing(ctx)
	if err != nil {
		return g, err
	}
	if g.cases, err = r.Ingester(db, back).Cases(ctx, o.Skill, ""); err != nil {
		return g, err
	}
	if db == nil {
		return g, noBasis(o.Skill)
	}
	var left outgoing.Left
	if g.shown, left, err = r.Control.Clear(ctx, db, back, []string{agent.Mine}, g.cases); err != nil {
		return g, err
	}
	for _, line := range left.Lines() {
		r.Say("%s", line)
	}
	if g.Forecast = o.forecast(g.shown); g.Forecast.Basis == 0 {
		return g, noBasis(o.Skill)
	}
	g.Forecast.Sends, err = g.sends(ctx)
	return g, err
}

// Close releases what the Generation holds. It does nothing for nil.
func (g *Generation) Close() {
	if g != nil {
		_ = g.back.Close() // what stays behind does no harm
	}
}

// Run has the cases written within a budget of their own, and stores them. Cases that were paid for are
// stored and returned, even if an error ended it.
func (g *Generation) Run(ctx context.Context, budget *eval.Budget) (*Generated, error) {
	r, o := g.runner, &g.options
	if err := g.back.Ping(ctx); err != nil {
		return nil, err
	}
	db, err := r.Store(ctx)
	if err != nil {
		return nil, err
	}
	model := &eval.Metered{Model: g.back.Miner, By: eval.ByMiner, Budget: budget, Redactor: g.back.Redactor, WallClock: o.WallClock}
	made, stats, err := generated.Cases(ctx, o.Skill, o.N, generated.Generator{Model: model, Redactor: g.back.Redactor, Now: r.Now, Existing: g.cases, May: func(c *eval.Case) bool {
		return slices.ContainsFunc(g.shown, func(k eval.Case) bool { return k.ID == c.ID })
	},
		Description: g.live.Doc.Description()})
	if errors.Is(err, generated.ErrNoBasis) {
		return nil, noBasis(o.Skill)
	}
	if _, _, e := db.SaveCases(context.WithoutCancel(ctx), made); e != nil {
		return nil, e
	}
	if e := r.Ingester(db, g.back).Split(context.WithoutCancel(ctx), o.Skill, false); e != nil {
		return nil, e
	}
	all, e := db.Cases(context.WithoutCancel(ctx), o.Skill)
	if e != nil {
		return nil, e
	}
	out := &Generated{Stats: stats, Splits: ingest.SplitCounts(all), Spent: budget.Spent(), Warnings: budget.Warnings()}
	for i := range all {
		if slices.ContainsFunc(made, func(c eval.Case) bool { return c.ID == all[i].ID }) {
			out.Added = append(out.Added, all[i])
		}
	}
	switch {
	case err != nil:
		out.Stop = err.Error()
	case len(out.Added) < o.N:
		out.Stop = "the model's replies brought nothing more"
	}
	return out, err
}

func noBasis(name string) error {
	return problem.Inputf("use the skill and `evolve harvest`, or bring some with `evolve cases import FILE`",
		"%s has no real case for training or validation to write others from", name)
}

// sends are who gets how much of the cases that others are written from.
func (g *Generation) sends(ctx context.Context) ([]outgoing.Send, error) {
	largest := int64(0)
	var basis []eval.Case
	for _, c := range g.shown {
		if c.Generated() || c.Split == eval.Test {
			continue
		}
		basis = append(basis, c)
		n := int64(len(c.Prompt))
		for _, m := range c.Context {
			n += int64(len(m.Text))
		}
		for i := range c.Checks {
			n += int64(len(c.Checks[i].Rubric) + len(c.Checks[i].Value) + len(c.Checks[i].Feedback) + 200)
		}
		largest = max(largest, n)
	}
	db, err := g.runner.Existing(ctx)
	if err != nil {
		return nil, err
	}
	call := requestBytes + 4*largest + int64(g.options.N)*1000
	return g.runner.Control.Forecast(ctx, db, g.back, basis, map[string]int64{agent.Mine: int64(g.Forecast.Most) * call})
}
