package campaign

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/harvest/reading"
	"github.com/skill-evolve/evolve/store"
)

// readReply is the expected size of a reply about a batch of moments, in tokens.
const readReply = 600

// ReadingOptions select who reads what users said, and what that may cost.
type ReadingOptions struct {
	agent.Spec        // its mutator reads
	Skill      string // only what was said about this one; "" is everything
	Caps       eval.Caps
	WallClock  time.Duration // of one call
}

// A ReadingForecast is what reading may take, estimated before anything is spent.
type ReadingForecast struct {
	Schema  int             `json:"schema"`
	Model   string          `json:"model"`
	Stats   reading.Stats   `json:"stats"` // its Calls are those to come
	Tokens  int64           `json:"tokens"`
	CostUSD *float64        `json:"cost_usd"`
	Sends   []outgoing.Send `json:"sends,omitempty"`

	free bool // the model is simulated
}

// String formats the forecast.
func (fc *ReadingForecast) String() string {
	line := fmt.Sprintf("forecast: %s of %d are to be read by %s, %s, about %s tokens, %s", plain.Counted(fc.Stats.Unread, "moment"), fc.Stats.Moments, fc.Model,
		plain.Counted(fc.Stats.Calls, "call"), plain.Thousands(fc.Tokens), costWords(fc.CostUSD, fc.free))
	return strings.Join(append([]string{line}, outgoing.Lines(fc.Sends)...), "\n")
}

// A Reading is the prepared reading of what users said.
type Reading struct {
	Forecast *ReadingForecast

	runner   *Runner
	options  ReadingOptions
	back     *agent.Backends
	sessions []*harvest.Session
	may      func(*harvest.Session) bool
}

// PrepareReading opens the model and counts what there is to read. The Reading must be
// closed.
func (r *Runner) PrepareReading(ctx context.Context, o ReadingOptions) (*Reading, error) {
	back, err := r.Backends(ctx, &o.Spec)
	if err != nil {
		return nil, err
	}
	g := &Reading{runner: r, options: o, back: back, Forecast: &ReadingForecast{Schema: 1, Model: o.ReflectAgent + "/" + o.ReflectModel}}
	fc := g.Forecast
	fc.CostUSD = new(float64)
	if fc.free = agent.KindOf(o.ReflectAgent).Simulated; fc.free {
		fc.Model = "the simulated model"
	}
	db, err := r.Existing(ctx)
	if err != nil || db == nil {
		return g, err
	}
	if g.sessions, err = readable(ctx, db, o.Skill); err != nil {
		return g, err
	}
	if g.may, err = r.Control.Sessions(ctx, db, back, []string{agent.Mine}, o.Skill); err != nil {
		return g, err
	}
	c := &askCount{id: back.Miner.Identity()}
	if fc.Stats, err = g.read(ctx, reading.Reader{Model: c, Memory: db, Redactor: back.Redactor, May: g.may}); err != nil {
		return g, err
	}
	fc.Tokens = int64(c.in + c.calls*readReply)
	if !fc.free {
		fc.CostUSD = o.Price(o.ReflectModel).USD(&eval.Usage{Input: int64(c.in), Output: int64(c.calls * readReply)})
	}
	if c.calls == 0 {
		return g, nil
	}
	if fc.Sends, err = r.Control.Forecast(ctx, db, back, nil, map[string]int64{agent.Mine: c.bytes}); err != nil {
		return g, err
	}
	for i := range fc.Sends {
		fc.Sends[i].Projects = g.projects()
	}
	return g, nil
}

// projects are the folders of the sessions that are read, with the number of sessions.
func (g *Reading) projects() (out []outgoing.Project) {
	for _, s := range g.sessions {
		if g.may != nil && !g.may(s) {
			continue
		}
		i := slices.IndexFunc(out, func(p outgoing.Project) bool { return p.Folder == s.CWD })
		if i < 0 {
			i, out = len(out), append(out, outgoing.Project{Folder: s.CWD})
		}
		out[i].Sessions++
	}
	slices.SortFunc(out, func(a, b outgoing.Project) int {
		return cmp.Or(cmp.Compare(b.Sessions, a.Sessions), cmp.Compare(a.Folder, b.Folder))
	})
	return out
}

// readable are the sessions with text; those with uses of a skill, if it is not "".
func readable(ctx context.Context, db *store.Store, skill string) (out []*harvest.Session, err error) {
	all, err := db.Sessions(ctx, store.SessionFilter{Skill: skill, Text: true, Work: true})
	for i := range all {
		out = append(out, &all[i])
	}
	return harvest.Distinct(out), err
}

func (g *Reading) read(ctx context.Context, r reading.Reader) (reading.Stats, error) {
	if g.options.Skill != "" {
		return r.Uses(ctx, g.sessions, g.options.Skill)
	}
	return r.Read(ctx, g.sessions)
}

// Close releases what the Reading holds. It does nothing for nil.
func (g *Reading) Close() {
	if g != nil {
		_ = g.back.Close() // what stays behind does no harm
	}
}

// fits returns an error if the caps are less than one call takes by the forecast.
func (g *Reading) fits() error {
	fc, caps := g.Forecast, g.options.Caps
	calls := max(1, fc.Stats.Calls)
	if one := fc.Tokens / int64(calls); caps.Tokens > 0 && one > caps.Tokens {
		return &problem.Error{Kind: problem.Stopped, Err: fmt.Errorf("one call takes about %d tokens, more than --max-tokens", one), Hint: "nothing was spent"}
	}
	if caps.CostUSD > 0 && fc.CostUSD != nil && *fc.CostUSD/float64(calls) > caps.CostUSD {
		return &problem.Error{Kind: problem.Stopped, Err: fmt.Errorf("one call takes about %s, more than --max-cost-usd", eval.FormatUSD(*fc.CostUSD/float64(calls))), Hint: "nothing was spent"}
	}
	return nil
}

// Run has the moments read, and stores what was read, also if an error ended it.
func (g *Reading) Run(ctx context.Context) (reading.Stats, eval.Spent, error) {
	r, o := g.runner, &g.options
	if err := g.fits(); err != nil {
		return reading.Stats{}, eval.Spent{}, err
	}
	if err := g.back.Ping(ctx); err != nil {
		return reading.Stats{}, eval.Spent{}, err
	}
	db, err := r.Store(ctx)
	if err != nil {
		return reading.Stats{}, eval.Spent{}, err
	}
	if g.sessions, err = readable(ctx, db, o.Skill); err != nil {
		return reading.Stats{}, eval.Spent{}, err
	}
	budget := eval.NewBudget(o.Caps, r.Now)
	o.SetPrices(budget)
	limit := &failureLimit{Model: &eval.Metered{Model: g.back.Miner, By: eval.ByMiner, Budget: budget, Redactor: g.back.Redactor, WallClock: o.WallClock}}
	stats, err := g.read(ctx, reading.Reader{Model: limit, Memory: db, Redactor: g.back.Redactor, May: g.may, Save: db.SaveReadings})
	if err == nil {
		err = limit.unanswered()
	}
	return stats, budget.Spent(), err
}
