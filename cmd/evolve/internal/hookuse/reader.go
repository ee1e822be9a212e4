package hookuse

import (
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/hooktest"
	"github.com/skill-evolve/evolve/eval/guard"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/events"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/harvest/refusals"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// counted is a guard whose decisions are counted.
type counted struct {
	*hooktest.Installed // nil if it is not in the settings
	report              *Guard
	texts               []string        // of its scripts
	sessions            map[string]bool // in which it stopped calls
	hand                map[string]bool // calls that a user decided
}

// maxScript bounds the text of a script, in bytes.
const maxScript = 1 << 20

func textsOf(scripts []string) (out []string) {
	for _, path := range scripts {
		if text, err := bounded.ReadFile(path, maxScript); err == nil {
			out = append(out, string(text))
		}
	}
	return out
}

// reader reads sessions one by one.
type reader struct {
	red     redact.Redactor
	notes   notes
	guards  []*counted
	unnamed []Unnamed
}

// guard adds one; in is nil if settings do not name it.
func (r *reader) guard(name, agent, command string, in *hooktest.Installed) *counted {
	g := &counted{Installed: in, sessions: map[string]bool{}, hand: map[string]bool{},
		report: &Guard{Name: r.clean(name), Agent: agent, Command: r.clean(command), Installed: in != nil, Calls: []Call{}}}
	if in != nil {
		g.texts = textsOf(in.Scripts)
	}
	r.guards = append(r.guards, g)
	return g
}

func (r *reader) clean(text string) string {
	text, _ = harvest.Clean(r.red, text)
	return text
}

// A decision is of one or more guards on a call.
type decision struct {
	by     []by // nil: nothing tells
	ask    bool
	reason string
	time   time.Time // when the agent was told
}

// by is a guard, and what tells that it was this one.
type by struct {
	*counted
	known string
}

func (d *decision) of(g *counted) bool {
	return slices.ContainsFunc(d.by, func(b by) bool { return b.counted == g })
}

// session counts what guards decided in one.
func (r *reader) session(s *hooktest.Session) {
	for i := range s.Events {
		e := &s.Events[i]
		if e.Name != events.PreToolUse {
			continue
		}
		for _, d := range r.decisions(s, e, r.notes.of(e)) {
			r.count(s, i, d)
		}
	}
}

// left counts the decisions on the bus whose call no transcript has, or not yet. Nothing is
// told of a session that was not read.
func (r *reader) left(s *hooktest.Session) {
	for _, n := range r.notes[s.ID] {
		if !n.found {
			r.add(r.orNew(r.named(s, n.hook), s, n.hook), Call{Session: s.ID, Time: n.time, Decision: n.decision, Known: "bus"})
		}
	}
}

// decisions are those that stand: of a call that ran none stopped it, whatever was noted.
func (r *reader) decisions(s *hooktest.Session, e *events.Event, noted []note) (out []decision) {
	var block *decision
	for _, said := range e.Said {
		if said.Command != "" && hook.Ours(said.Command) {
			return nil
		}
		d := decision{ask: said.Ask, reason: said.Reason, time: said.Time}
		if said.Command != "" {
			d.by = []by{{r.byCommand(s, said.Command), "command"}}
		}
		out = append(out, d)
	}
	if i := slices.IndexFunc(out, func(d decision) bool { return !d.ask }); i >= 0 {
		out = out[i : i+1] // a question that nobody saw
		block = &out[0]
	}
	for _, n := range noted {
		g, ask := r.named(s, n.hook), n.decision == guard.Ask
		switch {
		case slices.ContainsFunc(out, func(d decision) bool { return d.of(g) || g == nil && d.by != nil }):
			// It is counted; or it may be, under the name of its command.
		case ask && block == nil:
			out = append(out, decision{by: []by{{r.orNew(g, s, n.hook), "bus"}}, ask: true, time: e.Time})
		case !ask && block != nil:
			block.by = append(block.by, by{r.orNew(g, s, n.hook), "bus"})
		case !ask && (e.Outcome == events.Stopped || e.Outcome == events.Unknown):
			out = append(out, decision{by: []by{{r.orNew(g, s, n.hook), "bus"}}, time: e.Time})
			block = &out[len(out)-1]
		}
	}
	if block != nil && block.by == nil {
		if g := r.byReason(s, e, block.reason); g != nil {
			block.by = []by{{g, "reason"}}
		}
	}
	return out
}

// calls reports whether settings have the guard called in a session.
func (g *counted) calls(s *hooktest.Session) bool {
	return g.Installed != nil && g.Agent == s.Agent && (g.Project == "" || s.CWD != "" && skill.Within(s.CWD, []string{g.Project}))
}

// find is a guard that is called in a session, or one that is in no settings here; nil if there
// is none yet.
func (r *reader) find(s *hooktest.Session, is func(*counted) bool) *counted {
	for _, g := range r.guards {
		if (g.calls(s) || g.Installed == nil && g.report.Agent == s.Agent) && is(g) {
			return g
		}
	}
	return nil
}

func (r *reader) byCommand(s *hooktest.Session, command string) *counted {
	g := r.find(s, func(g *counted) bool {
		return g.Installed != nil && g.Installed.Command == command || g.Installed == nil && g.report.Command == r.clean(command)
	})
	if g == nil {
		g = r.guard(hooktest.Called(command), s.Agent, command, nil)
	}
	return g
}

// named is the guard that calls itself so on the bus; nil if there is none yet.
func (r *reader) named(s *hooktest.Session, name string) *counted {
	return r.find(s, func(g *counted) bool {
		return g.report.Name == name || g.Installed != nil && (g.Named(name) ||
			slices.ContainsFunc(g.texts, func(text string) bool { return calledIn(text, name) }))
	})
}

func (r *reader) orNew(g *counted, s *hooktest.Session, name string) *counted {
	if g == nil {
		g = r.guard(name, s.Agent, "", nil)
	}
	return g
}

// calledIn reports whether a script gives itself a name.
func calledIn(text, name string) bool {
	for line := range strings.Lines(text) {
		if _, value, ok := strings.Cut(line, "HOOK_NAME"); ok && slices.Contains(strings.FieldsFunc(value, func(c rune) bool { return strings.ContainsRune(" \t\r\n=\"'[];", c) }), name) {
			return true
		}
	}
	return false
}

// leastReason is how long a reason has to be that names its script, in bytes: shorter words
// stand in many.
const leastReason = 8

// byReason is the only guard that is called for a call and has the reason in its script.
func (r *reader) byReason(s *hooktest.Session, e *events.Event, reason string) (found *counted) {
	if len(reason) < leastReason {
		return nil
	}
	for _, g := range r.guards {
		if g.calls(s) && g.Wants(e) && slices.ContainsFunc(g.texts, func(text string) bool { return strings.Contains(text, reason) }) {
			if found != nil {
				return nil
			}
			found = g
		}
	}
	return found
}

// count adds a decision on the i-th event of a session.
func (r *reader) count(s *hooktest.Session, i int, d decision) {
	e := &s.Events[i]
	c := Call{Session: s.ID, Time: e.Time, Tool: e.Tool, What: r.clean(hooktest.What(e)), Decision: guard.Block, Reason: r.clean(d.reason), Outcome: e.Outcome, id: refusals.ID(e)}
	if d.ask {
		c.Decision = guard.Ask
	} else {
		c.Back = r.back(s, i, d.time)
	}
	if !d.ask || e.Outcome == events.Refused {
		c.Said = r.said(s, i)
	}
	for _, b := range d.by {
		c.Known = b.known
		r.add(b.counted, c)
	}
	if d.by == nil {
		r.addUnnamed(s, e, c)
	}
}

func (r *reader) addUnnamed(s *hooktest.Session, e *events.Event, c Call) {
	may := []string{}
	for _, g := range r.guards {
		if g.calls(s) && g.Wants(e) {
			may = append(may, g.Name)
		}
	}
	i := slices.IndexFunc(r.unnamed, func(u Unnamed) bool { return slices.Equal(u.May, may) })
	if i < 0 {
		i = len(r.unnamed)
		r.unnamed = append(r.unnamed, Unnamed{May: may})
	}
	r.unnamed[i].Calls = append(r.unnamed[i].Calls, c)
}

// add counts a call of a guard.
func (r *reader) add(g *counted, c Call) {
	to := g.report
	to.Calls = append(to.Calls, c)
	if to.Since.IsZero() || c.Time.Before(to.Since) {
		to.Since = c.Time
	}
	if c.Decision == guard.Ask {
		to.Asked++
		g.decided(c.Session, c.id, c.Outcome)
		return
	}
	to.Stopped++
	g.sessions[c.Session] = true
	to.Sessions = len(g.sessions)
	if c.Back == nil {
		return
	}
	if c.Back.How == same {
		to.Same++
	} else {
		to.Rewritten++
	}
	if c.Back.Outcome == events.Ran || c.Back.Outcome == events.Permitted {
		to.Ran++
	}
	g.decided(c.Session, c.Back.id, c.Back.Outcome)
}

// decided counts what a user decided of a call, once.
func (g *counted) decided(session, id string, became events.Outcome) {
	key := session + "\x00" + id
	if g.hand[key] {
		return
	}
	g.hand[key] = true
	switch became {
	case events.Permitted:
		g.report.Permitted++
	case events.Refused:
		g.report.Refused++
	}
}

func (r *reader) report(from time.Time) *Report {
	out := &Report{Since: from, Guards: []*Guard{}, Unnamed: append([]Unnamed{}, r.unnamed...)}
	newest := func(a, b Call) int { return b.Time.Compare(a.Time) }
	for _, g := range r.guards {
		slices.SortStableFunc(g.report.Calls, newest)
		out.Guards = append(out.Guards, g.report)
	}
	for i := range out.Unnamed {
		slices.SortStableFunc(out.Unnamed[i].Calls, newest)
	}
	slices.SortStableFunc(out.Guards, func(a, b *Guard) int { return b.Stopped + b.Asked - a.Stopped - a.Asked })
	return out
}
