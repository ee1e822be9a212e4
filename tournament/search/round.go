package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/second"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/tournament/record"
)

// maxDepth bounds how many reflections in a row may be without effect.
const maxDepth = 2

// least is how many rollouts must be left for another child to be worth
// trying: its minibatch, its validation, and the leader's missing cases. For
// the first child the incumbent lacks nothing, so that even a small budget
// tries one.
func (s *State) least() int64 {
	passes := 2
	if len(s.pool.members) == 1 {
		passes = 1
	}
	return int64(s.opt.Minibatch + passes*len(s.Cases.Val))
}

// apply makes one move. tried is false if it has nothing to work on; then
// only evidence was paid for.
func (s *State) apply(ctx context.Context, m Move) (tried, won bool, err error) {
	if rest := s.rest(); rest < 0 || rest > 0 && rest < s.least() {
		// A child that cannot be validated whole cannot win: the rest of the
		// budget is better spent on choosing between the finalists.
		return false, false, errTooFew
	}
	mv, err := m.Make(ctx, s)
	if err != nil || mv == nil {
		return false, false, err
	}
	mv.op = m.Name()
	s.lane().parent, s.lane().led = mv.Parent, false
	if len(mv.Proposals) > 0 {
		if _, err := s.try(ctx, mv, mv.Proposals); err != nil {
			return true, false, err
		}
	}
	return true, s.lane().led, nil
}

// Ask runs one operator per input in parallel and returns the usable, allowed
// proposals in the order of the inputs.
func (s *State) Ask(ctx context.Context, op mutate.Operator, parent *Member, inputs []mutate.Input) ([]mutate.Proposal, error) {
	type reply struct {
		p   mutate.Proposal
		err error
	}
	for i := range inputs {
		s.show(inputs[i].Evidence)
		inputs[i].Rejected = slices.DeleteFunc(inputs[i].Rejected, func(a mutate.Attempt) bool { return a.Operator != op.Name() })
	}
	replies := make([]reply, len(inputs))
	takes := asking
	switch op.(type) {
	case *mutate.Ablate, *mutate.Merge: // by rule, the latter mostly
		takes = 0
	}
	if err := s.turns.Wait(takes, func() error {
		var wg sync.WaitGroup
		for i := range inputs {
			wg.Go(func() {
				replies[i].err = eval.Shielded(func() (err error) {
					replies[i].p, err = op.Propose(ctx, inputs[i])
					return err
				})
			})
		}
		wg.Wait()
		return nil
	}); err != nil {
		return nil, err
	}
	for _, r := range replies {
		if eval.IsPending(r.err) {
			return nil, r.err // and nothing is written down that the next walk would write again
		}
	}
	var out []mutate.Proposal
	for _, r := range replies {
		var (
			unusable *mutate.ReplyError
			nothing  *mutate.NotApplicableError
			limit    *eval.BudgetError
		)
		s.stats.Proposals++
		switch {
		case errors.As(r.err, &unusable):
			s.stats.Unusable++
			if err := s.emit(ctx, "unusable", map[string]any{"operator": op.Name(), "reason": unusable.Reason}); err != nil {
				return nil, err
			}
			if unusable.Change != "" {
				s.rejected = append(s.rejected, mutate.Attempt{Operator: op.Name(), Change: unusable.Change, Result: unusable.Reason, Refused: true})
			}
		case errors.As(r.err, &nothing):
			s.stats.Proposals--
		case errors.As(r.err, &limit):
			return nil, &errDone{reason: limit.Error(), cap: limit.Cap}
		case r.err != nil:
			return nil, r.err
		default:
			p, err := s.withGuards(ctx, op.Name(), parent, r.p)
			if err != nil {
				return nil, err
			}
			ok, err := s.allowed(ctx, op.Name(), parent, p)
			if err != nil {
				return nil, err
			}
			if ok {
				out = append(out, p)
			}
		}
	}
	return out, nil
}

// withGuards returns a proposal with the lines put back that restrain the agent, if it
// drops any of its parent's: the rest need not wait for its owner's word on them. Each such
// deletion is recorded as a candidate of its own, which the owner may approve.
func (s *State) withGuards(ctx context.Context, op string, parent *Member, p mutate.Proposal) (mutate.Proposal, error) {
	root := s.pool.members[0].Variant.Doc
	drops := func(doc *skill.Document) bool {
		return slices.ContainsFunc(check.Descendant(root, parent.Variant.Doc, doc, s.opt.Profile), check.Finding.DropsGuard)
	}
	if s.tried[p.Doc.Hash()] || !drops(p.Doc) {
		return p, nil
	}
	rest, apart, ok := p.Apart(parent.Variant.Doc, drops)
	if !ok || drops(rest.Doc) {
		return p, nil
	}
	for _, one := range apart {
		if !s.tried[one.Doc.Hash()] {
			if _, err := s.allowed(ctx, op, parent, one); err != nil {
				return p, err
			}
		}
	}
	return rest, nil
}

