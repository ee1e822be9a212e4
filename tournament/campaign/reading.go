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
	"github.com/skill-evolve/evolve/tournament/campaign/readlimit"
)

// What is expected of the replies that are forecast.
const (
	readReply  = 600 // tokens about a batch of moments
	readRules  = 2   // rules in a batch of moments
	groupReply = 20  // tokens about a rule that is put into a group
)

// ReadingOptions select who reads what users said.
type ReadingOptions struct {
	agent.Spec               // its mutator reads
	Skill      string        // only what was said about this one; "" is everything
	WallClock  time.Duration // of one call
}

// A ReadingForecast is what reading may take, estimated before anything is spent.
type ReadingForecast struct {
	Schema int           `json:"schema"`
	Model  string        `json:"model"`
	Stats  reading.Stats `json:"stats"` // its Calls are those to come
	// Grouping is of the rules that were read, and of as many as are expected to be read.
	Grouping reading.Grouping `json:"grouping"`
	Tokens   int64            `json:"tokens"`
	CostUSD  *float64         `json:"cost_usd"`
	Sends    []outgoing.Send  `json:"sends,omitempty"`

	one  int64 // tokens of one call: the first is about moments, if there are any
	free bool  // the model is simulated
}

// Calls are those to come.
func (fc *ReadingForecast) Calls() int { return fc.Stats.Calls + fc.Grouping.Calls }

// String formats the forecast.
func (fc *ReadingForecast) String() string {
	line := fmt.Sprintf("forecast: %s of %d are to be read by %s", plain.Counted(fc.Stats.Unread, "moment"), fc.Stats.Moments, fc.Model)
	if n := fc.Grouping.Open; fc.Grouping.Calls > 0 && fc.Stats.Calls > 0 {
		line += fmt.Sprintf(", and about %s put into groups", plain.Counted(n, "rule"))
	} else if fc.Grouping.Calls > 0 {
		line = fmt.Sprintf("forecast: %s of %d are to be put into groups by %s", plain.Counted(n, "rule"), fc.Grouping.Rules, fc.Model)
	}
	line += fmt.Sprintf(", %s, about %s tokens, %s", plain.Counted(fc.Calls(), "call"), plain.Thousands(fc.Tokens), CostWords(fc.CostUSD, fc.free))
	return strings.Join(append([]string{line}, outgoing.Lines(fc.Sends)...), "\n")
}

// A Reading is the prepared reading of what users said.
type Reading struct {
	Forecast *ReadingForecast

	runner   *Runner
	options  ReadingOptions
	back     *agent.Backends
	all      []*harvest.Session // with text
	sessions []*harvest.Session // of the skill, if there is one; each once
	may      func(*harvest.Session) bool
}

