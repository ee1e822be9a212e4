package hooktest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval/guard"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/events"
	"github.com/skill-evolve/evolve/harvest/refusals"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/hookcases"
)

// Told is what is known of whether a call should have been stopped.
type Told struct {
	Label  guard.Label
	Rule   string // of a Stop, in a model's words
	Words  string // of a Stop: its user's own
	Source hookcases.Source
	From   string // of a Correction: see hookcases.Case
}

// Told is what is known of an event of the session.
func (s *Session) Told(e *events.Event) Told {
	if e.Name == events.PreToolUse {
		if t, ok := s.told[refusals.ID(e)]; ok {
			return t
		}
		if e.Outcome == events.Permitted {
			return Told{Label: guard.Go}
		}
	}
	return Told{}
}

// Tell notes what is known of a call.
func (s *Session) Tell(call string, t Told) {
	if s.told == nil {
		s.told = map[string]Told{}
	}
	s.told[call] = t
}

// Labelled are sessions with what is known of their calls.
type Labelled struct {
	Sessions []*Session // the newest first; those without a wanted event are left out
	Stored   int        // wanted events of these that are in no transcript any more
	Unusable int        // stored ones that decide nothing, because of what was taken out of them
}

// A Choice is which events are wanted: of an agent, or of all for "", since a time.
type Choice struct {
	Agent string
	Since time.Time
	Wants func(*events.Event) bool
}

// Label tells what should have happened to the calls of sessions, as far as db knows why they
// were refused, or corrected afterwards. What is known is kept as cases; of sessions that have no transcript any more
// the cases are added, if they may still be read. A nil db knows nothing.
func (p Parts) Label(ctx context.Context, db *store.Store, sessions []*Session, c Choice) (*Labelled, error) {
	for _, s := range sessions {
		for _, call := range s.Refused {
			if call.Label != nil {
				s.Tell(call.ID, Told{Label: guard.Stop, Rule: call.Label.Rule, Words: call.Label.Words, Source: hookcases.Refusal})
			}
		}
	}
	l := &Labelled{}
	if db != nil {
		if err := tellCorrected(ctx, db, sessions); err != nil {
			return nil, err
		}
		if _, err := hookcases.Keep(ctx, db, p.Redactor(), casesOf(sessions)); err != nil {
			return nil, err
		}
		stored, err := hookcases.Of(ctx, db, hookcases.Filter{Since: c.Since})
		if err != nil {
			return nil, err
		}
		gate, err := p.Gate()
		if err != nil {
			return nil, err
		}
		stored = slices.DeleteFunc(stored, func(s hookcases.Session) bool {
			return !gate.MayRead(s.Folders) || c.Agent != "" && s.Agent != c.Agent
		})
		sessions = l.join(sessions, stored, c.Wants)
	}
	l.Sessions = slices.DeleteFunc(sessions, func(s *Session) bool { return len(s.Events) == 0 })
	slices.SortStableFunc(l.Sessions, func(a, b *Session) int { return cmp.Or(b.Began().Compare(a.Began()), strings.Compare(a.ID, b.ID)) })
	return l, nil
}

// casesOf are the cases in sessions.
func casesOf(sessions []*Session) (out []hookcases.Session) {
	for _, s := range sessions {
		of := hookcases.Session{Agent: s.Agent, ID: s.ID, Project: s.CWD, Folders: s.Folders, First: s.First, Last: s.Last}
		for i := range s.Calls {
			e := &s.Calls[i]
			if t := s.Told(e); t.Label != guard.Unlabelled {
				of.Cases = append(of.Cases, hookcases.Case{Call: refusals.ID(e), Event: e.Name, Tool: e.Tool, Time: e.Time, Input: e.Input,
					Label: t.Label, Rule: t.Rule, Words: t.Words, Source: t.Source, From: t.From})
			}
		}
		if len(of.Cases) > 0 {
			out = append(out, of)
		}
	}
	return out
}

// join adds what is stored: to a call of a transcript what was known of it, and calls that are
// in no transcript as events of their sessions, if they are wanted.
func (l *Labelled) join(sessions []*Session, stored []hookcases.Session, wants func(*events.Event) bool) []*Session {
	type call struct{ agent, id string }
	in, byID := map[call]*Session{}, map[call]*Session{}
	for _, s := range sessions {
		byID[call{s.Agent, s.ID}] = s
		for i := range s.Calls {
			in[call{s.Agent, refusals.ID(&s.Calls[i])}] = s
		}
	}
	for _, of := range stored {
		for i, c := range append(of.Cases[:len(of.Cases):len(of.Cases)], of.Unusable...) {
			t := Told{c.Label, c.Rule, c.Words, c.Source, c.From}
			if s := in[call{of.Agent, c.Call}]; s != nil { // which may be a fork of it
				if _, ok := s.told[c.Call]; !ok {
					s.Tell(c.Call, t)
				}
				if s.ID != of.ID {
					s.copies = of.ID
				}
				continue
			}
			e := events.Event{Name: c.Event, Tool: c.Tool, Call: c.Call, Input: c.Input, Time: c.Time, Outcome: outcomeOf(&c), Words: c.Words}
			if !wants(&e) {
				continue
			}
			if i >= len(of.Cases) {
				l.Unusable++
				continue
			}
			s := byID[call{of.Agent, of.ID}]
			if s == nil {
				s = &Session{Agent: of.Agent, ID: of.ID, CWD: of.Project, Folders: of.Folders, First: of.First, Last: of.Last}
				byID[call{of.Agent, of.ID}], sessions = s, append(sessions, s)
			}
			l.Stored++
			s.Tell(c.Call, t)
			s.Events, s.Calls = append(s.Events, e), append(s.Calls, e)
			slices.SortStableFunc(s.Events, func(a, b events.Event) int { return a.Time.Compare(b.Time) })
		}
	}
	return sessions
}

// outcomeOf is what became of a stored call.
func outcomeOf(c *hookcases.Case) events.Outcome {
	switch {
	case c.Label == guard.Go:
		return events.Permitted
	case c.Source == hookcases.Refusal:
		return events.Refused
	}
	return events.Ran
}

// What is the part of an event's input that a person tells it by, redacted and short.
func (p Parts) What(e *events.Event) string {
	text, _ := harvest.Clean(p.Redactor(), what(e))
	return harvest.Head(text, maxWhat)
}

const maxWhat = 300 // characters

// Shows reports whether a session is stored, and it and all its subagents, whose calls are its
// own and who may have worked in other folders, are readable; nil is that all are.
func Shows(stored []harvest.Session, readable func(*harvest.Session) bool) func(agent, session string) bool {
	may := map[[2]string]bool{}
	for i := range stored {
		s := &stored[i]
		main, _, _ := strings.Cut(s.ID, "/")
		key := [2]string{s.Agent, main}
		before, seen := may[key]
		may[key] = (before || !seen) && (readable == nil || readable(s))
	}
	return func(agent, session string) bool { return may[[2]string{agent, session}] }
}
