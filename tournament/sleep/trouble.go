package sleep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
)

// A Trouble is an error of something that a task uses, a model's server or an
// agent's program, that may be about this task alone. It ends the task for
// tonight, and the night continues with the others. If another skill meets
// one of the same kind without a single answer in between, it concerns all.
type Trouble struct {
	// Kind is the same for errors that may have one cause.
	Kind string
	// Common: it is never about one skill, however often that meets it. A
	// skill is not held back for it.
	Common bool
	Err    error
}

func (t *Trouble) Error() string { return t.Err.Error() }
func (t *Trouble) Unwrap() error { return t.Err }

// A Setback records that a skill's last nights in a row have ended in the
// skill's own trouble.
type Setback struct {
	Kind   string `json:"kind"`
	Nights int    `json:"nights"` // in a row
	// Wait is how many nights skip it before it is tried again.
	Wait   int    `json:"wait,omitempty"`
	Live   string `json:"live,omitempty"`   // SHA-256 of the text; another one is tried at once
	Night  string `json:"night,omitempty"`  // ID of the one that counted last
	Passed string `json:"passed,omitempty"` // ID of the one that passed it by last
}

// longestWait bounds how many nights skip a skill.
const longestWait = 7

// pause is how many nights skip a skill after so many that failed: it is
// tried again in the next one, then after 2, after 4, and after 8.
func pause(failed int) int {
	return min(longestWait, 1<<min(10, max(0, failed-1))-1)
}

// again describes when a skill is tried again.
func (b *Setback) again() string {
	if b.Wait == 0 {
		return "tried again next night"
	}
	return fmt.Sprintf("failed %d nights in a row, tried again after %d", b.Nights, b.Wait+1)
}

// troubled ends a step that met trouble for tonight, and lets the night
// continue. A run that has paid for answers stays open, and the next process
// continues it; one without any has failed. Trouble that concerns all is
// returned, and the steps that met it are reset to not begun, after the
// others.
func (c *Cycle) troubled(ctx context.Context, n *Night, s *Step, t *Trouble, before eval.Spent) error {
	if !s.paid() {
		s.Note = oneLine(t)
		if s.Kind == Install {
			s.Note = "not installed: " + s.Note
		}
		return c.end(ctx, n, s, Failed)
	}
	s.Note, s.Trouble, s.Common = oneLine(t), t.Kind, t.Common
	answered := s.Spent.Rollouts > before.Rollouts
	if first := n.met; first.kind == t.Kind && first.skill != s.Skill && !answered && n.others(s.Skill, first.skill) {
		for i := range n.Steps {
			if k := &n.Steps[i]; k.paid() && k.Skill == first.skill && k.Trouble == t.Kind && k.Stage == Failed {
				k.Stage, k.Ended = Begun, time.Time{}
			}
		}
		n.troubledLast()
		err := fmt.Errorf("%s and %s failed alike, so this may be everybody's: %w", first.skill, s.Skill, t)
		return errors.Join(err, c.save(context.WithoutCancel(ctx), n, nil))
	}
	n.met = met{t.Kind, s.Skill}
	if s.Spent.Rollouts == 0 {
		return c.fail(ctx, n, s)
	}
	if s.Errors++; s.Errors >= tries {
		s.Note = fmt.Sprintf("given up after %d attempts: %s", s.Attempts, s.Note)
		return c.fail(ctx, n, s)
	}
	s.aside = fmt.Errorf("%s %s: %w", s.Kind, s.Skill, t)
	return c.save(ctx, n, s)
}

// met is the trouble that ended the last step, if any.
type met struct{ kind, skill string }

// others reports whether any step of another skill is to come.
func (n *Night) others(skills ...string) bool {
	return slices.ContainsFunc(openPaid(n.Steps), func(s Step) bool { return s.aside == nil && !slices.Contains(skills, s.Skill) })
}

// troubledLast moves the steps that met trouble, or whose skill did in its
// last night, behind the others, which should not wait for what may fail
// again.
func (n *Night) troubledLast() {
	var first, last []Step
	for _, s := range n.Steps {
		if s.open() && s.paid() && s.Trouble != "" {
			last = append(last, s)
		} else {
			first = append(first, s)
		}
	}
	n.Steps = append(first, last...)
}

// unfinished are the errors of the steps that this process has set aside, nil
// for none.
func (n *Night) unfinished() error {
	var errs []error
	for _, s := range n.Steps {
		if s.aside != nil {
			errs = append(errs, s.aside)
		}
	}
	return errors.Join(errs...)
}

// passBy skips the steps of a skill whose last nights failed, until its turn
// comes again. A skill that was named, or edited since, is tried.
func (c *Cycle) passBy(ctx context.Context, n *Night, steps []Step) error {
	i := slices.IndexFunc(steps, func(s Step) bool { return s.paid() && s.open() })
	if i < 0 {
		return nil
	}
	skill := steps[i].Skill
	st, err := c.state(ctx, skill)
	if err != nil {
		return err
	}
	b := st.Setback
	if b == nil || b.Live != steps[i].Live {
		return nil
	}
	wait := b.Wait
	if b.Passed == n.ID {
		wait++ // planned anew, the same night passes it by again
	}
	for i := range steps {
		s := &steps[i]
		if !s.paid() || !s.open() {
			continue
		}
		s.Trouble = b.Kind
		if wait > 0 && len(n.Skills) == 0 {
			s.skip(fmt.Sprintf("failed %s in a row (%s): passed by for %s, --skill %s tries it now", plain.Counted(b.Nights, "night"), b.Kind, plain.Counted(wait, "night"), skill), c.Now())
		}
	}
	if wait == 0 || len(n.Skills) > 0 || n.dry || b.Passed == n.ID {
		return nil
	}
	b.Wait, b.Passed = b.Wait-1, n.ID
	if err := c.saveState(ctx, n, st); err != nil {
		return err
	}
	return nil
}

// account records at the end of a night which skills failed by trouble of
// their own, and which did not.
func (c *Cycle) account(ctx context.Context, n *Night) error {
	ended := map[string]*Step{} // by skill, the step that decides
	for i := range n.Steps {
		s := &n.Steps[i]
		failed := s.Stage == Failed && s.Trouble != "" && !s.Common
		if s.paid() && (failed || s.Stage == Done && ended[s.Skill] == nil) {
			ended[s.Skill] = s
		}
	}
	for _, skill := range slices.Sorted(maps.Keys(ended)) {
		s := ended[skill]
		st, err := c.state(ctx, skill)
		if err != nil {
			return err
		}
		switch b := st.Setback; {
		case s.Stage == Done && b == nil:
			continue
		case s.Stage == Done:
			st.Setback = nil
		case b == nil || b.Night != n.ID: // else it was entered before a kill
			nights := 1
			if b != nil && b.Live == s.Live {
				nights += b.Nights
			}
			st.Setback = &Setback{Kind: s.Trouble, Nights: nights, Wait: pause(nights), Live: s.Live, Night: n.ID}
		}
		if err := c.saveState(ctx, n, st); err != nil {
			return err
		}
		if b := st.Setback; b != nil {
			s.Note += "; " + b.again()
		}
	}
	return nil
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