// PrepareReading opens the model and counts what there is to read. The Reading must be
// closed.
func (r *Runner) PrepareReading(ctx context.Context, o ReadingOptions) (*Reading, error) {
	o.TextOnly = true
	back, err := r.Backends(ctx, &o.Spec)
	if err != nil {
		return nil, err
	}
	g := &Reading{runner: r, options: o, back: back, Forecast: &ReadingForecast{Schema: 1, Model: agent.ModelName(o.ReflectAgent, o.ReflectModel)}}
	fc := g.Forecast
	fc.CostUSD = new(float64)
	fc.free = agent.KindOf(o.ReflectAgent).Simulated
	db, err := r.Existing(ctx)
	if err != nil || db == nil {
		return g, err
	}
	if err := g.load(ctx, db); err != nil {
		return g, err
	}
	if g.may, err = r.Control.Sessions(ctx, db, back, []string{agent.Mine}, o.Skill); err != nil {
		return g, err
	}
	c := &askCount{id: back.Miner.Identity()}
	if fc.Stats, err = g.read(ctx, reading.Reader{Model: c, Memory: db, Redactor: back.Redactor, May: g.may}); err != nil {
		return g, err
	}
	if fc.Stats.Calls > 0 {
		fc.one = int64(c.in/fc.Stats.Calls + readReply)
	}
	// The rules of other moments are expected to be as many as usual.
	grouper := reading.Grouper{Model: c, Memory: db, Redactor: back.Redactor, May: g.may, Expected: readRules * fc.Stats.Calls}
	if _, fc.Grouping, err = grouper.Group(ctx, g.all); err != nil {
		return g, err
	}
	out := fc.Stats.Calls * readReply
	if fc.Grouping.Calls > 0 {
		out += fc.Grouping.Open * groupReply
	}
	if fc.Tokens = int64(c.in + out); fc.one == 0 && c.calls > 0 {
		fc.one = fc.Tokens / int64(c.calls)
	}
	if !fc.free {
		fc.CostUSD = o.Price(o.ReflectModel).USD(&eval.Usage{Input: int64(c.in), Output: int64(out)})
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

// projects are the folders of the sessions that are read, or whose rules are put into
// groups, with the number of sessions.
func (g *Reading) projects() (out []outgoing.Project) {
	sent := g.sessions
	if g.Forecast.Grouping.Calls > 0 {
		sent = harvest.Distinct(g.all)
	}
	for _, s := range sent {
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

// load loads the sessions with text, and chooses those with uses of the skill.
func (g *Reading) load(ctx context.Context, db *store.Store) error {
	all, err := db.Sessions(ctx, store.SessionFilter{Text: true, Work: true})
	g.all = nil
	for i := range all {
		g.all = append(g.all, &all[i])
	}
	g.sessions = harvest.Distinct(slices.DeleteFunc(slices.Clone(g.all), func(s *harvest.Session) bool {
		return g.options.Skill != "" && !slices.ContainsFunc(s.Invocations, func(v harvest.Invocation) bool { return v.Skill == g.options.Skill })
	}))
	return err
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

// fits returns an error if less is left of the caps than one call takes by the forecast.
func (g *Reading) fits(budget *eval.Budget) error {
	fc, caps := g.Forecast, budget.Remaining()
	if caps.Tokens != 0 && fc.one > caps.Tokens {
		return &problem.Error{Kind: problem.Stopped, Err: fmt.Errorf("one call takes about %d tokens, more than --max-tokens", fc.one), Hint: "nothing was spent"}
	}
	if fc.CostUSD == nil || caps.CostUSD == 0 {
		return nil
	}
	if usd := *fc.CostUSD * float64(fc.one) / float64(max(1, fc.Tokens)); usd > caps.CostUSD {
		return &problem.Error{Kind: problem.Stopped, Err: fmt.Errorf("one call takes about %s, more than --max-cost-usd", eval.FormatUSD(usd)), Hint: "nothing was spent"}
	}
	return nil
}

// A ReadingDone is what was read, and what it took.
type ReadingDone struct {
	Stats    reading.Stats
	Grouping reading.Grouping
	Spent    eval.Spent
}

// Run has the moments read and the rules put into groups within a budget of their own, and
// stores the results, also if an error ended it. Rules are not grouped before all replies
// about moments are there.
func (g *Reading) Run(ctx context.Context, budget *eval.Budget) (done ReadingDone, err error) {
	r, o := g.runner, &g.options
	if err := g.fits(budget); err != nil {
		return done, err
	}
	if err := g.back.Ping(ctx); err != nil {
		return done, err
	}
	db, err := r.Store(ctx)
	if err != nil {
		return done, err
	}
	if err := g.load(ctx, db); err != nil {
		return done, err
	}
	defer func() { done.Spent = budget.Spent() }()
	limit := &readlimit.Failures{Model: &eval.Metered{Model: g.back.Miner, By: eval.ByMiner, Budget: budget, Redactor: g.back.Redactor, WallClock: o.WallClock}}
	done.Stats, err = g.read(ctx, reading.Reader{Model: limit, Memory: db, Redactor: g.back.Redactor, May: g.may, Save: db.SaveReadings})
	if err == nil {
		err = limit.Unanswered()
	}
	if err != nil {
		return done, err
	}
	// Also if one skill is read: a rule is placed once, among the groups of all.
	_, done.Grouping, err = reading.Grouper{Model: limit, Memory: db, Redactor: g.back.Redactor, May: g.may}.Group(ctx, g.all)
	if err == nil {
		err = limit.Unanswered()
	}
	return done, err
}
