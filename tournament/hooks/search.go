package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/guard"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
)

// How much a prompt shows.
const (
	shownMissed = 6
	shownWrong  = 4
	shownRight  = 4
	shownOthers = 4
	shownTried  = 5
)

// Options are the choices of a search.
type Options struct {
	Seed     int64    // of everything random; of a Run, less than 0 for one of its own
	Calls    int      // of the mutator at most
	Patience int      // calls without a better text before it ends
	Weight   float64  // how many misses a wrong block counts as
	Event    string   // at which the hook is called
	Approved [][]byte // texts that the firewall held, and that their owner lets be tried
	Rejected []string // SHA-256 of texts that their owner wants never again
}

// An Engine looks for a better script and tries it. Its decisions are a function of the seed,
// the sessions and the recorded replies.
type Engine struct {
	Play    Player
	Mutator eval.Model
	Log     *record.Log
	Options Options
}

// A Text is one that was tried on every session of the search.
type Text struct {
	Doc   *skill.Document
	Seq   int
	Marks []Mark

	tried []string // changes of it that did not help
}

func (t *Text) stopped() (n int) {
	for i := range t.Marks {
		n += t.Marks[i].Stopped
	}
	return n
}

// A Found is what a search ends with. Best is Root if nothing is better.
type Found struct {
	Root, Best *Text
	Sessions   []Session // that the search has heard
	Calls      int
	Invalid    int // proposals that broke a rule before any run
	Held       []record.Candidate
	Stop       string // why it ended
}

// Score is how a text did in the sessions of the search.
func (f *Found) Score(t *Text) Score { return score(t.Doc.Render(), t.Marks) }

// A searching is a search under way.
type searching struct {
	*Engine
	sessions []Session
	train    []int // sessions that a mutator is shown
	val      []int // those that it is not
	pool     []*Text
	fronts   *pareto.Instances
	rand     *rand.Rand
	found    *Found
	seen     map[string]bool
	seq      int
}

// Search looks for a text that decides better than root in sessions, which are in the order of
// time. The error leaves nothing to use: ctx's, the journal's, that no sandbox runs the hook, or
// the model's; what was paid for is recorded, and the same search goes on from there.
func (e *Engine) Search(ctx context.Context, root *skill.Document, sessions []Session) (*Found, error) {
	s := &searching{Engine: e, sessions: sessions, seen: map[string]bool{root.Hash(): true}, found: &Found{Sessions: sessions}}
	for _, sha := range e.Options.Rejected {
		s.seen[sha] = true
	}
	s.begin()
	first, err := s.try(ctx, root, nil, "found", "")
	if err != nil {
		return nil, err
	}
	s.found.Root, s.found.Best = first, first
	for _, text := range e.Options.Approved {
		if err := s.approved(ctx, root, text); err != nil {
			return nil, err
		}
	}
	for idle := 0; s.found.Stop == ""; {
		switch {
		case s.loss(s.found.Best, nil) == 0:
			s.found.Stop = "it decides all of them right"
		case s.found.Calls >= e.Options.Calls:
			s.found.Stop = fmt.Sprintf("the model was asked %d times", s.found.Calls)
		case idle >= e.Options.Patience:
			s.found.Stop = fmt.Sprintf("nothing better came in %d calls", idle)
		default:
			better, err := s.step(ctx, root)
			if err != nil {
				return nil, err
			}
			if idle++; better {
				idle = 0
			}
		}
	}
	return s.found, nil
}

func (s *searching) begin() {
	s.rand = rand.New(rand.NewPCG(uint64(s.Options.Seed), 1))
	s.fronts = pareto.NewInstances(len(s.sessions))
	s.split()
}

// split keeps every third session with something to stop, and every third of the others, from
// the mutator: a text that repeats what it was shown does not do well there.
func (s *searching) split() {
	var n [2]int
	for i := range s.sessions {
		kind := 0
		if slices.ContainsFunc(s.sessions[i].Events, func(e Event) bool { return e.Label == guard.Stop }) {
			kind = 1
		}
		if n[kind]++; n[kind]%3 == 0 {
			s.val = append(s.val, i)
		} else {
			s.train = append(s.train, i)
		}
	}
}

// loss sums up that of a text in some sessions, nil for all.
func (s *searching) loss(t *Text, of []int) (sum float64) {
	for i := range t.Marks {
		if of == nil || slices.Contains(of, i) {
			sum += t.Marks[i].Loss(s.Options.Weight)
		}
	}
	return sum
}

