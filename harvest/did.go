package harvest

import (
	"context"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/check"
	"github.com/skill-evolve/evolve/harvest/wording"
	"github.com/skill-evolve/evolve/harvest/work"
)

// did is what an agent did for a request, before and after the user corrected it.
type did struct {
	corrected work.Done  // in the turn that was corrected
	accepted  *work.Done // until the user was content; nil if that is not known
	mended    *work.Done // of that, what it did after the first correction
}

// delegates are tools whose work may be recorded elsewhere: those that start subagents.
var delegates = []string{"Task", "Agent", "spawn_agent", "subagent"}

// workOf is what was recorded of the work on a request, see Miner.Checks; nil if nobody
// recorded it. Turns without a record of their own count as turns in which nothing was done
// if others of the session have one.
func workOf(s *Session, turn int, corrections []int, accepted int) *did {
	level := work.LevelOf(func(yield func([]work.Act) bool) {
		for i := range s.Turns {
			if !yield(s.Turns[i].Work) {
				return
			}
		}
	})
	if level == work.Off {
		return nil
	}
	of := func(from, to int) *work.Done {
		var acts []work.Act
		elsewhere := false
		for _, t := range s.Turns[from : to+1] {
			acts = append(acts, t.Work...)
			elsewhere = elsewhere || slices.ContainsFunc(t.Tools, func(t Tool) bool { return slices.Contains(delegates, t.Name) })
		}
		d := work.Of(level, acts)
		d.Work.Cut = d.Work.Cut || elsewhere
		return &d
	}
	out := &did{corrected: *of(turn, turn)}
	if len(corrections) > 0 && accepted >= corrections[0] {
		out.accepted, out.mended = of(turn, accepted), of(corrections[0], accepted)
	}
	return out
}

// try tries a check of the work. tells: it fails on the work that was corrected and, as far as
// that is recorded, is decided on the accepted work. fits: it does not fail on that. All that
// was done until the user was content is accepted; but a command cannot be taken back: that
// one is not run has to hold since the correction.
func (d *did) try(k *eval.Check) (tells, fits bool) {
	passed, known := graded(k, &d.corrected)
	tells = known && !passed
	if !tells || d.accepted == nil {
		return tells, true
	}
	whole := d.accepted
	if k.Type == check.NotRan {
		whole = d.mended
	}
	passed, known = graded(k, whole)
	return known, passed || !known
}

func graded(k *eval.Check, d *work.Done) (passed, known bool) {
	r, err := k.Grade(context.Background(), &check.Subject{Work: d.For(k)})
	return r.Passed(), err == nil && !r.Missing
}

// words are the words that were used in a turn and before: not those of what was accepted.
func (r *Recording) words(c *eval.Case) wording.Words {
	w := wording.Words{Request: wording.Of(c.Prompt), Corrections: wording.Of(r.Corrections...), Before: wording.Of(r.Answer)}
	for _, m := range c.Context {
		w.Before.Add(m.Text)
	}
	if r.did != nil {
		w.Before.Add(r.did.corrected.Work.Text())
	}
	return w
}

// A Trial is what was recorded of a turn that was corrected: what its checks must fail on, and
// what they must pass on.
type Trial struct {
	Answer         string
	Work, Accepted *work.Done // nil: not recorded
}

// TrialOf is that of c, a case of s.
func TrialOf(s *Session, c *eval.Case) (t Trial) {
	turn, corrections, accepted, ok := TurnsOf(s, c)
	if !ok {
		return t
	}
	t.Answer = s.Turns[turn].Answer
	if d := workOf(s, turn, corrections, accepted); d != nil {
		t.Work, t.Accepted = &d.corrected, d.accepted
	}
	return t
}

// Idle adds the question whether the request is fulfilled to checks of the work that an agent
// passes that does nothing.
func Idle(checks []eval.Check) []eval.Check {
	work := false
	for i := range checks {
		k := &checks[i]
		if k.Asks() {
			return checks
		}
		r, err := k.Grade(context.Background(), &check.Subject{Work: new(check.Work)})
		if err != nil || !r.Passed() {
			return checks
		}
		work = work || k.Spec().Work
	}
	if !work {
		return checks
	}
	return append(checks, Fulfilled)
}
