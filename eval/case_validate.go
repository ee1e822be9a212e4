package eval

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/check"
)

// Validate returns the first fault of c: no id, skill, prompt or check, a check that
// lacks what its type needs or has what it cannot use, a pattern or schema that does
// not compile, a path that leaves the workspace, a generated case that is held out or
// runs a program, a trigger case that grades anything but which skill is loaded.
func (c *Case) Validate() error {
	if c.ID == "" {
		return errors.New("validate case: no id")
	}
	if err := c.validate(); err != nil {
		return fmt.Errorf("validate case %q: %w", c.ID, err)
	}
	return nil
}

func (c *Case) validate() error {
	switch {
	case c.Skill == "":
		return errors.New("no skill")
	case strings.TrimSpace(c.Prompt) == "":
		return errors.New("no prompt")
	case len(c.Checks) == 0 && !c.IsTrigger():
		return errors.New("no checks: nothing would tell a good answer from a bad one")
	case c.Workspace != nil && c.Workspace.Repo == "":
		return errors.New("workspace: no repo")
	}
	switch c.Split {
	case Unassigned, Train, Val, Test:
	default:
		return fmt.Errorf("unknown split %q%s", c.Split, didYouMean(string(c.Split),
			[]string{string(Train), string(Val), string(Test)}))
	}
	if err := c.validateTrigger(); err != nil {
		return err
	}
	if c.Generated() {
		if c.Split == Test {
			return errors.New("a generated case cannot be held out (split test)")
		}
		if i := slices.IndexFunc(c.Checks, func(k Check) bool { return k.Executing() }); i >= 0 {
			return fmt.Errorf("checks[%d]: a generated case cannot run a program (%s)", i, c.Checks[i].Type)
		}
	}
	if c.TrainOnly() && c.Split != Train && c.Split != Unassigned {
		return fmt.Errorf("a case that no coin drew is for training alone (split %s)", c.Split)
	}
	for i, m := range c.Context {
		if m.Role != "user" && m.Role != "assistant" {
			return fmt.Errorf("context[%d]: role %q, want user or assistant", i, m.Role)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(c.Files)) {
		if err := check.ValidPath(path); err != nil {
			return fmt.Errorf("files: %w", err)
		}
	}
	for i := range c.Checks {
		k := &c.Checks[i]
		if !k.Known() {
			return fmt.Errorf("checks[%d]: unknown check type %q%s", i, k.Type, didYouMean(k.Type, check.Names(nil)))
		}
		if err := k.Validate(); err != nil {
			return fmt.Errorf("checks[%d]: %w", i, err)
		}
	}
	return nil
}