// compare orders texts, the better one first: one that stops less of what should be stopped than
// the owner's is no guard, whatever it no longer gets wrong; then by what no mutator saw, by
// all, by how many calls of which nothing is known they stop, by size and age.
func (s *searching) compare(a, b *Text) int {
	least := s.found.Root.stopped()
	weak := func(t *Text) int { return max(0, least-t.stopped()) }
	others := func(t *Text) (n int) {
		for i := range t.Marks {
			n += t.Marks[i].Others
		}
		return n
	}
	return cmp.Or(cmp.Compare(weak(a), weak(b)), cmp.Compare(s.loss(a, s.val), s.loss(b, s.val)), cmp.Compare(s.loss(a, nil), s.loss(b, nil)), cmp.Compare(others(a), others(b)),
		cmp.Compare(lines(a.Doc.Render()), lines(b.Doc.Render())), cmp.Compare(a.Seq, b.Seq))
}

// step asks for one text and tries it. It reports whether that is the best one now.
func (s *searching) step(ctx context.Context, root *skill.Document) (better bool, err error) {
	parent := s.pool[s.fronts.Pick(s.rand)]
	if s.rand.Float64() < 0.5 { // pure sampling spends most calls on stepping stones
		parent = s.found.Best
	}
	ask := s.prompt(parent)
	if ask == nil {
		parent, ask = s.found.Best, s.prompt(s.found.Best)
	}
	if ask == nil {
		s.found.Stop = "nothing that may be shown to the model is decided wrong"
		return false, nil
	}
	s.found.Calls++
	doc, why, err := ask.Propose(ctx, parent.Doc, s.Options.Seed<<16+int64(s.found.Calls))
	if reply, ok := errors.AsType[*mutate.ReplyError](err); ok {
		s.found.Invalid++
		return false, s.emit(ctx, "proposal", map[string]any{"operator": ask.Name(), "error": reply.Error()})
	}
	if err != nil {
		return false, err
	}
	if s.seen[doc.Hash()] {
		return false, s.emit(ctx, "proposal", map[string]any{"operator": ask.Name(), "error": "it was proposed before"})
	}
	t, err := s.propose(ctx, root, parent, doc, ask.Name(), why)
	if t == nil || err != nil {
		return false, err
	}
	if s.compare(t, s.found.Best) < 0 {
		s.found.Best = t
		return true, nil
	}
	return false, nil
}

// approved tries a text that its owner has approved.
func (s *searching) approved(ctx context.Context, root *skill.Document, text []byte) error {
	doc, err := skill.Parse(text, root.Options())
	if err != nil || doc.KernelHash() != root.KernelHash() || s.seen[doc.Hash()] {
		return nil // it was of another text of the script
	}
	s.seen[doc.Hash()] = true
	t, err := s.try(ctx, doc, s.pool[0], "approved", "its owner let it be tried")
	if err == nil && t != nil && s.compare(t, s.found.Best) < 0 {
		s.found.Best = t
	}
	return err
}

// propose checks a proposal before anything of it runs, and tries it; nil if it may not run.
// What it may do is measured against the owner's text, so small steps do not add up.
func (s *searching) propose(ctx context.Context, root *skill.Document, parent *Text, doc *skill.Document, operator, why string) (*Text, error) {
	s.seen[doc.Hash()] = true
	found := check.Check(root, doc, check.ClaudeCode)
	for _, worst := range []check.Severity{check.Reject, check.Quarantine} {
		for _, f := range found {
			if f.Severity != worst {
				continue
			}
			c := s.candidate(doc, parent, operator)
			c.State, c.Rule, c.Reason = record.Invalid, f.Rule, f.String()
			if worst == check.Quarantine {
				c.State = record.Quarantined
				s.found.Held = append(s.found.Held, *c)
			} else {
				s.found.Invalid++
			}
			parent.tried = append(parent.tried, fmt.Sprintf("%s It was not run, because of %q: %s", why, f.Phrase, f.Reason))
			return nil, s.save(ctx, c)
		}
	}
	return s.try(ctx, doc, parent, operator, why)
}

