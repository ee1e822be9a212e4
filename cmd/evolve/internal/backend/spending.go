package backend

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/tournament/caps"
)

// A Spending is the flags of a command that asks a model about what is stored: who is asked,
// and what that may cost.
type Spending struct {
	Who       Flags
	Caps      eval.Caps
	Flags     *pflag.FlagSet // where these were typed
	Purse     *caps.Purse    // what all parts of the command may cost, once it is known
	WallClock time.Duration  // of one call
	Over      float64        // see Config.ConfirmOver
	DryRun    bool
	Yes       bool
}

// Register adds the flags to f; dryRun is the help of --dry-run.
func (s *Spending) Register(f *pflag.FlagSet, dryRun string) {
	s.Flags = f
	s.Who.Register(f)
	CapFlags(f, &s.Caps.CostUSD, &s.Caps.Tokens, false)
	f.DurationVar(&s.Caps.Duration, "max-duration", 0, "time at most, for example 10m")
	f.DurationVar(&s.WallClock, "timeout", 5*time.Minute, "wall clock of one call")
	f.BoolVar(&s.DryRun, "dry-run", false, dryRun)
	f.BoolVarP(&s.Yes, "yes", "y", false, "do not ask")
	ConfirmOverFlag(f, &s.Over)
}

// Check refuses what cannot be meant.
func (s *Spending) Check() error {
	if !eval.IsAmount(s.Caps.CostUSD) || s.Caps.Tokens < 0 || s.Caps.Duration < 0 {
		return problem.Inputf("0 means no cap", "a cap cannot be negative")
	}
	return nil
}