// allowed checks a text before anything is paid for it, and records a
// refusal.
func (s *State) allowed(ctx context.Context, op string, parent *Member, p mutate.Proposal) (bool, error) {
	sha := p.Doc.Hash()
	if s.tried[sha] {
		s.stats.Unusable++
		return false, s.emit(ctx, "unusable", map[string]any{"operator": op, "reason": "this text was tried before"})
	}
	c := s.candidate(op, []*Member{parent}, p)
	// What is hidden may be quoted in the reason: the mutator must not learn that a
	// guess was right. What the firewall quotes is the candidate's own.
	why := "not allowed"
	if reason := s.guard.refuse(parent.Variant.Doc, p.Doc); reason != "" {
		s.stats.Invalid++
		c.State, c.Reason = record.Invalid, reason
		why = cmp.Or(s.guard.grown(parent.Variant.Doc, p.Doc), why)
	}
	for _, f := range check.Descendant(s.pool.members[0].Variant.Doc, parent.Variant.Doc, p.Doc, s.opt.Profile) {
		switch {
		case f.Severity == check.Reject && c.State != record.Invalid:
			s.stats.Invalid++
			c.State, c.Rule, c.Reason = record.Invalid, f.Rule, f.String()
		case f.Severity == check.Quarantine && c.State == "" && !f.AskedFor(s.guard.asked):
			s.stats.Quarantined++
			c.State, c.Rule, c.Reason = record.Quarantined, f.Rule, f.String()
			why = f.Reason // quotes the phrase
		}
	}
	if c.State == "" {
		return true, nil
	}
	s.tried[sha] = true
	if err := s.Log.Journal.SaveCandidate(ctx, &c); err != nil {
		return false, err
	}
	s.rejected = append(s.rejected, mutate.Attempt{Operator: op, Change: p.Summary, Result: why, Refused: true})
	return false, s.emit(ctx, string(c.State), map[string]any{"sha256": sha, "operator": op, "reason": c.Reason})
}

// show notes which cases the mutator sees.
func (s *State) show(evidence []mutate.Evidence) {
	for _, e := range evidence {
		if !slices.Contains(s.shown, e.Case.ID) {
			s.shown = append(s.shown, e.Case.ID)
		}
	}
}

func (s *State) candidate(op string, parents []*Member, p mutate.Proposal) record.Candidate {
	s.seq++
	c := record.Candidate{SHA: p.Doc.Hash(), Run: s.Log.Run, Seq: s.seq, Operator: op, Taught: p.Taught, Shown: slices.Clone(s.shown), Text: p.Doc.Render()}
	if s.unread[c.SHA] {
		c.Rule = second.Rule
	}
	for _, m := range parents {
		c.Parents = append(c.Parents, m.SHA)
	}
	return c
}

