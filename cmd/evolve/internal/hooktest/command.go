// Package hooktest is the command that replays a guard on the recorded calls.
package hooktest

import (
	"cmp"
	"context"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/guard"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/harvest/events"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/harvest/refusals"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/report"
)

// Parts are what the command works with, opened when it runs.
type Parts struct {
	Terminal *term.Terminal
	Layout   func() *skill.Layout
	Gate     func() (*consent.Gate, error) // which projects may be read
	Redactor func() redact.Redactor
	Program  func() (string, error) // this one
	// Store holds what a model has read of refusals, and cases; nil if there is none yet.
	Store func(context.Context) (*store.Store, error)
}

// deliver is the name of the hidden command that runs in the sandbox.
const deliver = "deliver"

// Commands are `evolve hooks test`, and what it starts in the sandbox.
func (p Parts) Commands() []*cobra.Command {
	var event, since string
	test := &cobra.Command{
		Use:   "test NAME",
		Short: "Replay a guard on your recorded calls",
		Long: `test replays a hook of Claude Code, Codex or Copilot, whoever wrote it, on what your sessions recorded:
which calls it stops, in how many sessions it stops one that you were asked about and
permitted, and how long it takes. NAME is the path of a script or a rule file, or the
command or the name of its file in your settings or those of the project.

The hook runs in the sandbox, without a network and without your files: it sees its own
folder, and an empty home for each session. Each event is delivered twice, because
agents may do so: the second time it must decide the same and change nothing. Calls of
harvested sessions of which it is known whether they should be stopped are kept,
redacted, for when their transcripts are gone; nothing else is written.`,
		Example: "  evolve hooks test no-reset\n  evolve hooks test ~/.claude/hooks/no-reset.py --since 90d\n  evolve hooks test ./lint.sh --event Stop",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return p.test(c.Context(), args[0], event, since)
		},
	}
	test.Flags().StringVar(&event, "event", "", "the event to deliver (default: those of the settings; of a script PreToolUse)")
	test.Flags().StringVar(&since, "since", "30d", "how far back sessions are read")
	serve := &cobra.Command{Use: deliver, Short: "Deliver events to a hook (called by `evolve hooks test`, in a sandbox)", Hidden: true, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return guard.Serve(c.Context(), p.Terminal.Stdin, p.Terminal.Stdout)
		}}
	return []*cobra.Command{test, serve}
}

func (p Parts) test(ctx context.Context, name, event, since string) error {
	g, err := p.find(name, event)
	if err != nil {
		return err
	}
	sessions, from, err := p.Recorded(ctx, since, g.agent, g.wants)
	if err != nil {
		return err
	}
	db, err := p.Store(ctx)
	if err != nil {
		return err
	}
	r := &Result{Schema: 1, Name: name, Since: from}
	if r.read, err = recall(ctx, db, sessions); err != nil {
		return err
	}
	l, err := p.Label(ctx, db, sessions, Choice{g.agent, from, g.wants})
	if err != nil {
		return err
	}
	r.Stored, r.Unusable = l.Stored, l.Unusable
	answers, err := p.replay(ctx, g, l.Sessions)
	if err != nil {
		return err
	}
	p.fill(r, g, l.Sessions, answers)
	return p.print(r)
}

// find is the guard that name names, if it can be run.
func (p Parts) find(name, event string) (*found, error) {
	f, err := p.finder()
	if err != nil {
		return nil, err
	}
	g, err := f.find(name, event)
	if err != nil {
		return nil, err
	}
	if err := process.Available(); err != nil {
		return nil, problem.Inputf("a hook is run in a sandbox or not at all", "%v", err)
	}
	return g, nil
}

// recall sets the labels of refused calls that a model has read; read: there are some.
func recall(ctx context.Context, db *store.Store, sessions []*Session) (read bool, err error) {
	if db == nil {
		return false, nil
	}
	var all []*refusals.Call
	for _, s := range sessions {
		all = append(all, s.Refused...)
	}
	r := refusals.Reader{Memory: db}
	stats, err := r.Read(ctx, all)
	return stats.Read > 0, err
}

// Recorded are the sessions that may be read since an age, of one agent, or of all for "", with
// the events that are wanted.
func (p Parts) Recorded(ctx context.Context, since, agent string, wants func(*events.Event) bool) (all []*Session, from time.Time, err error) {
	age, err := backend.ParseAge(since)
	if err != nil {
		return nil, from, problem.Inputf("for example --since 30d, --since 12h", "--since %q is no age", since)
	}
	homes, err := backend.Homes(p.Layout())
	if err != nil {
		return nil, from, err
	}
	gate, err := p.Gate()
	if err != nil {
		return nil, from, err
	}
	from = p.Terminal.Now().Add(-age)
	o := harvest.Options{Redactor: p.Redactor(), Since: from, Allowed: gate.Allowed, MayRead: gate.MayRead}
	for _, home := range homes {
		if events.Rebuild[home.Agent] == nil || agent != "" && agent != home.Agent {
			continue
		}
		found, problems, err := read(ctx, home, o, wants)
		if err != nil {
			return nil, from, err
		}
		for _, x := range problems {
			if !x.Remark {
				p.Terminal.Say("hooks: %s: %s", x.Path, x.Reason)
			}
		}
		all = append(all, found...)
	}
	if len(all) == 0 && gate.Waits() {
		p.Terminal.Say("hooks: no project may be read yet: `evolve projects`")
	}
	return all, from, nil
}

