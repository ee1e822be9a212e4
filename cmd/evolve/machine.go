package main

import (
	"slices"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/guard"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/help"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/owner"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/store/datadir/policy"
	"github.com/spf13/cobra"
)

// A machine is what a command finds around itself, and no flag, variable or setting
// changes. The zero value is a person's, without a policy.
type machine struct {
	typist *owner.Agent // in whose session the command was typed, nil for a person
	policy func() (*policy.Policy, error)
	clock  func() time.Time // by which session text expires; nil: none does
	// detach starts this program again with args, for good; nil: hooks start nothing.
	detach func(home string, args ...string) error
}

// fixed is the policy of the machine, nil if there is none.
func (m machine) fixed() (*policy.Policy, error) {
	if m.policy == nil {
		return nil, nil
	}
	return m.policy()
}

// allows refuses a command that is not the typist's to give, or that the policy of the
// machine does not allow, and lowers the caps that were left open to the policy's. A
// command that only looks, or only protects, needs no policy.
func (m machine) allows(c *cobra.Command, access datadir.Access) error {
	path := help.PathOf(c)
	if err := guard.Command(m.typist, path, c.Flags()); err != nil || access == datadir.Looks {
		return err
	}
	p, err := m.fixed()
	if err != nil && guard.Protects(path) {
		return nil
	}
	if p == nil {
		return err
	}
	if path == "sleep run" || path == "sleep install" {
		if err := p.Night(); err != nil {
			return err
		}
	}
	return guard.Caps(p, c.Flags())
}

// mayTarget refuses a target that the policy of the machine does not name.
func mayTarget(a *global) func(t skill.Target) error {
	return func(t skill.Target) error {
		p, err := a.machine.fixed()
		if err != nil || p == nil || p.Targets == nil {
			return err
		}
		allowed := func(name string) bool {
			at, err := a.layout().Target(name)
			return err == nil && skill.Within(t.Dir, []string{at.Dir})
		}
		if slices.ContainsFunc(*p.Targets, allowed) {
			return nil
		}
		return policy.Refuse("it names no target %s", t.Name)
	}
}
