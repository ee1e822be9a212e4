package hooklearn

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/hooktest"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/orders"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	rules "github.com/skill-evolve/evolve/harvest/reading"
	"github.com/skill-evolve/evolve/harvest/refusals"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/campaign/readlimit"
)

const (
	mostCalls  = 60  // that one command has read, the newest
	replyOf    = 55  // tokens that are expected of the reply about one call
	replyOrder = 120 // and about an order
)

// A reading has a model read why calls were refused.
type reading struct {
	Forecast *forecast

	db        *store.Store
	back      *agent.Backends
	calls     []*refusals.Call
	questions []*orders.Question
	may       func(*refusals.Call) bool
	shown     []*hooktest.Session // of which the questions are
	clock     time.Duration
	sessionOf map[[2]string]*harvest.Session
}

// A forecast is what reading takes, estimated before anything is spent: schema 1.
type forecast struct {
	Schema  int             `json:"schema"`
	Model   string          `json:"model"`
	Stats   refusals.Stats  `json:"stats"`       // its Calls are those to come
	Groups  int             `json:"group_calls"` // to come, to put the rules together that are one
	Orders  int             `json:"order_calls"` // to come, about the order that a rule asks for
	Tokens  int64           `json:"tokens"`
	CostUSD *float64        `json:"cost_usd"`
	Sends   []outgoing.Send `json:"sends,omitempty"`

	free bool
}

func (fc *forecast) String() string {
	n := min(fc.Stats.Unread-fc.Stats.Withheld, mostCalls)
	what := plain.Counted(n, "call") + " that you refused are to be read twice"
	switch {
	case n == 0 && fc.Groups > 0:
		what = "the rules for which you refused calls are to be put together"
	case n == 0:
		what = plain.Counted(fc.Orders, "rule") + " that you corrected may be about an order of commands"
	}
	line := fmt.Sprintf("forecast: %s by %s, %s, about %s tokens, %s", what, fc.Model, plain.Counted(fc.calls(), "request"), plain.Thousands(fc.Tokens), campaign.CostWords(fc.CostUSD, fc.free))
	return strings.Join(append([]string{line}, outgoing.Lines(fc.Sends)...), "\n")
}

// calls are all requests to come.
func (fc *forecast) calls() int { return fc.Stats.Calls + fc.Groups + fc.Orders }

// prepare opens the model and counts what there is to read. The reading must be closed, with an
// error too.
func prepare(ctx context.Context, r *campaign.Runner, db *store.Store, spec agent.Spec, clock time.Duration, calls []*refusals.Call, corrected []*Order) (*reading, error) {
	spec.TextOnly = true
	back, err := r.Backends(ctx, &spec)
	if err != nil {
		return nil, err
	}
	g := &reading{db: db, back: back, calls: calls, clock: clock, sessionOf: map[[2]string]*harvest.Session{}}
	stored, err := db.Sessions(ctx, store.SessionFilter{Text: true, Bare: true})
	if err != nil {
		return g, err
	}
	for i := range stored {
		g.sessionOf[[2]string{stored[i].Agent, stored[i].ID}] = &stored[i]
	}
	readable, err := r.Control.Sessions(ctx, db, back, []string{agent.Mine}, "")
	if err != nil {
		return g, err
	}
	shows := hooktest.Shows(stored, readable) // a reply goes with its session
	g.may = func(c *refusals.Call) bool { return shows(c.Agent, c.Session) }
	for _, o := range corrected {
		if q := o.question(shows); q != nil {
			g.questions, g.shown = append(g.questions, q), append(g.shown, o.shown...)
		}
	}
	count := &counter{id: back.Miner.Identity()}
	fc := &forecast{Schema: 1, Model: agent.ModelName(spec.ReflectAgent, spec.ReflectModel), CostUSD: new(float64), free: agent.KindOf(spec.ReflectAgent).Simulated}
	g.Forecast = fc
	if fc.Stats, err = g.read(ctx, count); err != nil {
		return g, err
	}
	groups, err := g.group(ctx, count, min(fc.Stats.Unread-fc.Stats.Withheld, mostCalls))
	if fc.Groups = groups.Calls; err != nil {
		return g, err
	}
	ordered, err := g.order(ctx, count)
	if fc.Orders = ordered.Calls; err != nil || fc.calls() == 0 {
		return g, err
	}
	out := int64(2*replyOf*min(fc.Stats.Unread-fc.Stats.Withheld, mostCalls) + replyOrder*fc.Orders)
	if fc.Tokens = count.in + out; !fc.free {
		fc.CostUSD = spec.Price(spec.ReflectModel).USD(&eval.Usage{Input: count.in, Output: out})
	}
	if fc.Sends, err = r.Control.Forecast(ctx, db, back, nil, map[string]int64{agent.Mine: count.bytes}); err != nil {
		return g, err
	}
	projects := g.projects()
	for i := range fc.Sends {
		fc.Sends[i].Projects = projects
	}
	return g, nil
}

