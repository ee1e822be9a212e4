package backend

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

func TestSpending(t *testing.T) {
	for args, ok := range map[string]bool{"": true, "--max-cost-usd 0.5 --max-tokens 9 --max-duration 3s --timeout 2s -y --dry-run --confirm-over-usd 1": true,
		"--max-cost-usd -1": false, "--max-cost-usd NaN": false, "--max-tokens -1": false, "--max-duration -1s": false} {
		var s Spending
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		s.Register(f, "print the forecast")
		if err := f.Parse(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		if err := s.Check(); (err == nil) != ok {
			t.Errorf("%q: %v", args, err)
		}
		if len(args) > 60 && (s.Caps.CostUSD != 0.5 || s.Caps.Tokens != 9 || s.Caps.Duration != 3*time.Second || s.WallClock != 2*time.Second || !s.Yes || !s.DryRun || s.Over != 1) {
			t.Errorf("%+v", s)
		}
		if args == "" && (s.WallClock != 5*time.Minute || s.Over >= 0 || s.Yes) {
			t.Errorf("by default %+v", s)
		}
	}
}
