package status

import (
	"context"
	"errors"
	"fmt"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store/subjects"
)

// hooks adds the hooks of which there is a version or a run. A script that its owner has removed
// is left out: `evolve log` still has its texts.
func (rd *Reader) hooks(ctx context.Context, r *Report, reg *skill.Registry, known *overview) error {
	if rd.Store == nil {
		return nil
	}
	keys, err := subjects.Of(ctx, rd.Store, subject.Hook)
	if err != nil {
		return err
	}
	for _, key := range keys {
		e, err := reg.Lookup(key)
		var s *Skill
		if err == nil {
			s, err = rd.skillStatus(ctx, e, known)
		}
		var unknown *skill.UnknownSkillError
		var broken *skill.BrokenSkillError
		var syntax *skill.SyntaxError
		switch {
		case errors.As(err, &unknown):
			continue
		case errors.As(err, &broken):
			r.Broken = append(r.Broken, Broken{key, broken.Path, broken.Reason})
			continue
		case errors.As(err, &syntax):
			r.Broken = append(r.Broken, Broken{key, e.Path, syntax.Error()})
			continue
		case err != nil:
			return err
		}
		s.Next = s.next(true)
		r.Skills = append(r.Skills, *s)
	}
	return nil
}

// uncalled reports whether it is known that no agent calls a hook. What its settings do not tell
// is no news here: the commands that change it say so.
func (rd *Reader) uncalled(live *skill.Live) bool {
	if rd.Named == nil {
		return false
	}
	named, err := rd.Named(live)
	return err == nil && !named
}

// isHook reports whether it is one.
func (s *Skill) isHook() bool { return s.Subject.Kind == subject.Hook }

// notCalled is said of a hook that no agent calls.
const notCalled = "no agent calls it: no settings name it"

// inCommand is a name as it is typed; a key becomes a path before it is shown.
func inCommand(name string) string {
	if subject.Parse(name).IsFile() {
		return name
	}
	return plain.Arg(name)
}

// nextOfHook is the next step for a hook of which nothing waits.
func (s *Skill) nextOfHook() string {
	if s.Uncalled {
		return "nothing: " + notCalled
	}
	return fmt.Sprintf("`evolve --skill %s` searches for a better script", s.Skill)
}

// heard counts what a trial has heard: cases, of a hook sessions.
func (c *Challenger) heard() string {
	noun := "case"
	if c.hook {
		noun = "session"
	}
	if c.Needed != nil {
		return fmt.Sprintf("%d/%d %ss", c.Cases, *c.Needed, noun)
	}
	return plain.Counted(c.Cases, noun)
}

// usesText are the uses of a skill in a table; calls of a hook are not counted.
func (s *Skill) usesText() string {
	if s.isHook() {
		return "-"
	}
	return fmt.Sprint(s.Uses)
}
