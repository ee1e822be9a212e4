package claude

import (
	"sync/atomic"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

// A window keeps that the window of a plan is used as far as Config.Window allows.
type window struct{ used atomic.Pointer[rateLimit] }

// heed takes a warning of the program's, nil for none, under a cap, nil for none.
func (w *window) heed(warned *rateLimit, most *float64) {
	if warned != nil && most != nil && warned.Utilization >= *most {
		w.used.Store(warned)
	}
}

// full is the error of who asks for more before the window resets, else nil.
func (w *window) full(now time.Time) error {
	l := w.used.Load()
	if l == nil {
		return nil
	}
	resets := time.Unix(l.ResetsAt, 0)
	if l.ResetsAt > 0 && !now.Before(resets) {
		return nil
	}
	e := eval.Infraf(eval.UsageLimit, "the window of the plan is used to %.0f %%, and the rest is left to its owner (night_max_window)", 100*l.Utilization)
	if l.ResetsAt > 0 {
		e.ResetAt = resets
	}
	return e
}