// replay delivers what sessions recorded.
func (p Parts) replay(ctx context.Context, g *found, sessions []*Session) ([][]guard.Answer, error) {
	deliveries := make([]guard.Session, len(sessions))
	for i, s := range sessions {
		for _, e := range s.Events {
			deliveries[i] = append(deliveries[i], g.event(&e))
		}
	}
	return p.deliver(ctx, &g.Guard, deliveries)
}

// deliver replays a guard on sessions.
func (p Parts) deliver(ctx context.Context, g *guard.Guard, sessions []guard.Session) ([][]guard.Answer, error) {
	bar := p.Terminal.Watch(report.Task{Phase: "replay", Unit: "events"})
	defer bar.Done()
	program, err := p.Program()
	if err != nil {
		return nil, err
	}
	player := guard.Player{Runner: []string{program, "hooks", deliver}, Readable: []string{program, real(program)}}
	if helper, err := exec.LookPath("hook-kit"); err == nil { // what hooks of `evolve hooks new` call
		player.Readable = append(player.Readable, helper, real(helper))
	}
	return player.Play(ctx, *g, sessions, bar.Count)
}

// A Result is what `evolve hooks test --json` prints: schema 1.
type Result struct {
	Schema  int          `json:"schema"`
	Name    string       `json:"name"`
	Command string       `json:"command"`
	Events  []string     `json:"events"`
	Since   time.Time    `json:"since"`
	Changed time.Time    `json:"changed,omitzero"` // when its script last was
	Score   *guard.Score `json:"score"`
	// Wrong are the calls that it got wrong: permitted ones that it blocks.
	Wrong []Call `json:"wrong"`
	// Stops are calls that it blocks and about which nothing is known.
	Stops []Call `json:"stops"`
	// Again are events of which a second delivery did something.
	Again []Call `json:"again"`
	// Refused are calls that their user refused, and whether it blocks them.
	Refused []Call `json:"refused"`
	// Corrected are calls that ran, and that their user then corrected by a rule.
	Corrected []Call         `json:"corrected"`
	Stored    int            `json:"stored,omitempty"`   // events that are in no transcript any more
	Unusable  int            `json:"unusable,omitempty"` // further ones that decide nothing
	failure   string         // of the first that failed
	failed    guard.Decision // what that came to
	read      bool           // why some calls were refused
}

// fill counts what the guard decided.
func (p Parts) fill(r *Result, g *found, sessions []*Session, answers [][]guard.Answer) {
	r.Command, r.Events, r.Changed = g.Command, []string{}, g.changed
	r.Wrong, r.Stops, r.Again, r.Refused, r.Corrected = []Call{}, []Call{}, []Call{}, []Call{}, []Call{}
	for _, on := range g.on {
		one := on.Event
		if on.Matcher != "" {
			one += " " + on.Matcher
		}
		r.Events = append(r.Events, one)
	}
	red := p.Redactor()
	clean := func(text string) string { text, _ = harvest.Clean(red, text); return text }
	var cases []guard.Case
	for i, s := range sessions {
		for k := range s.Events {
			e, a := &s.Events[k], answers[i][k]
			refused, known := e.Outcome == events.Refused, s.Told(e)
			is := known.Label
			cases = append(cases, guard.Case{Session: s.ID, Label: is, Refused: refused, Later: !g.changed.IsZero() && e.Time.After(g.changed), Answer: a})
			if a.Failed && r.failure == "" {
				r.failure, r.failed = clean(a.Reason), a.Decision
			}
			call := Call{Session: s.ID, Time: e.Time, Event: e.Name, Tool: e.Tool, Outcome: e.Outcome, Label: is, Decision: a.Decision, Second: a.Second}
			blocks := a.Decision == guard.Block
			if !blocks && a.Second == "" && !refused && is != guard.Stop {
				continue
			}
			call.What, call.Words, call.Reason = clean(what(e)), clean(cmp.Or(e.Words, known.Words)), clean(a.Reason)
			switch {
			case refused:
				r.Refused = append(r.Refused, call)
			case is == guard.Stop:
				r.Corrected = append(r.Corrected, call)
			case blocks && is == guard.Go:
				r.Wrong = append(r.Wrong, call)
			case blocks:
				r.Stops = append(r.Stops, call)
			}
			if a.Second != "" {
				r.Again = append(r.Again, call)
			}
		}
	}
	r.Score = guard.Count(cases, !g.changed.IsZero())
}
