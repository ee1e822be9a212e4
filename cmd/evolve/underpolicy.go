package main

import (
	"slices"
	"strconv"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/help"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/store/datadir/policy"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// underPolicy refuses what the policy of the machine does not allow, and lowers the caps
// that were left open to its own. A command that only looks needs no policy.
func underPolicy(a *global, c *cobra.Command) error {
	if a.access == datadir.Looks {
		return nil
	}
	p, err := a.machine.fixed()
	if p == nil {
		return err
	}
	if path := help.PathOf(c); path == "sleep run" || path == "sleep install" {
		if err := p.Night(); err != nil {
			return err
		}
	}
	return capFlags(p, c.Flags())
}

// capFlags holds the caps among flags to those of a policy.
func capFlags(p *policy.Policy, flags *pflag.FlagSet) (err error) {
	if p == nil {
		return nil
	}
	hold := func(name string, lower func(f *pflag.Flag) (string, error)) {
		f := flags.Lookup(name)
		if f == nil || err != nil {
			return
		}
		var v string
		if v, err = lower(f); err != nil && !f.Changed {
			err = nil // a default is lowered
		}
		if err == nil {
			err = f.Value.Set(v)
		}
	}
	whole := func(limit int64) func(f *pflag.Flag) (string, error) {
		return func(f *pflag.Flag) (string, error) {
			n, err := strconv.ParseInt(f.Value.String(), 10, 64)
			if err == nil {
				n, err = policy.Cap(f.Name, n, limit)
			}
			return strconv.FormatInt(n, 10), err
		}
	}
	hold("max-rollouts", whole(p.Caps.Rollouts))
	hold("max-tokens", whole(p.Caps.Tokens))
	hold("max-cost-usd", func(f *pflag.Flag) (string, error) {
		x, err := strconv.ParseFloat(f.Value.String(), 64)
		if err == nil {
			x, err = policy.Cap(f.Name, x, p.Caps.CostUSD)
		}
		return strconv.FormatFloat(x, 'g', -1, 64), err
	})
	hold("max-duration", func(f *pflag.Flag) (string, error) {
		d, err := time.ParseDuration(f.Value.String())
		if err == nil {
			d, err = policy.Cap(f.Name, d, p.Caps.Duration)
		}
		return d.String(), err
	})
	return err
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
