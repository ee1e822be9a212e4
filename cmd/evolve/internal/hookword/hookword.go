// Package hookword asks the owner of a hook for the word without which no script of it is put in
// place: for exactly the bytes that will run.
package hookword

import (
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/guard"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/owner"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/report"
)

// digits are how many of a SHA-256 name a script's bytes at least.
const digits = 12

// Parts are what the commands work with.
type Parts struct {
	Terminal *term.Terminal
	// Typist is the agent in whose session the command was typed, nil for none.
	Typist *owner.Agent
	// Named reports whether an agent's settings name the script.
	Named func(*skill.Live) (bool, error)
}

// Agree has the owner agree to the script that a plan puts in place, if it does so. at is the
// text as it was typed behind the @. On a terminal the change is shown and a question asked,
// unless yes; else at has to name the bytes. flags are added to the command of the hint.
func (p Parts) Agree(plan *release.Plan, at string, yes bool, flags ...string) error {
	sha := plan.Runs()
	if sha == "" {
		return nil
	}
	name := plan.Live.Name
	if err := guard.Word(p.Typist, "putting a script in place"); err != nil {
		return err
	}
	if !yes && term.IsTerminal(p.Terminal.Stdin) && term.IsTerminal(p.Terminal.Stderr) {
		if err := p.show(plan); err != nil {
			return err
		}
		ok, err := p.Terminal.Confirm(fmt.Sprintf("Put these bytes (%.*s) in place? They run whenever an agent calls the hook.", digits, sha))
		if err != nil {
			return err
		}
		if ok {
			plan.Agree(sha)
			return nil
		}
	} else if len(at) >= digits && strings.HasPrefix(sha, at) {
		plan.Agree(sha)
		return nil
	}
	command := strings.Join(append([]string{fmt.Sprintf("evolve promote %s@%.*s", name, digits, sha)}, flags...), " ")
	return problem.Refusef(fmt.Sprintf("`evolve diff %s %.*s` shows them; `%s` puts them in place", name, digits, sha, command),
		"%s is a program: name the bytes that are to run; nothing was changed", skill.Called(name))
}

// PutBack refuses to put back another script of a hook if an agent types it: the hook may be what
// holds that agent. Any other subject passes.
func (p Parts) PutBack(key string) error {
	if subject.Parse(key).Kind != subject.Hook {
		return nil
	}
	return guard.Word(p.Typist, "putting back another script of a hook")
}

// show prints how the script changes.
func (p Parts) show(plan *release.Plan) error {
	live, v := plan.Live, plan.Version
	next, err := skill.Parse(v.Text, live.Doc.Options())
	if err != nil {
		return fmt.Errorf("read %.12s: %w", v.SHA, err)
	}
	d, err := report.Between(live.Name+" live", fmt.Sprintf("%s %.*s", live.Name, digits, v.SHA), live.Doc, next)
	if err == nil {
		_, err = fmt.Fprint(p.Terminal.Stderr, d.Text(p.Terminal.Coloured(p.Terminal.Stderr)))
	}
	return err
}

// Uncalled says that no agent calls the hook whose script was changed, if that is so.
func (p Parts) Uncalled(done *release.Result) {
	live := done.Live
	if subject.Parse(live.Name).Kind != subject.Hook || !done.Changed() {
		return
	}
	switch named, err := p.Named(live); {
	case err != nil:
		p.Terminal.Say("it is not known whether an agent calls %s: %v", skill.Called(live.Name), err)
	case !named:
		p.Terminal.Say("no agent calls %s: no settings name it", skill.Called(live.Name))
	}
}
