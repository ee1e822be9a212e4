package guard

import (
	"strconv"
	"time"

	"github.com/skill-evolve/evolve/store/datadir/policy"
	"github.com/spf13/pflag"
)

// Caps holds the caps among flags to those of a policy.
func Caps(p *policy.Policy, flags *pflag.FlagSet) (err error) {
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
