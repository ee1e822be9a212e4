package sleep

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

// Left is what the caps leave of the night, never below nothing; used reports that
// one of them is used up. A cap of zero is none.
func (n *Night) Left() (left Caps, used bool) {
	left, ok := n.left()
	return minus(left, Caps{}), !ok
}

// Paid are the open steps that take from the night's budget, in order.
func (n *Night) Paid() []Step { return openPaid(n.Steps) }

// Recall adds what the runs of open steps have spent so far, by their
// records: a process that was killed, or still works, has reported nothing.
func (n *Night) Recall(ctx context.Context, spent func(ctx context.Context, run string) (eval.Spent, error)) error {
	for i := range n.Steps {
		s := &n.Steps[i]
		if !s.open() || !s.paid() || s.Run == "" {
			continue
		}
		took, err := spent(ctx, s.Run)
		if err != nil {
			return fmt.Errorf("read what %s has spent: %w", s.Run, err)
		}
		s.Spent = atLeast(s.Spent, took)
	}
	return nil
}

// stale is the age at which another process harvests again before it
// continues a night: a skill that came into use since then should not wait
// for the next night.
const stale = 6 * time.Hour

// freshen lets a night that is continued after a long time harvest again, and
// replan the steps that have not begun.
func (n *Night) freshen(now time.Time) {
	if len(n.Steps) == 0 {
		return
	}
	read := n.Steps[0].Ended
	if read.IsZero() {
		read = n.Began
	}
	if n.Settled && now.Sub(read) >= stale {
		n.Settled = false
		n.Steps[0].Stage = Begun
		n.unplan()
	}
}

// unplan removes the steps of a night that have not begun.
func (n *Night) unplan() {
	n.Steps = slices.DeleteFunc(n.Steps, func(s Step) bool {
		return s.Kind != Harvest && !s.begun() && !(s.Kind == Install && s.open() && s.Run != "" && n.tried(s.Run))
	})
}

// tried reports whether a step of this night has worked on a run.
func (n *Night) tried(run string) bool {
	return slices.ContainsFunc(n.Steps, func(s Step) bool { return s.paid() && s.Run == run && s.begun() })
}

// has reports whether any step of a skill has begun.
func (n *Night) has(skill string) bool {
	return slices.ContainsFunc(n.Steps, func(s Step) bool { return s.Skill == skill && s.Kind != Try && s.begun() })
}

// begun reports whether the step was ever begun.
func (s *Step) begun() bool { return s.Stage == Begun || !s.Began.IsZero() }

// dry plans a night, or the rest of one that was not ended, and keeps
// nothing.
func (c *Cycle) dry(ctx context.Context, p Plan) (*Night, error) {
	n, err := c.Journal.LastNight(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the last night: %w", err)
	}
	if n == nil || !n.Ended.IsZero() {
		n = c.begin(p, n)
	} else {
		n.freshen(c.Now())
		if err := c.narrow(ctx, n, p); err != nil {
			return n, err
		}
	}
	n.dry = true
	if !n.Settled {
		n.unplan()
		if err := c.plan(ctx, n); err != nil {
			return n, err
		}
	}
	n.forecast()
	return n, nil
}

// narrow bounds a continued night by the present request: the smaller caps,
// the stricter policy, and of the remaining steps only those of the named
// skills. What killed processes spent counts. Nothing is saved.
func (c *Cycle) narrow(ctx context.Context, n *Night, p Plan) error {
	n.Caps = n.Caps.Within(p.Caps)
	if p.Policy == Staging {
		n.Policy = Staging
	}
	n.Tries = n.Tries && p.Tries
	if len(p.Skills) > 0 && !n.Settled {
		n.Skills = p.Skills // nothing is planned yet
	}
	if c.Parts.Spent != nil {
		if err := n.Recall(ctx, c.Parts.Spent); err != nil {
			return err
		}
	}
	for i := range n.Steps {
		s := &n.Steps[i]
		if !s.open() || s.Kind == Harvest {
			continue
		}
		// What a killed process installed stays installed.
		switch placed, err := c.placed(ctx, s); {
		case err != nil:
			return err
		case placed:
		case len(p.Skills) > 0 && !slices.Contains(p.Skills, s.Skill) && (s.Kind != Watch || s.Stage == Planned):
			s.skip("not among the skills asked for when the night went on", c.Now())
		case s.Kind == Try && !n.Tries:
			s.skip("not asked for when the night went on", c.Now())
		case s.Kind == Install:
			if ok, why := n.Policy.MayInstall(s.Result, s.Level, c.Demo); !ok {
				s.skip(why, c.Now())
			}
		}
	}
	return nil
}

// placed reports whether s is an installation that a killed process has made.
func (c *Cycle) placed(ctx context.Context, s *Step) (bool, error) {
	if s.Kind != Install || s.Stage != Begun {
		return false, nil
	}
	o, err := c.Parts.Look(ctx, s.Skill)
	if err != nil {
		return false, fmt.Errorf("look at %s: %w", s.Skill, err)
	}
	return o.Incumbent != "" && cmp.Or(o.Change, o.Incumbent) == s.Result.Challenger, nil
}

func (s *Step) skip(why string, now time.Time) {
	s.Stage, s.Note, s.Ended = Skipped, why, now.UTC()
}

// atLeast is the larger of two records of the same spending: under a smaller
// cap a run may end before it has read all of its own. Time is compared
// separately, and is the longer one.
func atLeast(a, b eval.Spent) eval.Spent {
	wall := max(a.WallMS, b.WallMS)
	if b.Rollouts > a.Rollouts || b.CostUSD > a.CostUSD || b.TokensIn+b.TokensOut > a.TokensIn+a.TokensOut || b.MinerCalls > a.MinerCalls {
		a = b
	}
	a.WallMS = wall
	return a
}

// rebound limits a step that has begun to what the night's caps leave it now,
// plus its own spending, which its run counts. false if nothing is left and
// nothing was spent.
func (n *Night) rebound(s *Step) bool {
	others := *n
	others.Steps = slices.DeleteFunc(slices.Clone(n.Steps), func(k Step) bool { return k.paid() && k.Run == s.Run })
	left, ok := others.left()
	if !ok && s.Spent == (eval.Spent{}) {
		return false
	}
	// Zero would be no cap: so small a cap stops the run before its next
	// call.
	if n.Caps.Rollouts > 0 {
		left.Rollouts = max(1, left.Rollouts)
	}
	if n.Caps.CostUSD > 0 {
		left.CostUSD = max(1e-9, left.CostUSD)
	}
	if n.Caps.Tokens > 0 {
		left.Tokens = max(1, left.Tokens)
	}
	if n.Caps.Duration > 0 {
		left.Duration = max(1, left.Duration)
	}
	s.Caps = s.Caps.Within(left)
	return true
}
