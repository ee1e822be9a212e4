// Package usedtime writes down how long a run has worked, while it works.
package usedtime

import (
	"context"
	"sync"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

// A Keeper writes down a run's used time as it goes, because a killed
// process reports nothing. Time is measured as in the budget: a machine that
// sleeps uses none.
type Keeper struct {
	Used func() time.Duration
	Save func(context.Context, time.Duration) error

	mu   sync.Mutex
	kept time.Duration

	stop func()
}

// How much of its time a killed run may lose: while it records something, and
// while it waits for one long call.
const (
	BetweenRecords = 100 * time.Millisecond
	betweenTicks   = 10 * time.Second
)

// Start records the used time until it is ended.
func (k *Keeper) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(betweenTicks)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				// A store that cannot be written fails the next record, which reports it.
				_ = eval.Shielded(func() error { return k.Keep(ctx, betweenTicks/2) })
			}
		}
	}()
	k.stop = func() { cancel(); <-ended }
}

// Keep writes the time if that much has passed since the last write.
func (k *Keeper) Keep(ctx context.Context, step time.Duration) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	used := k.Used()
	if used-k.kept < step {
		return nil
	}
	if err := k.Save(ctx, used); err != nil {
		return err
	}
	k.kept = used
	return nil
}

// End writes the time for the last time.
func (k *Keeper) End() {
	k.stop()
	_ = k.Keep(context.Background(), 1) // the run's own record has it, if there is one
}