// projects are the folders of the sessions of which something is shown, with their number.
func (g *reading) projects() []outgoing.Project {
	var folders []string
	seen := map[[2]string]bool{}
	for _, c := range g.calls {
		of := [2]string{c.Agent, c.Session}
		if !seen[of] && g.may(c) && g.sessionOf[of] != nil {
			seen[of], folders = true, append(folders, g.sessionOf[of].CWD)
		}
	}
	for _, s := range g.shown {
		if of := [2]string{s.Agent, s.ID}; !seen[of] {
			seen[of], folders = true, append(folders, s.CWD)
		}
	}
	return outgoing.OfSessions(folders)
}

func (g *reading) read(ctx context.Context, model eval.Model) (refusals.Stats, error) {
	r := refusals.Reader{Model: model, Memory: g.db, Redactor: g.back.Redactor, Most: mostCalls, May: g.may}
	return r.Read(ctx, g.calls)
}

// order asks what has to run before what for a rule.
func (g *reading) order(ctx context.Context, model eval.Model) (orders.Stats, error) {
	return orders.Reader{Model: model, Memory: g.db, Redactor: g.back.Redactor}.Read(ctx, g.questions)
}

// group puts the rules of the calls together that are one, however they are worded; expected
// is how many there will be more.
func (g *reading) group(ctx context.Context, model eval.Model, expected int) (rules.Grouping, error) {
	of := map[*harvest.Session]*refusals.Call{}
	var sessions []*harvest.Session
	for _, c := range g.calls {
		if c.Label != nil {
			s := ruled(c.Session, c.Label.Rule)
			of[s], sessions = c, append(sessions, s)
		}
	}
	_, stats, err := rules.Grouper{Model: model, Memory: g.db, Redactor: g.back.Redactor, Expected: expected,
		May: func(s *harvest.Session) bool { return g.may(of[s]) }}.Group(ctx, sessions)
	return stats, err
}

// ruled is a session of which only one rule is known, as a Grouper takes it.
func ruled(id, rule string) *harvest.Session {
	return &harvest.Session{ID: id, Turns: []harvest.Turn{{Reading: &harvest.Reading{Rule: rule}}}}
}

// wordings are those of the groups that rules are in, as far as a model has put them together.
func wordings(ctx context.Context, db *store.Store, sessions []*hooktest.Session) (map[string]string, error) {
	if db == nil {
		return nil, nil
	}
	var of []*harvest.Session
	for _, s := range sessions {
		for i := range s.Calls {
			if t := s.Told(&s.Calls[i]); t.Rule != "" {
				of = append(of, ruled(s.ID, t.Rule))
			}
		}
	}
	found, _, err := rules.Grouper{Memory: db}.Group(ctx, of)
	return found, err
}

// run has the calls read within a budget. What was read is kept, also if an error ended it.
func (g *reading) run(ctx context.Context, budget *eval.Budget) (refusals.Stats, error) {
	if err := g.back.Ping(ctx); err != nil {
		return g.Forecast.Stats, err
	}
	limit := &readlimit.Failures{Model: &eval.Metered{Model: g.back.Miner, By: eval.ByMiner, Budget: budget, Redactor: g.back.Redactor, WallClock: g.clock}}
	stats, err := g.read(ctx, limit)
	if err == nil {
		_, err = g.group(ctx, limit, 0)
	}
	if err == nil {
		_, err = g.order(ctx, limit)
	}
	if err == nil {
		err = limit.Unanswered()
	}
	return stats, err
}

// close releases what the reading holds. It does nothing for nil.
func (g *reading) close() {
	if g != nil {
		_ = g.back.Close() // what stays behind does no harm
	}
}

// A counter counts what a model would be asked.
type counter struct {
	id    eval.Identity
	mu    sync.Mutex
	in    int64 // tokens, estimated
	bytes int64
}

func (c *counter) Identity() eval.Identity { return c.id }

func (c *counter) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in += int64(skill.Tokens(p.System) + skill.Tokens(p.User))
	c.bytes += int64(len(p.System) + len(p.User))
	return eval.Completion{}, &eval.InfraError{Kind: eval.Unreachable, Err: errors.New("only counted")}
}
