package eval

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/check"
	"github.com/skill-evolve/evolve/eval/fields"
)

// Validate returns the first fault of c: no id, skill, prompt or check, a check that
// lacks what its type needs or has what it cannot use, a pattern or schema that does
// not compile, a path that leaves the workspace, a generated case that is held out or
// runs a program, a trigger case that grades anything but which skill is loaded.
func (c *Case) Validate() error {
	if faults := c.faults(); len(faults) > 0 {
		return faults[0]
	}
	return nil
}

// faults are all faults of c.
func (c *Case) faults() (faults Faults) {
	if c.ID == "" {
		faults = append(faults, errors.New("validate case: no id"))
	}
	wrong := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("validate case %q: %w", c.ID, fmt.Errorf(format, args...)))
	}
	if c.Skill == "" {
		wrong("no skill")
	}
	if strings.TrimSpace(c.Prompt) == "" {
		wrong("no prompt")
	}
	if len(c.Checks) == 0 && !c.IsTrigger() {
		wrong("no checks: nothing would tell a good answer from a bad one")
	}
	if c.Workspace != nil && c.Workspace.Repo == "" {
		wrong("workspace: no repo")
	}
	if splits := []string{string(Train), string(Val), string(Test)}; c.Split != Unassigned && !slices.Contains(splits, string(c.Split)) {
		wrong("unknown split %q%s", c.Split, fields.DidYouMean(string(c.Split), splits))
	}
	for _, err := range c.triggerFaults() {
		wrong("%w", err)
	}
	if c.Generated() && c.Split == Test {
		wrong("a generated case cannot be in a trial (split test)")
	}
	if c.TrainOnly() && c.Split != Train && c.Split != Unassigned {
		wrong("a case that no coin drew is for training alone (split %s)", c.Split)
	}
	for i, m := range c.Context {
		if m.Role != "user" && m.Role != "assistant" {
			wrong("context[%d]: role %q, want user or assistant", i, m.Role)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(c.Files)) {
		if err := check.ValidPath(path); err != nil {
			wrong("files: %w", err)
		}
	}
	for i := range c.Checks {
		k := &c.Checks[i]
		if c.Generated() && k.Executing() {
			wrong("checks[%d]: a generated case cannot run a program (%s)", i, k.Type)
		}
		if !k.Known() {
			wrong("checks[%d]: unknown check type %q%s", i, k.Type, fields.DidYouMean(k.Type, check.Names(nil)))
		} else if err := k.Validate(); err != nil {
			wrong("checks[%d]: %w", i, err)
		}
	}
	return faults
}
