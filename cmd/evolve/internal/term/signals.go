package term

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// ending are the signals that ask the program to end: Ctrl-C, kill, and a
// terminal that was closed.
var ending = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

const (
	// stopSoon is how long stopping may take before a message reports it.
	stopSoon = 300 * time.Millisecond
	// clearSoon is how long the terminal may take to be cleared when the
	// program is ended at once.
	clearSoon = 200 * time.Millisecond
)

// UntilSignal returns a context that the first signal ends: the command then stops
// in order, everything saved. The second one ends the process at once. Signals
// that the program was started to ignore (nohup, a script's background) stay
// ignored. stop must be called. atOnce ends the process.
func (t *Terminal) UntilSignal(ctx context.Context, atOnce func()) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	interrupted, done := make(chan struct{}), make(chan struct{})
	t.Interrupted = interrupted
	ch := make(chan os.Signal, 2)
	for _, s := range ending {
		if !signal.Ignored(s) {
			signal.Notify(ch, s)
		}
	}
	go func() {
		select {
		case <-done:
			return
		case <-ch:
		}
		close(interrupted)
		cancel()
		slow := time.NewTimer(stopSoon)
		defer slow.Stop()
		for {
			select {
			case <-done:
				return
			case <-slow.C:
				t.Tell("stopping, and saving what was measured; once more stops at once")
			case <-ch:
				atOnce()
			}
		}
	}()
	return ctx, func() {
		signal.Stop(ch)
		close(done)
		cancel()
	}
}

// Clear removes a view from the terminal, if that is possible in time.
func (t *Terminal) Clear() {
	if c, ok := t.Stderr.(*console); ok {
		cleared := make(chan struct{})
		go func() {
			c.draw(nil)
			close(cleared)
		}()
		select {
		case <-cleared:
		case <-time.After(clearSoon): // the terminal does not read
		}
	}
}
