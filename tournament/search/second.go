package search

import (
	"context"
	"errors"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/second"
	"github.com/skill-evolve/evolve/tournament/record"
)

// mostUnread is how many texts in a row a reader may leave unread until it is not asked again
// in a run: a model that cannot answer in the form asked for costs two calls a text.
const mostUnread = 3

// readSecond asks the second reader about a text that the patterns let pass, before anything
// of it is replayed. A text that it holds, or that changes too much to be read, waits for its
// owner. One whose reading failed is tried, with the rule on its record: no run and no night
// installs it.
func (s *State) readSecond(ctx context.Context, op string, parents []*Member, p mutate.Proposal) (bool, error) {
	root := s.pool.members[0].Variant.Doc
	if s.Second == nil || !second.Needed(root) {
		return true, nil
	}
	if s.unreadable >= mostUnread {
		s.leaveUnread(p)
		return true, nil
	}
	v, err := (&second.Reader{Model: s.asks(s.Second)}).Read(ctx, root, p.Doc, s.approved...)
	var limit *eval.BudgetError
	switch {
	case errors.As(err, &limit):
		return false, &errDone{reason: limit.Error(), cap: limit.Cap}
	case err != nil:
		return false, err
	case v.Unread != "":
		s.unreadable++
		s.leaveUnread(p)
		return true, s.emit(ctx, "unread", map[string]any{"sha256": p.Doc.Hash(), "operator": op, "reason": v.Reason()})
	}
	s.unreadable = 0
	if v.Reason() == "" {
		return true, nil
	}
	s.stats.Quarantined++
	c := s.candidate(op, parents, p)
	c.State, c.Rule, c.Reason = record.Quarantined, second.Rule, v.Reason()
	s.tried[c.SHA] = true
	if err := s.Log.Journal.SaveCandidate(ctx, &c); err != nil {
		return false, err
	}
	// What the reader said is for the owner: a mutator that knew it would write for it.
	s.rejected = append(s.rejected, mutate.Attempt{Operator: op, Change: p.Summary, Result: "a fixed part would no longer hold", Refused: true})
	return false, s.emit(ctx, string(c.State), map[string]any{"sha256": c.SHA, "operator": op, "reason": c.Reason})
}

func (s *State) leaveUnread(p mutate.Proposal) {
	if s.unread == nil {
		s.unread = map[string]bool{}
	}
	s.unread[p.Doc.Hash()] = true
	s.stats.Unread++
}

func (p *Plan) reader(b *eval.Budget) eval.Model {
	return second.Recalled{Metered: &eval.Metered{Model: second.Bounded{Model: p.Second}, By: p.SecondBy, Budget: b, Recorder: p.Journal,
		Redactor: p.Redact, WallClock: p.WallClock}, Elsewhere: p.Elsewhere}
}

// readFirst asks the second reader about the carried text, before anything of it is replayed.
// One that it holds waits for its owner. One that was not read is tried, with the rule on its
// record. What a cap leaves unread is not tried.
func (p *Plan) readFirst(ctx context.Context, out *Outcome, budget *eval.Budget) error {
	c := *p.With
	c.Rule = second.Rule
	if p.Second == nil { // a real model may go on with its trial
		p.With = &c
		return nil
	}
	v, err := (&second.Reader{Model: p.reader(budget)}).Read(ctx, p.Incumbent.Doc, p.Carried.Doc)
	var limit *eval.BudgetError
	if errors.As(err, &limit) {
		out.BudgetStop = true
		return nil
	}
	if err != nil || v.Reason() == "" {
		return err
	}
	if v.Unread != "" {
		p.With = &c
		out.Warnings = append(out.Warnings, "the second reader gave no usable answer: the text was tried, and only you install it; --judge-model names another reader")
		return nil
	}
	out.Held = v.Reason()
	c.Run, c.Seq, c.State, c.Reason = p.Run.ID, 1, record.Quarantined, out.Held
	return p.Journal.SaveCandidate(ctx, &c)
}