// try replays a text on all sessions; nil if it does not keep to what an agent expects of a hook.
func (s *searching) try(ctx context.Context, doc *skill.Document, parent *Text, operator, why string) (*Text, error) {
	answers, err := s.Play(ctx, doc.Render(), s.sessions)
	c := s.candidate(doc, parent, operator)
	if err != nil && parent != nil && ctx.Err() == nil { // the owner's text was played: this one ended what plays it
		c.State, c.Rule, c.Reason = record.Invalid, "unplayable", "it could not be replayed: "+plain.Line(err.Error())
		s.found.Invalid++
		parent.tried = append(parent.tried, why+" It could not be replayed.")
		return nil, s.save(ctx, c)
	}
	if err != nil {
		return nil, err
	}
	t := &Text{Doc: doc, Seq: c.Seq, Marks: marks(s.sessions, answers)}
	values := make([]float64, len(s.sessions))
	for i := range t.Marks {
		m := &t.Marks[i]
		values[i] = 1
		if all := float64(m.Stop) + s.Options.Weight*float64(m.Go); all > 0 {
			values[i] -= m.Loss(s.Options.Weight) / all
		}
		if parent != nil && m.Twice != "" && parent.Marks[i].Twice == "" {
			c.State, c.Rule, c.Reason = record.Invalid, "second-delivery", "the same event delivered again: it "+m.Twice
		}
	}
	if parent == nil {
		c.State = record.Seed
	} else if c.State != record.Invalid {
		c.State, c.Reason = record.Pooled, why
		if said := s.worse(t, parent); said != "" {
			c.State = record.Refused
			parent.tried = append(parent.tried, why+" "+said)
		}
	}
	if err := s.save(ctx, c); err != nil {
		return nil, err
	}
	if c.State == record.Invalid {
		s.found.Invalid++
		parent.tried = append(parent.tried, why+" "+c.Reason)
		return nil, nil
	}
	total := score(doc.Render(), t.Marks)
	if c.State != record.Refused {
		s.pool = append(s.pool, t)
		s.fronts.Add(values)
	}
	return t, s.emit(ctx, "tried", map[string]any{"candidate": c.SHA, "stopped": total.Stopped, "to_stop": total.Stop, "wrong_sessions": total.Wrong,
		"permitted_sessions": total.Permitted, "others_stopped": total.Others, "p95_ms": total.P95})
}

// worse says why a text is no step forward from its parent, "" if it is one.
func (s *searching) worse(t, parent *Text) string {
	switch {
	case t.stopped() < min(parent.stopped(), s.pool[0].stopped()):
		return "It stops less of what it should stop."
	case s.loss(t, nil) >= s.loss(parent, nil):
		return "It decides no better."
	}
	return ""
}

func (s *searching) candidate(doc *skill.Document, parent *Text, operator string) *record.Candidate {
	c := &record.Candidate{SHA: doc.Hash(), Run: s.Log.Run, Seq: s.seq, Operator: operator, Text: doc.Render()}
	s.seq++
	if parent != nil {
		c.Parents = []string{parent.Doc.Hash()}
		for _, i := range s.train {
			c.Shown = append(c.Shown, s.sessions[i].ID)
		}
	}
	return c
}

func (s *searching) save(ctx context.Context, c *record.Candidate) error {
	if err := s.Log.Journal.SaveCandidate(ctx, c); err != nil {
		return err
	}
	return s.emit(ctx, "candidate", map[string]any{"candidate": c.SHA, "operator": c.Operator, "state": c.State, "reason": c.Reason})
}

func (s *searching) emit(ctx context.Context, kind string, data any) error {
	return s.Log.Add(ctx, kind, int64(len(s.pool)), nil, data)
}

// prompt shows a text's mistakes in the sessions that a mutator may see; nil if there are none.
func (s *searching) prompt(t *Text) *mutate.Hook {
	h := &mutate.Hook{Model: s.Mutator, Event: s.Options.Event, Weight: s.Options.Weight, Tried: t.tried[max(0, len(t.tried)-shownTried):]}
	for _, i := range s.rand.Perm(len(s.train)) {
		at := s.train[i]
		for k := range s.sessions[at].Events {
			e, a := &s.sessions[at].Events[k], &t.Marks[at].answers[k]
			blocks := a.Decision == guard.Block
			if e.Ran {
				h.OthersOf++
				if blocks {
					h.OthersCount++
				}
			}
			if e.Shown == nil {
				continue
			}
			call := *e.Shown
			call.Decided = decided(a)
			switch {
			case e.Label == guard.Stop && !blocks:
				h.Missed = append(h.Missed, call)
			case e.Label == guard.Go && blocks:
				h.Wrong = append(h.Wrong, call)
			case e.Label != guard.Unlabelled:
				h.Right = append(h.Right, call)
			case e.Ran && blocks:
				h.Others = append(h.Others, call)
			}
		}
	}
	if len(h.Missed)+len(h.Wrong) == 0 {
		return nil
	}
	cut := func(list *[]mutate.Call, n int) { *list = (*list)[:min(len(*list), n)] }
	cut(&h.Missed, shownMissed)
	cut(&h.Wrong, shownWrong)
	cut(&h.Right, shownRight)
	cut(&h.Others, shownOthers)
	return h
}

// decided says what a hook did with a call.
func decided(a *guard.Answer) string {
	switch {
	case a.Late:
		return "went on, because it did not end in time"
	case a.Failed:
		return "went on, because it failed: " + plain.Excerpt(a.Reason, 200)
	case a.Decision == guard.Block:
		return "blocked: " + plain.Excerpt(a.Reason, 200)
	case a.Decision == guard.Ask:
		return "the user is asked"
	}
	return "went on"
}