// try tests proposals for one parent together: most of them change different
// lines, so their union is tried first, and only if it fails its halves. The
// cost of a round is then one minibatch, not one a proposal.
func (s *State) try(ctx context.Context, mv *Change, ps []mutate.Proposal) (won bool, err error) {
	p := ps[0]
	if len(ps) > 1 {
		if p, err = s.unite(ctx, mv, ps); err != nil {
			var unusable *mutate.ReplyError
			if !errors.As(err, &unusable) {
				return false, err
			}
			return s.halves(ctx, mv, ps)
		}
	}
	if s.tried[p.Doc.Hash()] {
		return false, nil
	}
	if len(ps) > 1 {
		ok, err := s.allowed(ctx, mv.op, mv.Parent, p)
		if err != nil {
			return false, err
		}
		if !ok {
			return s.halves(ctx, mv, ps)
		}
	}
	parents := []*Member{mv.Parent}
	from := []int{s.pool.index(mv.Parent)}
	if mv.Other != nil {
		parents, from = append(parents, mv.Other), append(from, s.pool.index(mv.Other))
	}
	s.tried[p.Doc.Hash()] = true
	if ok, err := s.readSecond(ctx, mv.op, parents, p); err != nil {
		return false, err
	} else if !ok {
		return s.halves(ctx, mv, ps)
	}
	c := s.candidate(mv.op, parents, p)
	child := &Member{Candidate: c, Variant: mv.Parent.Variant.With(p.Doc), train: make([]attempts, len(s.Cases.Train))}
	var batch []int
	if !mv.Untested {
		batch = s.opt.Batch.Pick(qualities(mv.Parent.train, all(len(s.Cases.Train))), mv.Targets, s.opt.Minibatch, s.Rand)
	}
	if err := s.measureTrain(ctx, child, batch, 0); err != nil {
		return false, err
	}
	if m, apart, err := s.untangle(ctx, mv, child, batch); err != nil {
		return false, err
	} else if m != nil {
		c.State, c.Reason = record.Refused, "some of its lines were in each other's way"
		if err := s.Log.Journal.SaveCandidate(ctx, &c); err != nil {
			return false, err
		}
		apart.Taught = p.Taught // what stays of it was taught by the same cases
		p, child = apart, m
		c = s.candidate(mv.op, parents, p)
		child.Candidate = c
	}
	got, had := qualities(child.train, batch), qualities(mv.Parent.train, batch)
	delta := gain(got, had)
	if !mv.Accept.Accept(got, had) {
		s.stats.Refused++
		c.State, c.Reason = record.Refused, fmt.Sprintf("%+.2f on %d train cases", delta, len(batch))
		if err := s.Log.Journal.SaveCandidate(ctx, &c); err != nil {
			return false, err
		}
		s.rejected = append(s.rejected, mutate.Attempt{Operator: mv.op, Change: p.Summary, Result: c.Reason})
		if err := s.emit(ctx, "refused", map[string]any{"sha256": c.SHA, "operator": mv.op, "gain": delta, "cases": len(batch)}); err != nil {
			return false, err
		}
		if mv.Stone && len(ps) == len(mv.Proposals) && delta > -1e-9 && mv.Parent.depth < maxDepth {
			// Neither better nor worse: rules that only work together look
			// like this one by one. The child becomes a stepping stone for
			// the next reflection instead of being taken apart.
			m := s.pool.add(c, child.Variant, from...)
			m.train, m.depth = child.train, mv.Parent.depth+1
			s.stones = append(s.stones, m)
			return false, nil
		}
		return s.halves(ctx, mv, ps)
	}
	c.State = record.Pooled
	if err := s.Log.Journal.SaveCandidate(ctx, &c); err != nil {
		return false, err
	}
	s.stats.Accepted++
	m := s.pool.add(c, child.Variant, from...)
	m.train = child.train
	on := make([]string, 0, len(batch))
	for _, i := range batch {
		on = append(on, s.Cases.Train[i].ID)
		if r := m.train[i].last(); r != nil {
			s.learnFeedback(r)
		}
	}
	if err := s.emit(ctx, "accepted", map[string]any{"sha256": c.SHA, "operator": mv.op, "parents": c.Parents,
		"gain": delta, "cases": len(batch), "on": on, "proposals": len(ps), "tokens": m.Tokens}); err != nil {
		return false, err
	}
	return true, s.race(ctx, m, mv.Slack)
}

// unite joins proposals for one parent. The mutator is asked only if
// sentences of theirs may mean the same in other words, before anything of
// the union is measured.
func (s *State) unite(ctx context.Context, mv *Change, ps []mutate.Proposal) (mutate.Proposal, error) {
	u := &mutate.Union{Model: s.asks(s.Mutator), Proposals: ps}
	p, err := u.Propose(ctx, s.Input(mv.Parent, nil))
	var limit *eval.BudgetError
	switch {
	case errors.As(err, &limit):
		return p, &errDone{reason: limit.Error(), cap: limit.Cap}
	case err != nil || !u.Asked:
		return p, err
	case u.Unusable != "":
		return p, s.emit(ctx, "unusable", map[string]any{"operator": u.Name(), "reason": u.Unusable})
	}
	return p, s.emit(ctx, "united", map[string]any{"sha256": p.Doc.Hash(), "operator": mv.op, "proposals": len(ps)})
}

// halves tries the two halves of a refused union separately.
func (s *State) halves(ctx context.Context, mv *Change, ps []mutate.Proposal) (bool, error) {
	if len(ps) < 2 {
		return false, nil
	}
	a, err := s.try(ctx, mv, ps[:len(ps)/2])
	if err != nil {
		return a, err
	}
	b, err := s.try(ctx, mv, ps[len(ps)/2:])
	return a || b, err
}
